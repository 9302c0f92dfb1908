"""Numbers that people read are formatted by one module: no other module has a format for floats."""

from __future__ import annotations

import ast
import re
from dataclasses import replace
from pathlib import Path

import pytest
from site_tools import make_records

import scorereport
from scorereport.report.tables.history_tables import number_table, record_drift_table

PACKAGE = Path(scorereport.__file__).parent
HOME = "_utils/formatting.py"
#: Modules and folders that format floats themselves, and why.
EXCEPTIONS = {
    "audit/site/site_data.py": "rounds numbers of a document for programs",
    "plots/canvas.py": "shortens coordinates of a drawing",
    "plots/geometry.py": "looks at the digits of a width",
    "report/section_parts.py": "gives the size of a figure to a template",
    "report/tables/column_widths.py": "gives the width of a column to a style sheet",
    "report/svg_geometry.py": "shortens coordinates of a drawing",
    "study/papers": "states numbers with as many digits as the papers print",
}
FLOAT = re.compile(r"[^%]*[eEfFgGn%]")
OLD_FLOAT = re.compile(r"%[-+ #0]*[\d*]*(\.[\d*]+)?[eEfFgG]")
#: What a module with such a format contains; the others need not be parsed.
LIKELY = re.compile(r":[^\s\"']*[eEfFgGn%]\}|\{round\(|%\S*[eEfFgG]|\bformat\(")
NEW_FLOAT = re.compile(r"\{[^{}]*:[^{}%]*[eEfFgGn%]\}")


def is_rounding(node):
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "round"


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def write_spec(parts):
    return "".join(part.value if is_text(part) else "1" for part in parts)


def formats_float(node):
    """Whether a node of the syntax tree turns a float into text by a format of its own."""
    if isinstance(node, ast.FormattedValue):
        spec = "" if node.format_spec is None else write_spec(node.format_spec.values)
        return bool(FLOAT.fullmatch(spec)) or (is_rounding(node.value) and len(node.value.args) > 1)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and is_text(node.left):
        return bool(OLD_FLOAT.search(node.left.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return is_text(node.func.value) and bool(NEW_FLOAT.search(node.func.value.value))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "format":
        return len(node.args) > 1 and is_text(node.args[1]) and bool(FLOAT.fullmatch(node.args[1].value))
    return False


def has_formats(text):
    return bool(LIKELY.search(text)) and any(map(formats_float, ast.walk(ast.parse(text))))


def test_one_module_formats_numbers():
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if has_formats(path.read_text(encoding="utf-8"))
    }
    assert HOME in found
    used = {next((place for place in EXCEPTIONS if name.startswith(place)), name) for name in found - {HOME}}
    assert used == set(EXCEPTIONS), "use scorereport._utils.formatting"


FOUND = (
    "f'{x:.3f}'",
    "f'{x:g}'",
    "f'{x:,.{n}f}'",
    "f'{x:.1%}'",
    "f'{round(x, 3)}'",
    "'%.2f' % x",
    "'{:.2g}'.format(x)",
    "format(x, '.4e')",
)
OTHERS = (
    "f'{x}'",
    "f'{n:,}'",
    "f'{x:>10}'",
    "f'{t:%Y-%m-%d %f}'",
    "f'{n:04x}'",
    "f'{round(x)}'",
    "'%d' % n",
    "x % 2",
    "'{}-W{:02}'.format(a, b)",
    "round(x, 3)",
    "format(name)",
)


@pytest.mark.parametrize("text", FOUND)
def test_every_way_of_formatting_floats_is_found(text):
    assert has_formats(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_formats_are_not_found(text):
    assert not has_formats(text)


def test_numbers_of_a_measure_have_one_format_in_a_record():
    record = make_records(2, 2, step=30)[-1]
    first, *_ = record.drifts
    drifts = (
        replace(first, measure="brier_miscalibration", label="MCB", value=0.00831284, reference=0.0003571),
        replace(first, measure="forecasts", label="forecasts", value=0.0831284, reference=0.2),
    )
    compared = record_drift_table(replace(record, drifts=drifts))
    assert [row[2:4] for row in compared.rows] == [("0.00831", "0.00036"), ("8.3 %", "20.0 %")]
    rows = {(row[1], row[0]): row[2:] for row in number_table(record).rows}
    assert {len(row[0]) for (label, _), row in rows.items() if label == "Brier score"} == {len("0.1234")}
    value, interval, raw = rows["prevalence", "all"]
    assert re.fullmatch(r"\d\d\.\d %", value)
    assert raw == ""
    assert re.fullmatch(r"\[\d\d\.\d, \d\d\.\d\] %", interval)
