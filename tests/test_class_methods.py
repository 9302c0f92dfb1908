"""The methods of a report on K classes: those used are listed, and formulas give the engine's numbers."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.evaluation.class_measures import list_class_measures
from scorereport.plots.fonts import covers
from scorereport.report.findings import list_report_findings
from scorereport.report.methods.class_formulas import CLASS_CATALOGUE, CLASS_SYMBOLS
from scorereport.report.methods.formula_catalogue import BINARY_CATALOGUE
from scorereport.report.methods.sample_precision import describe_size, precision_table
from scorereport.report.provenance import Provenance
from scorereport.report.report_record import build_report
from scorereport.report.sections.methods_section import describe_methods_section
from scorereport.scores import get_score

K = 3
CLASSES = ["a", "b", "c"]


def make_frame(n=240, seed=8):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.ones(K), n)
    y = (rng.random(n)[:, None] >= np.cumsum(p, axis=1)[:, :-1]).sum(axis=1)
    bold = p**3 / (p**3).sum(axis=1, keepdims=True)
    frame = pd.DataFrame({"y": np.array(CLASSES)[y], "site": rng.choice(["n", "s"], n)})
    frame[[f"m_{c}" for c in CLASSES]] = p
    frame[[f"bold_{c}" for c in CLASSES]] = bold
    return frame


def report_of(*, configuration="", **options):
    settings = {
        "outcome": "y",
        "forecasts": ["m", "bold"],
        "classes": CLASSES,
        "ordered": True,
        "resamples": 40,
    }
    evaluation = sr.evaluate(make_frame(), **(settings | options))
    parsed = parse_configuration(configuration)
    return build_report(evaluation, Provenance(time="2026-11-15T07:30:12+00:00"), configuration=parsed)


@pytest.fixture(scope="module")
def ordinal():
    return report_of(groups="site", scale=True)


@pytest.fixture(scope="module")
def plain():
    return report_of(ordered=False, resamples=0, forecasts=["m"], scale=True)


def names_of(report):
    families = describe_methods_section(report).content["families"]
    return [method["name"] for family in families for method in family["methods"]]


def test_each_score_is_explained_once_in_the_order_of_tables(ordinal, plain):
    for report, ordered in ((ordinal, True), (plain, False)):
        labels = [get_score(name).label for name in list_class_measures(ordered=ordered)]
        assert names_of(report)[: len(labels)] == labels


def test_only_what_was_used_is_listed(ordinal, plain):
    listed = set(names_of(ordinal))
    others = {"checkpoints", "missing classes"}
    assert listed >= {CLASS_CATALOGUE[key].name for key in CLASS_CATALOGUE if key not in others}
    assert not listed & {CLASS_CATALOGUE[key].name for key in others}
    assert {"Difference of scores", "Difference of MCB or DSC", "Ranks", "Cochran’s Q"} <= listed
    of_events = {BINARY_CATALOGUE[key].name for key in ("roc", "regret", "net benefit", "line", "murphy")}
    assert not of_events & listed
    drawn = {
        "Test that MCB is 0",
        "Corrected MCB and corrected DSC, with intervals",
        "BCa bootstrap",
        "Ranks",
    }
    assert not drawn & set(names_of(plain))
    assert {"Skill", "Retention curves", "Probability scale"} <= set(names_of(plain))


def test_intervals_and_angle_are_listed_with_what_they_are_of(ordinal, plain):
    of_scale = {CLASS_CATALOGUE[key].name for key in ("scale", "scale interval", "source interval", "angle")}
    of_retention = CLASS_CATALOGUE["retention interval"].name
    assert of_scale | {of_retention} <= set(names_of(ordinal))
    listed = set(names_of(plain)) & (of_scale | {of_retention})
    assert listed == {"Probability scale", "Angle of the probability scale"}
    for options in ({"configuration": '[report]\nomit = ["scale", "retention"]', "scale": True}, {}):
        short = set(names_of(report_of(forecasts=["m"], resamples=20, **options)))
        assert not short & of_scale
        assert ("Retention curves" in short) == (not options)


def test_symbols_and_conventions_are_those_of_classes(ordinal):
    content = describe_methods_section(ordinal).content
    assert [fact["label"] for fact in content["symbols"]][: len(CLASS_SYMBOLS)] == list(CLASS_SYMBOLS)
    assert any("likeliest class" in sentence for sentence in content["conventions"])
    assert not any("threshold" in sentence for sentence in content["conventions"])


CLASS_SCORES = list_class_measures(ordered=True)


def test_every_text_can_be_printed():
    texts = [text for formula in CLASS_CATALOGUE.values() for text in astuple(formula)]
    texts += [
        *CLASS_SYMBOLS,
        *CLASS_SYMBOLS.values(),
        *(text for name in CLASS_SCORES for text in (get_score(name).formula, get_score(name).convention)),
    ]
    assert all(covers(character) for character in set("".join(texts)) - {" "})
    assert all("--" not in text and " - " not in text for text in texts)


def plain_score(name, p, y):
    """The scores computed literally by the formulas of the report."""
    d = min(k for k in range(K) if p[k] == max(p))
    below = [sum(p[: k + 1]) for k in range(K - 1)]
    observed = [1 if y <= k else 0 for k in range(K - 1)]
    brier = sum((p[k] - (y == k)) ** 2 for k in range(K))
    return {
        "multiclass_brier": brier,
        "multiclass_log_loss": -np.log(p[y]),
        "rps": sum((P - Y) ** 2 for P, Y in zip(below, observed, strict=True)) / (K - 1),
        "sa_rps": (sum(abs(P - Y) for P, Y in zip(below, observed, strict=True)) / (K - 1)) ** 2,
        "multiclass_spherical": 1 - p[y] / np.sqrt(sum(q**2 for q in p)),
        "penalized_brier": brier + (K - 1) / K * (d != y),
        "penalized_log_loss": -np.log(p[y]) + np.log(K) * (d != y),
        "accuracy": float(d == y),
        "expected_cost": ((y - d) / (K - 1)) ** 2,
    }[name]


@pytest.mark.parametrize(
    "name", [name for name in CLASS_SCORES if name not in {"macro_f1", "quadratic_weighted_kappa"}]
)
def test_formulas_of_means_give_the_numbers_of_the_engine(ordinal, name):
    frame = make_frame()
    p = frame[[f"m_{c}" for c in CLASSES]].to_numpy()
    values = [plain_score(name, row, CLASSES.index(y)) for row, y in zip(p.tolist(), frame["y"], strict=True)]
    assert ordinal.evaluation.scores.loc["m", name] == pytest.approx(np.mean(values), abs=1e-12)


def test_formulas_of_kappa_and_f1_give_the_numbers_of_the_engine(ordinal):
    frame = make_frame()
    d = frame[[f"m_{c}" for c in CLASSES]].to_numpy().argmax(axis=1).tolist()
    y = [CLASSES.index(label) for label in frame["y"]]
    pairs = list(zip(y, d, strict=True))
    observed = [[pairs.count((i, j)) for j in range(K)] for i in range(K)]
    rows, columns = [sum(row) for row in observed], [sum(column) for column in zip(*observed, strict=True)]
    cells = [(i, j) for i in range(K) for j in range(K)]
    seen = sum((i - j) ** 2 * observed[i][j] for i, j in cells)
    expected = sum((i - j) ** 2 * rows[i] * columns[j] / len(y) for i, j in cells)
    f1 = [2 * observed[k][k] / (rows[k] + columns[k]) for k in range(K)]  # TP + FN, TP + FP
    scores = ordinal.evaluation.scores.loc["m"]
    assert scores["quadratic_weighted_kappa"] == pytest.approx(1 - seen / expected, abs=1e-12)
    assert scores["macro_f1"] == pytest.approx(sum(f1) / K, abs=1e-12)


def test_findings_describe_classes(ordinal, plain):
    texts = [finding.text for finding in list_report_findings(ordinal)]
    assert any("ranked probability score" in text and "class frequencies" in text for text in texts)
    assert any(text.startswith("Share of cases in which the predicted class is right: m ") for text in texts)
    assert any("bold is miscalibrated" in text and "up to " in text for text in texts)
    assert not any("event" in text for text in texts)
    assert any("Brier score (K classes)" in finding.text for finding in list_report_findings(plain))


def test_precision_and_size_are_described_by_class(ordinal):
    table = precision_table(ordinal.evaluation)
    assert table.heads == ("model", "Ranked probability score ±", "Log score (K classes) ±", "Accuracy ±")
    counts = make_frame()["y"].value_counts()
    rarest = counts.idxmin()
    first, rule = describe_size(ordinal.evaluation)[:2]
    assert first == f"The sample has 3 classes; the rarest, {rarest}, has {counts.min()} cases."
    assert ("there are too few cases of" in rule) == (counts.min() < 100)


def test_limits_are_judged_on_classes():
    report = report_of(configuration="[limits]\nrps = 0.9\naccuracy = 0.99\nrps_miscalibration = 0.5")
    verdicts = {(j.model, j.measure): str(j.verdict) for j in report.judgements}
    assert verdicts["m", "rps"] == "pass"
    assert verdicts["m", "accuracy"] == "fail"
    assert verdicts["bold", "rps_miscalibration"] == "pass"
