"""Rooms exchange typed records: no dictionary of anything passes between them, and none fills a record."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest
from test_layers import MODULES

SCORE_OPTIONS = "options of a score go to its function, which may be a user's own"
#: Functions and classes that other rooms can reach and that have a dictionary of anything, and why.
LOOSE = {
    "report.templates.open_templates": "the template decides which values its context has",
    "history.chain_check.ChainLink": "a stored row, which may be damaged",
    "channels.channel.STRICT": "keywords of pydantic",
    "plots.canvas.Canvas": "keywords of matplotlib",
    "plots.draw_kind": "keywords of a plot and of matplotlib",
    "plots.displays.CurveDisplay": "keywords of a plot and of matplotlib",
    "results.evaluation.Evaluation": "keywords of a plot and of matplotlib",
    "_utils.registration.call_registered": "arguments of the registered function",
    "configuration.toml_reader.parse_toml": "a TOML file as it was read; checks follow",
    "scores.registry.Score": SCORE_OPTIONS,
    "scores.skills.skill": SCORE_OPTIONS,
    "reliability.decomposition.resolve_score": SCORE_OPTIONS,
    "reliability.fit.Corp": SCORE_OPTIONS,
    "inference.component_tests.miscalibration_test": SCORE_OPTIONS,
    "inference.losses.Measure": SCORE_OPTIONS,
    "inference.losses.resolve_measure": SCORE_OPTIONS,
    "_utils.declarations.check_arguments": "values by their rules; callers give them their TypedDict",
    "configuration.configuration_tables.Tables": "[evaluation] as it was read; its own reader checks it",
}
#: Rooms whose records are filled by name or from a `TypedDict`, and the exceptions, with reasons.
FILLED = (
    *("data", "scores", "reliability", "curves", "inference", "results", "evaluation"),
    *("reference", "history", "report"),
)
SPLATTED = {
    ("curves.decision", "ThresholdResult"): "columns of numbers become rows",
    ("data.reader", "Predictions"): "columns as they were read; the record checks them",
    ("data.reader", "ClassPredictions"): "columns as they were read; the record checks them",
    ("evaluation.arguments", "EvaluationSettings"): "checked by the declarations of the same names",
    ("evaluation.engines.digest", "Knots"): "the same operation on each of its arrays",
    ("history.record_rows", "RecordSummary"): "a row of the database, with a column for each field",
}


@cache
def texts():
    return {name: path.read_text(encoding="utf-8") for name, path in MODULES.items()}


def room_of(module):
    return module.partition(".")[0]


# ---- Dictionaries of anything ----


def is_loose(node):
    """Whether a type is a dictionary, or a mapping, of anything."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
        return False
    name, values = ast.unparse(node.value).rpartition(".")[2], ast.unparse(node.slice.elts[-1])
    return name in ("dict", "Mapping", "MutableMapping") and values == "Any"


def name_of(node):
    return ast.unparse(node.target) if isinstance(node, ast.AnnAssign) else getattr(node, "name", "_")


def is_examined(node):
    """Whether a name is public; JSON Schemas are left out, because they are JSON."""
    return not name_of(node).startswith("_") and not name_of(node).endswith("schema")


def has_loose_type(node):
    """Whether a function, a field or public method of a class, or a variable has such a type."""
    if isinstance(node, ast.ClassDef):
        return any(has_loose_type(part) for part in node.body if is_examined(part))
    if isinstance(node, ast.AnnAssign):
        return any(map(is_loose, ast.walk(node.annotation)))
    if not isinstance(node, ast.FunctionDef):
        return False
    others = node.args.kwarg
    arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    types = [node.returns, *(each.annotation for each in arguments)]
    return (others is not None and ast.unparse(others.annotation) == "Any") or any(
        is_loose(part) for each in types if each is not None for part in ast.walk(each)
    )


def list_loose():
    """All public definitions at the top of a module that have such a type, with their modules."""
    for module, text in texts().items():
        if re.search(r"(?:dict|Mapping)\[.*Any\]|\*\*\w+: Any", text):
            for node in ast.parse(text).body:
                if is_examined(node) and has_loose_type(node):
                    yield module, name_of(node), isinstance(node, ast.ClassDef)


@cache
def imported_names():
    """For each module or folder, the names that are imported from it, with the rooms that import them."""
    found = {}
    for module, text in texts().items():
        for home, names in re.findall(r"^ *from scorereport\.([\w.]+) import (\([^)]*\)|.*)", text, re.M):
            rooms = ((name, room_of(module)) for name in re.findall(r"\w+", names))
            found.setdefault(home, set()).update(rooms)
    return found


def names_for_others(home, room):
    """The names that other rooms import from a module or folder."""
    return {name for name, importer in imported_names().get(home, ()) if importer != room}


def is_reached(module, name, *, is_class):
    """Whether another room imports the name; of a class, whether it imports anything beside it."""
    parts, room = module.split("."), room_of(module)
    homes = (".".join(parts[:size]) for size in range(1, len(parts) + 1))
    names = set().union(*(names_for_others(home, room) for home in homes))
    return bool(names & {name, parts[-1]}) or (is_class and bool(names_for_others(module, room)))


def test_no_dictionary_of_anything_passes_between_rooms():
    found = {
        f"{module}.{name}"
        for module, name, is_class in list_loose()
        if is_reached(module, name, is_class=is_class)
    }
    assert found == set(LOOSE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("def f() -> dict[str, Any]: ...", True),
        ("def f(a: Sequence[Mapping[str, Any]]): ...", True),
        ("def f(**options: Any): ...", True),
        ("def f(**options: float) -> dict[str, float]: ...", False),
        ("class A:\n    a: dict[str, Any] | None", True),
        ("class A:\n    def f(self) -> dict[str, Any]: ...", True),
        ("class A:\n    def _f(self) -> dict[str, Any]: ...", False),
        ("class A:\n    def f(self, **options: Any): ...", True),
        ("class A:\n    def json_schema(self) -> dict[str, Any]: ...", False),
        ("A: dict[str, Any] = {}", True),
    ],
)
def test_every_place_of_a_dictionary_of_anything_is_found(text, expected):
    (node,) = ast.parse(text).body
    assert has_loose_type(node) is expected


# ---- Records that are filled from dictionaries ----


def list_splats(tree):
    """The classes that are called with `**`, and `replace`, with what is splatted."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            if name[0].isupper() or name == "replace":
                yield from ((name, keyword.value) for keyword in node.keywords if keyword.arg is None)


def is_typed(value, text):
    """Whether what is splatted is a variable, or the result of a function, whose type is a `TypedDict`."""
    if isinstance(value, ast.Call):
        name = re.escape(ast.unparse(value.func))
        signature = rf"^def {name}\((?:[^)]|\)(?! ->))*\) -> (\w+):"
        known = [found for each in texts().values() for found in re.findall(signature, each, re.M)]
    else:
        known = re.findall(rf"^ +{re.escape(ast.unparse(value))}: (\w+) = ", text, re.M)
    return bool(known) and set(known) <= typed_dictionaries()


@cache
def typed_dictionaries():
    return {name for text in texts().values() for name in re.findall(r"^class (\w+)\(TypedDict", text, re.M)}


def test_records_are_filled_by_name():
    found = {
        (module, name)
        for module, text in texts().items()
        if room_of(module) in FILLED and re.search(r"[(,]\s*\*\*(?!\w+: )", text)
        for name, value in list_splats(ast.parse(text))
        if not is_typed(value, text)
    }
    assert found == set(SPLATTED)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Evaluation(settings=s, **parts)", ["Evaluation"]),
        ("replace(record, **found)", ["replace"]),
        ("records.Evaluation(**describe(parts))", ["Evaluation"]),
        ("evaluate(data, **columns)", []),
        ("Evaluation(settings=s)", []),
    ],
)
def test_every_record_that_is_filled_from_a_dictionary_is_found(text, expected):
    splats = list(list_splats(ast.parse(text)))
    assert [name for name, _ in splats] == expected
    assert not any(is_typed(value, text) for _, value in splats)
