"""A module imports only from layers before its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scorereport

PACKAGE = Path(scorereport.__file__).parent

#: Each line may import from the lines above it, and modules of a folder from that folder.
LAYERS = [
    ["errors", "arrays", "progress"],
    ["checks", "files", "formatting", "parallel", "sampling"],
    ["sources"],
    ["columns"],
    ["predictions"],
    ["scores"],
    ["reliability"],
    ["curves"],
    ["inference"],
    ["results", "document"],
    ["summaries", "frames"],
    ["uncertainty"],
    ["groups"],
    ["notes"],
    ["evaluation"],
    ["tables", "demo"],
    ["terminal"],
    ["cli"],
    ["__main__"],
]
#: The same inside the folders.
INNER_LAYERS = {
    "scores": [
        ["references", "registry", "coupled"],
        ["binary", "ranking", "ordinal"],
        ["bounded", "multiclass", "skills"],
        ["probability"],
    ],
    "reliability": [
        ["ordering", "blocks", "chernoff"],
        ["decomposition", "simulation", "asymptotic", "honest"],
        ["sample", "resampled"],
        ["certainty"],
        ["bands"],
        ["fit"],
    ],
    "curves": [["diagram", "roc", "murphy", "decision", "retention"], ["thinning"]],
    "inference": [
        ["outcomes", "panel", "measures", "logistic"],
        ["mean_errors", "ranks"],
        ["binning", "delong", "grades", "heterogeneity", "overfit", "rates", "regression", "smoothing"],
        ["bootstrapping", "calibration", "components", "differences", "domination"],
        ["contrasts", "miscalibration"],
    ],
}


def imported_modules(path):
    """All modules of this package that a file imports, also inside functions and for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("scorereport."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module == "scorereport":
                yield from (f"scorereport.{name.name}" for name in node.names)
            elif (node.module or "").startswith("scorereport."):
                yield node.module


def rank_of(name, layers):
    return next((rank for rank, names in enumerate(layers) if name in names), None)


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    own, *inner = path.relative_to(PACKAGE).with_suffix("").parts
    assert rank_of(own, LAYERS) is not None, f"{own} has no layer"
    for module in imported_modules(path):
        name, *inner_name = module.split(".")[1:]
        if name in {"__version__"}:
            continue
        if name != own:
            assert rank_of(name, LAYERS) < rank_of(own, LAYERS), f"{path} imports {module}"
        elif inner != ["__init__"]:
            ranks = [rank_of(part, INNER_LAYERS[own]) for part in (inner_name[0], inner[0])]
            assert ranks[0] < ranks[1], f"{path} imports {module}"


def test_every_layer_exists():
    names = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.parent.name for path in PACKAGE.glob("*/*.py")
    }
    assert {name for layer in LAYERS for name in layer} <= names


def test_public_names_are_there_and_none_is_a_module():
    modules = {path.stem for path in PACKAGE.rglob("*.py")} | {path.name for path in PACKAGE.iterdir()}
    for name in scorereport.__all__:
        value = getattr(scorereport, name)
        assert not callable(value) or name not in modules
    assert dir(scorereport) == sorted(scorereport.__all__)
    with pytest.raises(AttributeError, match=r"^module 'scorereport' has no attribute 'certfy'$"):
        _ = scorereport.certfy
