"""A module imports only from layers before its own."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import scorereport

PACKAGE = Path(scorereport.__file__).parent

#: Each line may import from the lines above it, and modules of a folder from that folder.
LAYERS = [
    [
        "errors",
        "notebooks",
        "version",
        "arrays",
        "connections",
        "processes",
        "interrupts",
        "resources",
        "suggestions",
    ],
    ["clusters", "progress", "rounding"],
    [
        "checks",
        "clock",
        "files",
        "fonts",
        "formatting",
        "memory",
        "parallel",
        "redacting",
        "sampling",
        "schedules",
        "temporary",
    ],
    ["addresses", "comparison", "databases", "exits", "periods"],
    ["roles", "sources"],
    ["columns"],
    ["cases"],
    ["predictions"],
    ["reading"],
    ["scores"],
    ["reliability"],
    ["curves"],
    ["inference"],
    ["results", "document", "tallies"],
    ["class_results"],
    ["summaries", "frames"],
    ["selection", "uncertainty"],
    ["groups"],
    ["notes"],
    ["binary_evaluation", "classes", "engines"],
    ["evaluation", "evaluation_rules"],
    ["evaluating"],
    ["reference"],
    ["configuration"],
    ["checklists", "findings", "judging"],
    ["trend"],
    ["history"],
    ["demo", "figures", "ordinal_demo", "tables"],
    ["report"],
    ["study", "site"],
    ["audit"],
    ["serving"],
    ["terminal", "watching"],
    ["options"],
    ["commands"],
    ["cli"],
    ["__main__"],
]
#: The same inside the folders, and inside folders of theirs.
INNER_LAYERS = {
    "scores": [
        ["references", "registry", "coupled", "means"],
        ["binary", "labels", "ordinal", "ranking"],
        ["bounded", "multiclass", "skills"],
        ["probability"],
        ["scale"],
    ],
    "reliability": [
        ["blocks", "chernoff", "drawing", "ordering"],
        ["asymptotic", "decomposition", "honest", "redraws", "weighting"],
        ["simulation"],
        ["resampled", "sample"],
        ["certainty"],
        ["bands"],
        ["fit"],
    ],
    "inference": [
        ["class_draws", "lowess", "measures", "murphy_sentences", "outcomes", "panel", "replicates"],
        ["time_errors"],
        ["mean_errors"],
        [
            "calibration",
            "class_panel",
            "delong",
            "grades",
            "lines",
            "ranks",
            "rare_cases",
            "rates",
            "resampling",
            "scale_draws",
            "scale_results",
        ],
        ["bootstrap_results", "decisions", "distances", "information", "resampled_scores"],
        [
            "binning",
            "fits",
            "folds",
            "logistic",
            "murphy_cells",
            "murphy_costs",
            "murphy_limits",
            "overfit",
            "recalibration_gains",
            "resampled_areas",
            "retaining",
            "scale_groups",
            "scale_intervals",
            "smoothing",
        ],
        ["components"],
        ["differences"],
        [
            "calibration_in_time",
            "flexible",
            "heterogeneity",
            "murphy_bands",
            "recalibration",
            "regression",
            "resampled_lines",
            "scale_overfit",
        ],
        ["few_values"],
        ["bootstrapping", "contrasts", "domination", "miscalibration", "scaling"],
    ],
    "selection": [["tracks"], ["checkpoints", "records"], ["choices"], ["selecting"]],
    "classes": [
        ["measures", "notes"],
        ["resampling", "views"],
        ["calibration"],
        ["assessing"],
        ["comparing"],
        ["evaluating"],
    ],
    "reference": [
        ["certificate", "deviations", "exchange", "installation", "laws", "views"],
        ["session", "worker"],
        ["installing", "questions"],
        ["comparing", "references"],
        ["asking", "banding", "class_scores", "reported"],
        ["class_reported", "recorded"],
        ["certifying"],
    ],
    "configuration": [
        ["measures", "strict"],
        ["audit_tables"],
        ["records"],
        ["messages"],
        ["audit_rules", "class_rules"],
        ["rules"],
        ["reading"],
        ["fitting", "schema"],
    ],
    "judging": [["evidence", "lights"], ["numbers"], ["sentences"]],
    "figures": [
        ["dates", "describing", "paths", "style", "zoom"],
        ["labels", "measures"],
        ["canvas", "placing", "reliability_panel"],
        ["key", "panel_grid", "reliability_guide", "scale_drawing"],
        [
            "checkpoints",
            "components",
            "confusion",
            "decision",
            "distributions",
            "flexible",
            "groups",
            "murphy",
        ],
        ["reliability_diagram", "retention", "roc", "scale", "spectrum", "study", "trend", "views"],
        ["view_components"],
    ],
    "tables": [
        ["table"],
        ["calibrating", "checkpoints", "class_scoring", "classes", "deciding", "decompositions"],
        ["differences", "discriminating", "grouped", "history", "retaining", "sample", "scaling"],
        ["scoring", "sentences", "trend", "viewing"],
        ["overview"],
    ],
    "report": [
        ["cells", "formulas", "harmless", "media", "repository", "shapes", "signing"],
        ["guarding", "miscalibrated", "provenance", "surroundings", "verdicts"],
        ["pdf", "render"],
        ["comparisons", "record", "results"],
        ["parts"],
        ["cards", "conclusions", "context", "methods", "notebook", "precision"],
        ["sections"],
        ["assembly", "choosing"],
        ["writing"],
    ],
    "report/formulas": [
        ["citing", "formula", "symbols", "works"],
        [
            "bands",
            "calibration",
            "classes",
            "comparisons",
            "decisions",
            "engines",
            "groups",
            "intervals",
            "scores",
            "verdicts",
        ],
        ["catalogue"],
    ],
    "report/methods": [["entries"], ["engines"], ["calibrating", "grouping", "inferring", "scoring"]],
    "report/sections": [
        ["calibration", "certificate", "checklist", "checkpoints", "class_calibration", "class_data"],
        ["class_decomposition", "class_discrimination", "class_performance", "closing", "comparison"],
        ["data", "decision", "decomposition", "discrimination", "grouped", "methods", "model"],
        ["performance", "recalibration", "retention", "scale", "summary", "trend"],
    ],
    "trend": [
        ["bins", "records", "sizes", "testing"],
        ["between", "choosing", "sentences", "snapshots"],
        ["drifting"],
    ],
    "history": [
        ["connecting", "findings", "heads", "records", "schema"],
        ["database", "documents", "querying", "retention"],
        ["appending", "checking_chain", "confirming", "preparing"],
        ["checking_anchors", "checking_removals", "store"],
        ["checking_documents", "checking_files", "stored"],
        ["checking_database", "exporting"],
        ["verifying"],
    ],
    "site": [
        ["axes", "facts", "looks", "manifest", "names", "paths"],
        ["runs"],
        ["copying", "series"],
        ["board", "framing", "lanes"],
        ["charts", "data"],
        ["entries"],
        ["pages"],
        ["writing"],
    ],
    "audit": [
        ["channels", "databases", "filing", "planning", "statuses", "timers"],
        ["checks", "locking", "reminders", "rows", "shelves", "telling", "units"],
        ["inspecting"],
        ["copying", "head_checks", "publishing"],
        ["referring"],
        ["gathering"],
        ["making"],
        ["drafting"],
        ["following"],
        ["running"],
    ],
    "audit/checks": [
        ["requests", "sequence"],
        ["agreement", "carried", "statements"],
        ["examining"],
    ],
    "audit/channels": [
        ["limits", "news", "problems", "vault"],
        ["command", "letter", "posting"],
        ["mail", "webhook"],
    ],
    "audit/databases": [
        ["fetching", "queries", "settings", "table_names", "time_limits"],
        ["addresses", "failures", "tables"],
        ["connections"],
        ["database"],
        ["lots"],
    ],
    "audit/rows": [
        ["lots", "reading_rows", "table_files", "times"],
        ["near_files", "window"],
        ["finding_files", "spooling"],
        ["accepting"],
    ],
    "audit/timers": [
        ["days", "fields", "quoting"],
        ["calendars", "cron"],
        ["systemd"],
    ],
    "serving": [
        ["catching_up", "children", "events", "health", "roster"],
        ["alarms", "duties", "notifying", "recalling"],
        ["announcing"],
        ["server"],
        ["starting"],
    ],
    "engines": [
        ["digest", "limits"],
        ["choosing", "jackknife", "records", "views"],
        ["marks", "rows", "scanning", "stretches", "tallies"],
        ["digesting", "notes", "scored"],
        ["rare_cases"],
        ["scoring"],
        ["calibrating", "comparing", "duck", "grouping", "spark"],
        ["evaluating", "opening"],
    ],
    "engines/duck": [
        ["converting", "ranges", "working", "workspace"],
        ["spilling", "tables"],
        ["refusing", "sql"],
        ["checking", "layout"],
        ["coding", "hashing", "scanning", "sorting"],
        ["surveying"],
        ["engine"],
    ],
    "engines/spark": [
        ["cleaning", "parts", "refusing", "session"],
        ["outcomes", "packing", "tables"],
        ["preparing"],
        ["labels", "surveying"],
        ["digests", "summing", "survey"],
        ["engine"],
    ],
    "curves": [
        ["fitted", "retention"],
        ["decision", "diagram", "murphy", "roc", "thresholds"],
        ["thinning"],
    ],
    "commands": [
        ["concluding", "invocation", "output"],
        ["audits", "demonstration", "reports", "software"],
    ],
    "sources": [
        ["column_names", "file_kinds", "sizes"],
        ["csv_files", "places"],
        ["hashing", "parquet_files"],
        ["reading_columns"],
    ],
    "study": [
        ["cases", "demonstrations", "papers", "software"],
        ["defects", "live", "peers", "operation"],
        ["studying"],
    ],
    "study/papers": [
        ["citations", "forecasts", "printed", "quadrature", "r_random"],
        ["counts", "ahmadian_tables", "galdran_scores", "galdran_table", "nelson_figures", "nelson_fits"],
        ["dimitriadis_simulations", "dimitriadis_theorems", "flores_errata_ranking", "flores_theorems"],
        ["nelson_simulations"],
        ["ahmadian", "dimitriadis", "flores", "galdran", "nelson", "nelson_panels"],
        ["ahmadian_errata", "dimitriadis_errata", "galdran_errata", "nelson_errata", "nelson_pictures"],
        ["flores_errata_experiments"],
        ["flores_errata"],
    ],
    "study/peers": [
        ["samples"],
        ["checks"],
        ["forecasts", "scikit_learn", "statistics"],
        ["decomposers"],
        ["packages"],
    ],
}


def imported_modules(path):
    """What a file imports of this package, with the names taken, also inside functions and for types only."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("scorereport."))
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import"
            if node.module.partition(".")[0] == "scorereport":
                yield from (f"{node.module}.{name.name}" for name in node.names)


def rank_of(parts, depth):
    """The layer of a module, or of a folder it lies in, among what lies beside it."""
    folder, name = "/".join(parts[:depth]), parts[depth]
    layers = INNER_LAYERS[folder] if folder else LAYERS
    rank = next((rank for rank, names in enumerate(layers) if name in names), None)
    assert rank is not None, f"{name} has no layer in {folder or 'the package'}"
    return rank


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    own = path.relative_to(PACKAGE).with_suffix("").parts
    own = own[:-1] if own[-1] == "__init__" else own  # a folder, which may import all that it holds
    for depth in range(len(own)):
        rank_of(own, depth)
    for module in imported_modules(path):
        other = tuple(module.split(".")[1:])
        if other == ("__version__",) or other[: len(own)] == own:
            continue
        depth = next(depth for depth, part in enumerate(own) if other[depth : depth + 1] != (part,))
        assert rank_of(other, depth) < rank_of(own, depth), f"{path} imports {module}"


def test_every_layer_exists():
    for folder, layers in {".": LAYERS, **INNER_LAYERS}.items():
        names = {path.stem for path in (PACKAGE / folder).glob("*.py")} | {
            path.parent.name for path in (PACKAGE / folder).glob("*/*.py")
        }
        assert {name for layer in layers for name in layer} <= names


def test_public_names_are_there_and_none_is_a_module():
    modules = {path.stem for path in PACKAGE.rglob("*.py")} | {path.name for path in PACKAGE.iterdir()}
    for name in scorereport.__all__:
        value = getattr(scorereport, name)
        assert not callable(value) or name not in modules
    assert dir(scorereport) == sorted(scorereport.__all__)
    with pytest.raises(AttributeError, match=r"^module 'scorereport' has no attribute 'certfy'$"):
        _ = scorereport.certfy
