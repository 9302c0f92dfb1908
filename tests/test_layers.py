"""Rooms import one way: a module imports only from rooms above its own in the table, without circles."""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

import scorereport

PACKAGE = Path(scorereport.__file__).parent

#: Each room may import from the rooms before it. The same holds for the folders inside a room, where they are
#: listed; a dot stands for the modules that lie beside the folders.
ROOMS = {
    "errors": [],
    "_utils": [],
    "data": [],
    "scores": [],
    "reliability": [],
    "curves": [],
    "inference": [],
    "estimators": [],
    "results": [],
    "evaluation": ["selection"],
    "reference": [],
    "r_package": [],
    "channels": [],
    "configuration": [],
    "history": ["trend", "."],
    "plots": [],
    "report": [],
    "testing": [],
    "pipelines": [],
    "examples": [],
    "study": ["papers"],
    "audit": ["databases", "rows"],
    "cli": [],
    "__init__": [],
    "__main__": [],
}
#: Modules that import names computed at run time, and what these are.
DYNAMIC = {
    "__init__": "public names, which _HOMES lists",
    "channels": "the modules of its own folder",
    "cli.application": "one of the examples",
    "cli.deferred_imports": "compiled modules of SciPy",
    "plots": "the modules of its folder",
    "report.sections": "the modules of its folder",
    "study.installation_checks": "packages of others",
    "study.peers.peer_comparison": "packages of others",
}


def name_module(path):
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {name_module(path): path for path in sorted(PACKAGE.rglob("*.py"))}


def find_module(name):
    """The module or folder of this package that a dotted name refers to, or None."""
    parts = name.split(".")
    if parts[0] != "scorereport":
        return None
    while len(parts) > 1 and ".".join(parts[1:]) not in MODULES:
        parts.pop()
    return ".".join(parts[1:]) or "__init__"


def names_in(node):
    """The dotted names that a node of the syntax tree imports, or contains as text for an importer."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, "relative import"
        return [f"{node.module}.{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.findall(r"^scorereport(?:\.\w+)+", node.value)
    return []


def list_imports(tree):
    """The imports of a module from this package: also inside functions, for types only, and by name."""
    names = [name for node in ast.walk(tree) for name in names_in(node)]
    return {found for name in names if (found := find_module(name)) is not None}


def list_dynamic_imports(tree):
    """Calls of an importer with a name that is not a constant."""
    for node in ast.walk(tree):
        function = (
            getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
        )
        if function in ("import_module", "__import__") and not isinstance(node.args[0], ast.Constant):
            yield node.lineno


@cache
def trees():
    return {name: ast.parse(path.read_text(encoding="utf-8")) for name, path in MODULES.items()}


@cache
def imports():
    return {name: list_imports(tree) - {name} for name, tree in trees().items()}


def rank_in(places, name):
    return next((rank for rank, place in enumerate(places) if place == name), None)


def test_rooms_import_one_way():
    rooms = list(ROOMS)
    for module, imported in imports().items():
        own = rooms.index(module.partition(".")[0])
        for other in imported:
            room = other.partition(".")[0]
            assert rooms.index(room) <= own, f"{module} imports {other}"
            assert room != "__init__" or own >= rooms.index("__init__"), (
                f"{module} imports the package itself"
            )


def folder_of(module):
    """The folder of a module inside its room, or a dot."""
    parts = module.split(".")
    inside = ".".join(parts[:2]) in MODULES and MODULES[".".join(parts[:2])].name == "__init__.py"
    return parts[1] if len(parts) > 1 and inside else "."


def test_folders_inside_rooms_import_one_way():
    for module, imported in imports().items():
        room = module.partition(".")[0]
        for other in imported:
            if other.partition(".")[0] == room:
                own, place = (rank_in(ROOMS[room], folder_of(name)) for name in (module, other))
                assert own is None or (place is not None and place <= own), f"{module} imports {other}"


def test_no_circle_of_modules():
    graph = {
        name: {other for other in imported if not name.startswith(f"{other}.")}
        for name, imported in imports().items()
    }
    circle = []
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1]
    assert circle == []


def test_every_room_is_in_the_table_and_exists():
    assert {name.partition(".")[0] for name in MODULES} == set(ROOMS)
    folders = {path.parent.name for path in PACKAGE.glob("*/*/__init__.py")}
    assert {folder for inner in ROOMS.values() for folder in inner} - {"."} <= folders


def test_only_known_modules_import_computed_names():
    assert {name for name, tree in trees().items() if list(list_dynamic_imports(tree))} == set(DYNAMIC)


def test_public_names_are_listed_where_they_are_defined():
    for name, home in scorereport._HOMES.items():
        assert getattr(scorereport, name).__module__ == f"scorereport.{home}"


ARCHITECTURE = PACKAGE.parent / "docs" / "architecture.md"


def test_the_page_on_the_architecture_names_all_rooms_in_their_order():
    rows = re.findall(r"^\| `(\w+)` \|", ARCHITECTURE.read_text(encoding="utf-8"), flags=re.M)
    assert rows == [room for room in ROOMS if not room.startswith("__")]


def test_modules_and_names_on_that_page_exist():
    text = ARCHITECTURE.read_text(encoding="utf-8")
    rooms = "|".join(room for room in ROOMS if not room.startswith("__"))
    named = re.findall(rf"`((?:{rooms})\.[\w.]+)(?:\([^`]*\))?`", text)
    assert len(named) > 20
    for name in named:
        module = find_module(f"scorereport.{name}")
        rest = name.removeprefix(module).lstrip(".")
        assert module.count(".") >= 1, f"{name} is not a module"
        assert not rest or hasattr(import_module(f"scorereport.{module}"), rest), f"{name} is not there"
    for path in re.findall(rf"`((?:{rooms}|tests|templates)/[\w/.]*)`", text):
        assert (PACKAGE / path).exists() or (PACKAGE.parent / path).exists(), f"{path} is not there"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import scorereport.report.pdf", {"report.pdf"}),
        ("from scorereport.report import pdf", {"report.pdf"}),
        ("def f():\n    from scorereport.report.pdf import render_pdf", {"report.pdf"}),
        ("from scorereport import evaluate", {"__init__"}),
        ("import scorereport", {"__init__"}),
        ("import_module('scorereport.report.pdf')", {"report.pdf"}),
        ("run('-m', 'scorereport.report.pdf')", {"report.pdf"}),
        ("import_module(f'scorereport.report.{name}')", {"report"}),
        ("from importlib import metadata", set()),
    ],
)
def test_every_way_of_importing_is_found(text, expected):
    assert list_imports(ast.parse(text)) == expected


def test_an_import_of_a_computed_name_is_found():
    assert list(list_dynamic_imports(ast.parse("import importlib\nimportlib.import_module(name)"))) == [2]


def list_public_classes():
    for name, tree in trees().items():
        yield from ((node.name, name) for node in tree.body if isinstance(node, ast.ClassDef))


def test_no_two_public_classes_share_a_name():
    homes = {}
    for name, module in list_public_classes():
        if not name.startswith("_"):
            assert homes.setdefault(name, module) == module, (
                f"{name} is defined in {module} and {homes[name]}"
            )


def test_no_two_modules_share_a_name():
    names = [path.stem for path in MODULES.values() if path.stem != "__init__"]
    assert sorted(set(names)) == sorted(names)


def test_modules_stay_short():
    assert {name for name, path in MODULES.items() if len(path.read_text().splitlines()) > 400} == set()


def test_public_names_are_there_and_none_is_a_module():
    modules = {path.stem for path in PACKAGE.rglob("*.py")} | {path.name for path in PACKAGE.iterdir()}
    for name in scorereport.__all__:
        value = getattr(scorereport, name)
        assert not callable(value) or name not in modules
    assert dir(scorereport) == sorted(scorereport.__all__)
    with pytest.raises(AttributeError, match=r"^module 'scorereport' has no attribute 'certfy'$"):
        _ = scorereport.certfy
