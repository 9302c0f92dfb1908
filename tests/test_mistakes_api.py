"""Usual mistakes in calls, settings, configurations and commands: each gets a sentence on what to do."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.configuration import parse_configuration
from scorereport.configuration.configuration_source import as_configuration
from scorereport.configuration.periods import check_window_text, read_as_of
from scorereport.errors import ExitCode

Y = np.array([0, 1, 0, 1, 1, 0])
P = np.array([0.1, 0.6, 0.4, 0.8, 0.7, 0.3])
BOTH = np.column_stack([1 - P, P])
FRAME = pd.DataFrame({"y": Y, "logit": P, "boost": P**2, "region": list("aabbab")})
FIT = sr.corp(Y, P)
OF_MEANS = sr.corp(Y, P, functional="mean")
EPOCHS = pd.DataFrame({"checkpoint": [1, 2], "brier": [0.2, 0.1]})
SCORES = ", ".join(sorted(sr.scores.REGISTRY))
PERIODS = (
    "A period must be one of `last N hours`, `last N days`, `last N weeks`, `last N months`, "
    "`previous calendar hour`, `previous calendar day`, "
    "`previous calendar week`, `previous calendar month`, `previous calendar quarter`, `previous calendar "
    "year` or `all`, where N is a whole number from 1; got"
)


def evaluate(**changed):
    return sr.evaluate(FRAME, **({"outcome": "y", "forecasts": ["logit"], "resamples": 0} | changed))


EVALUATION = evaluate()


def report(path="report.json", **changed):
    return sr.write_report(EVALUATION, path, **changed)


def configure(table, **keys):
    return as_configuration({table: keys})


def retain(**changed):
    return sr.curves.retention_curve(Y, BOTH, **changed)


def select(**changed):
    return sr.select(EPOCHS, **({"score": "brier"} | changed))


#: Names of scores, and their options.
OF_SCORES = {
    "arrays in place of a fit": (
        lambda: sr.inference.miscalibration_test(Y, P),
        "`fit` must be a fit of `corp`; got ndarray. To fix: miscalibration_test(sr.corp(y_true, y_prob)).",
    ),
    "misspelt score": (
        lambda: sr.skill(Y, P, "breir"),
        "`score` 'breir' is not known; did you mean `brier`?",
    ),
    "misspelt score, old form": (
        lambda: sr.skill("breir", Y, P),
        "`score` 'breir' is not known; did you mean `brier`?",
    ),
    "name of scikit-learn": (
        lambda: FIT.decompose("brier_score_loss"),
        "`score` 'brier_score_loss' is not known; did you mean `brier`?",
    ),
    "name with neg": (
        lambda: sr.skill(Y, P, "neg_log_loss"),
        "`score` 'neg_log_loss' is not known; did you mean `log_loss`?",
    ),
    "another name of the AUC": (
        lambda: sr.scores.get_score("c-statistic"),
        "`score` 'c-statistic' is not known; did you mean `roc_auc`?",
    ),
    "score of other forecasts": (
        lambda: sr.scores.get_score("crps"),
        f"`score` 'crps' is not known; choose one of {SCORES}.",
    ),
    "opposite": (
        lambda: sr.scores.get_score("accuracy_loss"),
        f"`score` 'accuracy_loss' is not known; choose one of {SCORES}.",
    ),
    "function": (
        lambda: sr.skill(Y, P, sr.scores.brier),
        '`score` must be the name of a score, such as "brier"; got the function brier.',
    ),
    "number": (lambda: sr.skill(Y, P, 2), '`score` must be the name of a score, such as "brier"; got 2.'),
    "skill of classes": (
        lambda: sr.skill(Y, P, "rps"),
        "`score` must be a score of binary forecasts or \"roc_auc\"; 'rps' scores probabilities of ordered "
        "classes.",
    ),
    "decomposition of the AUC": (
        lambda: FIT.decompose("roc_auc"),
        "`score` must be a score of binary forecasts; 'roc_auc' scores ranking of cases.",
    ),
    "option of another score": (lambda: sr.skill(Y, P, lower=0.1), "`brier` takes no option `lower`."),
    "misspelt option": (
        lambda: FIT.decompose("elementary", thetha=0.2),
        "`elementary` takes no option `thetha`; did you mean `theta`?",
    ),
    "unknown option": (
        lambda: sr.skill(Y, P, "bounded_brier", lower=0.1, upper=0.3, cost=0.2),
        "`bounded_brier` takes no option `cost`; its options are `lower`, `upper`, `scale`.",
    ),
    "missing option": (lambda: FIT.decompose("elementary"), "`elementary` needs the option `theta`."),
    "ratio above 1": (
        lambda: sr.scores.elementary(Y, P, theta=1.5),
        "`theta` must lie in [0, 1]; got 1.5.",
    ),
    "ratio as text": (
        lambda: sr.scores.elementary(Y, P, theta="0.5"),
        "`theta` must be a number; got '0.5'.",
    ),
    "ratio in percent": (
        lambda: sr.scores.net_benefit(Y, P, threshold=20),
        "`threshold` must lie in [0, 1); got 20. If it is a percentage, divide it by 100: 0.2.",
    ),
    "reversed interval": (
        lambda: sr.scores.bounded_brier(Y, P, lower=0.8, upper=0.2),
        "`lower` must be below `upper`; got 0.8 and 0.2.",
    ),
    "too many cases at the top": (
        lambda: sr.scores.top_k(Y, P, k=10, cost=0.5),
        "`k` must lie in [0, 6]; got 10.",
    ),
}
#: Fits, bands and curves.
OF_FITS = {
    "functional": (
        lambda: sr.corp(Y, P, functional="median"),
        '`functional` must be one of "probability", "mean"; got \'median\'.',
    ),
    "kind of weights": (
        lambda: sr.corp(Y, P, weight_kind="freq"),
        '`weight_kind` must be one of "sampling", "frequency"; got \'freq\'.',
    ),
    "lengths": (lambda: sr.corp(Y, P[:4]), "`y_true` (6) and `y_prob` (4) must have the same length."),
    "number of weights": (
        lambda: sr.corp(Y, P, [1, 2]),
        "`sample_weight` must have one value per case; got 2 for 6 cases.",
    ),
    "no cases": (lambda: sr.corp([], []), "`y_true` is empty."),
    "kind of band": (
        lambda: FIT.band("prediction"),
        '`kind` must be one of "consistency", "confidence"; got \'prediction\'.',
    ),
    "level in percent": (
        lambda: FIT.band(level=95),
        "`level` must lie in (0, 1); got 95. If it is a percentage, divide it by 100: 0.95.",
    ),
    "level of 1": (lambda: FIT.band(level=1), "`level` must lie in (0, 1); got 1."),
    "method of band": (
        lambda: FIT.band(method="bootstrap"),
        '`method` must be one of "auto", "resampling", "discrete", "continuous"; got \'bootstrap\'.',
    ),
    "coverage": (
        lambda: FIT.band(coverage="uniform"),
        '`coverage` must be one of "pointwise", "simultaneous"; got \'uniform\'.',
    ),
    "method of simultaneous band": (
        lambda: FIT.band(coverage="simultaneous", method="resampling"),
        "A simultaneous band has only one method; leave `method` \"auto\", not 'resampling'.",
    ),
    "one resample": (
        lambda: FIT.band(resamples=1),
        "`resamples` must be a whole number of at least 2; got 1.",
    ),
    "fractional resamples": (
        lambda: FIT.band(resamples=100.0),
        "`resamples` must be a whole number of at least 2; got 100.0.",
    ),
    "negative seed": (lambda: FIT.band(seed=-1), "`seed` must be a whole number of at least 0; got -1."),
    "no seed": (lambda: FIT.band(seed=None), "`seed` must be a whole number of at least 0; got None."),
    "band of real outcomes": (
        OF_MEANS.band,
        "A band needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
    ),
    "log score of real outcomes": (
        lambda: OF_MEANS.decompose("log"),
        "Real outcomes are decomposed by their squared error; got score 'log'.",
    ),
    "curve without forecasts": (
        lambda: sr.curves.roc_curve(Y),
        "`y_prob` is missing. To fix: give outcomes and forecasts, `(y_true, y_prob)`, or a fit, "
        "`(sr.corp(y_true, y_prob))`.",
    ),
    "curve of an evaluation": (
        lambda: sr.curves.roc_curve(EVALUATION),
        "The first argument must be outcomes, or a fit of `sr.corp`; got Evaluation. The curves of an "
        "evaluation are in `evaluation.models[0].curves`.",
    ),
    "curve of a fit and forecasts": (
        lambda: sr.curves.roc_curve(FIT, P),
        "A fit has its own forecasts and weights. To fix: give the fit alone, or give outcomes `y_true` in "
        "its place.",
    ),
    "ROC curve of real outcomes": (
        lambda: sr.curves.roc_curve(OF_MEANS),
        "An ROC curve needs outcomes 0 and 1; this fit is of the mean of real outcomes.",
    ),
    "threshold of 1": (
        lambda: sr.curves.decision_curve(Y, P, thresholds=[0.2, 1]),
        "`thresholds` must be below 1, where net benefit is not defined.",
    ),
    "reversed thresholds": (
        lambda: sr.curves.decision_curve(Y, P, lower=0.5, upper=0.2),
        "`lower` must be below `upper`; got 0.5 and 0.2.",
    ),
    "axis": (
        lambda: sr.curves.decision_curve(Y, P).position("logit"),
        '`axis` must be one of "linear", "quadratic", "log"; got \'logit\'.',
    ),
    "metric of retention": (
        lambda: retain(metric="kappa"),
        '`metric` must be one of "quadratic_weighted_kappa", "expected_cost", "accuracy", "macro_f1"; got '
        "'kappa'.",
    ),
    "binary score of retention": (
        lambda: retain(score="brier"),
        "`score` must score class probabilities case by case; 'brier' scores probability of an event. Did "
        "you mean `multiclass_brier`?",
    ),
    "falling fractions": (
        lambda: retain(fractions=[0, 0.5, 0.3]),
        "`fractions` must increase; got [0.0, 0.5, 0.3].",
    ),
    "all cases removed": (
        lambda: retain(fractions=[0, 1]),
        "`fractions` must leave a case; 1 of 6 leaves none.",
    ),
    "cost of another metric": (
        lambda: retain(cost=[[0, 1], [1, 0]], metric="accuracy"),
        "`cost` goes with `metric=\"expected_cost\"`; got 'accuracy'.",
    ),
}
#: Intervals and tests.
OF_INFERENCE = {
    "one group": (
        lambda: sr.inference.hosmer_lemeshow_test(Y, P, groups=1),
        "`groups` must be a whole number of at least 2; got 1.",
    ),
    "strategy": (
        lambda: sr.inference.expected_calibration_error(Y, P, strategy="equal"),
        '`strategy` must be one of "uniform", "quantile"; got \'equal\'.',
    ),
    "level of an interval": (
        lambda: sr.inference.auc_interval(Y, P, level=90),
        "`level` must lie in (0, 1); got 90. If it is a percentage, divide it by 100: 0.9.",
    ),
    "score of a difference": (
        lambda: sr.inference.score_difference(Y, P, P**2, "brierr"),
        "`score` 'brierr' is not known; did you mean `brier`?",
    ),
    "errors without times": (
        lambda: sr.inference.score_difference(Y, P, P**2, errors="hac"),
        '`errors="hac"` needs `time`, which orders the rows.',
    ),
}
#: Arguments of `evaluate` and `select`.
OF_EVALUATIONS = {
    "misspelt argument": (
        lambda: evaluate(treshold=[0.2]),
        "`treshold` is not an argument of `evaluate`; did you mean `thresholds`?",
    ),
    "name of scikit-learn": (
        lambda: evaluate(weights="w"),
        "`weights` is not an argument of `evaluate`; did you mean `weight`?",
    ),
    "misspelt column": (
        lambda: evaluate(forecasts=["logti"]),
        "The frame has no column `logti`; it has `y`, `logit`, `boost`, `region`. Did you mean `logit`?",
    ),
    "model twice": (
        lambda: evaluate(forecasts=["logit", "logit"]),
        "`forecasts` must differ; got 'logit' 2 times.",
    ),
    "level": (
        lambda: evaluate(level=95),
        "`level` must lie in (0, 1); got 95. If it is a percentage, divide it by 100: 0.95.",
    ),
    "level as text": (lambda: evaluate(level="0.95"), "`level` must be a number; got '0.95'."),
    "seed": (lambda: evaluate(seed=1.5), "`seed` must be a whole number of at least 0; got 1.5."),
    "negative resamples": (
        lambda: evaluate(resamples=-1),
        "`resamples` must be a whole number of at least 0; got -1.",
    ),
    "few resamples": (
        lambda: evaluate(resamples=5),
        "`resamples` must be 0, or at least 18 for bands of level 0.9; got 5.",
    ),
    "threshold above 1": (
        lambda: evaluate(thresholds=[0.2, 1.5]),
        "`thresholds` must be a list of one or more numbers inside (0, 1); got [0.2, 1.5].",
    ),
    "one threshold": (
        lambda: evaluate(thresholds=0.2),
        "`thresholds` must be a list of one or more numbers inside (0, 1); got 0.2.",
    ),
    "reversed costs": (
        lambda: evaluate(cost_interval=(0.8, 0.2)),
        "`cost_interval` must be two numbers inside (0, 1), the smaller one first; got [0.8, 0.2].",
    ),
    "engine": (
        lambda: evaluate(engine="dask"),
        '`engine` must be one of "auto", "memory", "duckdb", "spark"; got \'dask\'.',
    ),
    "missing values": (
        lambda: evaluate(missing="ignore"),
        '`missing` must be one of "refuse", "drop"; got \'ignore\'.',
    ),
    "method of intervals": (
        lambda: evaluate(interval_method="bc"),
        '`interval_method` must be one of "bca", "percentile"; got \'bc\'.',
    ),
    "size of memory": (
        lambda: evaluate(memory_limit="1 gigabyte"),
        '`memory_limit` must be a size such as "1GB" or "512MB"; got \'1 gigabyte\'.',
    ),
    "patience": (lambda: select(patience=0), "`patience` must be a whole number of at least 1; got 0."),
}
#: Reports.
OF_REPORTS = {
    "ending": (
        lambda: report("report.docx"),
        "The name of a report must end in .pdf, .html, .xlsx, .md, .cdx.json, .tables.json or .json; got 'report.docx'.",
    ),
    "no ending": (
        lambda: report("report"),
        "The name of a report must end in .pdf, .html, .xlsx, .md, .cdx.json, .tables.json or .json; got 'report'.",
    ),
    "folder": (
        lambda: report("no/such/report.pdf"),
        "The folder no/such does not exist. To fix: create it, or write to another folder.",
    ),
    "frame": (
        lambda: sr.write_report(FRAME, "report.json"),
        "`evaluation` must be the result of `sr.evaluate`; got a DataFrame.",
    ),
    "certificate": (
        lambda: report(certificate=True),
        "`certificate` must be the result of `sr.certify`; got True.",
    ),
    "certificate of a frame": (
        lambda: sr.certify(FRAME),
        "`evaluation` must be the result of `sr.evaluate`; got a DataFrame.",
    ),
    "date": (
        lambda: report(date="15.11.2026"),
        "`date` must be a date such as 2026-11-15; got '15.11.2026'.",
    ),
    "templates": (
        lambda: report("report.html", templates="mine"),
        "The template folder mine does not exist.",
    ),
    "signature": (
        lambda: report("report.html", sign="key.p12"),
        "Only a PDF can be signed; got report.html.",
    ),
    "file of the configuration": (
        lambda: report(config="absent.toml"),
        "There is no configuration 'absent.toml'.",
    ),
    "type of the configuration": (
        lambda: report(config=["limits"]),
        "`config` must be the path of a .toml file, or a dictionary of its tables; got ['limits'].",
    ),
    "limit without its sample": (
        lambda: report(config={"limits": {"psi": 0.1}}),
        "config.toml: `limits.psi` needs a reference sample, and the evaluation has none: name it in "
        "`data.reference`, or remove the limit.",
    ),
    "limit of other models": (
        lambda: report(config={"limits": {"multiclass_brier": 0.1}}),
        "config.toml: `limits.multiclass_brier` is for models of several classes, and `evaluation.classes` "
        "names none: did you mean `limits.brier`?",
    ),
}
#: Configurations.
OF_CONFIGURATIONS = {
    "table": (
        lambda: configure("limit", brier=0.2),
        "config: `limit` is not known; did you mean `limits`?",
    ),
    "key without its table": (
        lambda: as_configuration({"brier": 0.2}),
        "config: `brier` is not known; did you mean `limits.brier`?",
    ),
    "setting without its table": (
        lambda: as_configuration({"level": 0.9}),
        "config: `level` is not known; did you mean `evaluation.level`?",
    ),
    "score and skill": (
        lambda: configure("limits", brier_score=0.2),
        "config: `limits.brier_score` is not known; did you mean `brier`?",
    ),
    "another name": (
        lambda: configure("limits", auc=0.7),
        "config: `limits.auc` is not known; did you mean `roc_auc`?",
    ),
    "related measure": (
        lambda: configure("limits", fpr=0.1),
        "config: `limits.fpr` is not known; it is 1 minus the `specificity`.",
    ),
    "p-value": (
        lambda: configure("limits", hosmer_lemeshow=0.05),
        "config: `limits.hosmer_lemeshow` is not known; a test of calibration has no limit, because it "
        "fails in large samples whatever the error: set `calibrated_within`, `ici` or `ece`.",
    ),
    "reversed limits, lower is better": (
        lambda: configure("limits", brier={"warn": 0.3, "fail": 0.2}),
        "config: `limits.brier.warn` must not be above `limits.brier.fail`, because lower is better; got "
        "0.3 and 0.2.",
    ),
    "reversed limits, higher is better": (
        lambda: configure("limits", roc_auc={"warn": 0.6, "fail": 0.7}),
        "config: `limits.roc_auc.warn` must not be below `limits.roc_auc.fail`, because higher is better; "
        "got 0.6 and 0.7.",
    ),
    "limit out of range": (
        lambda: configure("limits", brier=1.5),
        "config: `limits.brier.fail` must lie in [0, 1], the range of this measure; got 1.5.",
    ),
    "limit as text": (
        lambda: configure("limits", brier="low"),
        "config: `limits.brier` must be a number or a table of `warn`, `fail`; got 'low'.",
    ),
    "key of a limit": (
        lambda: configure("limits", brier={"max": 0.2}),
        "config: `limits.brier.max` is not known; its keys are `warn`, `fail`.",
    ),
    "two-sided limit as a number": (
        lambda: configure("limits", calibration_slope=1.0),
        "config: `limits.calibration_slope` must be a table of `min`, `max`, `warn_min`, `warn_max`; "
        "got 1.0.",
    ),
    "reversed two-sided limit": (
        lambda: configure("limits", calibration_slope={"min": 1.2, "max": 0.8}),
        "config: `limits.calibration_slope.min` must be below `limits.calibration_slope.max`; got 1.2 "
        "and 0.8.",
    ),
    "limit without a threshold": (
        lambda: configure("limits", sensitivity=0.8),
        "config: `limits.sensitivity` must be a table, or a list of tables, of `at`, `warn`, `fail`, such as "
        "{ at = 0.1, fail = 0.5 }; got 0.8.",
    ),
    "None": (
        lambda: configure("limits", brier=None),
        "config: `limits.brier` must be text, a number, a date, true, false, a list or a table; got None. To "
        "fix: leave the key out.",
    ),
    "setting": (
        lambda: configure("evaluation", treshold=[0.2]),
        "config: `evaluation.treshold` is not known; did you mean `thresholds`?",
    ),
    "level": (
        lambda: configure("evaluation", level=90),
        "config: `evaluation.level` must lie in (0, 1); got 90. If it is a percentage, divide it by 100: "
        "0.9.",
    ),
    "section": (
        lambda: configure("report", omit=["methds"]),
        "config: `report.omit` names an unknown section: 'methds'; did you mean `methods`?",
    ),
    "one section": (
        lambda: configure("report", omit="methods"),
        "config: `report.omit` must be a list; got 'methods'.",
    ),
    "number as text": (
        lambda: configure("report", title=7),
        "config: `report.title` must be text; got 7. Put it in quotes.",
    ),
    "role": (
        lambda: configure("people", autor="A"),
        "config: `people.autor` is not known; did you mean `author`?",
    ),
    "TOML": (
        lambda: parse_configuration("[limits\nbrier = 1", "report.toml"),
        "report.toml is not valid TOML: Expected ']' at the end of a table declaration (at line 1, "
        "column 8).",
    ),
    "decimal comma": (
        lambda: parse_configuration("[limits]\nbrier = 0,2", "report.toml"),
        "report.toml is not valid TOML: Expected newline or end of document after a statement (at line 2, "
        "column 10). Line 2 has a decimal comma; write a point.",
    ),
}
#: Periods and dates of audits.
OF_PERIODS = {
    "last month": (
        lambda: as_configuration({"audit": {"window": {"period": "last month"}}}),
        f"config: `audit.window.period`: {PERIODS} 'last month'. Did you mean `previous calendar month`?",
    ),
    "monthly": (
        lambda: check_window_text("monthly"),
        f"{PERIODS} 'monthly'. Did you mean `previous calendar month`?",
    ),
    "quarters": (
        lambda: check_window_text("last 2 quarters"),
        f"{PERIODS} 'last 2 quarters'. Did you mean `last 6 months`?",
    ),
    "no days": (
        lambda: check_window_text("last 0 days"),
        "A period `last N days` needs a whole number N from 1 to 36525; got 'last 0 days'.",
    ),
    "this month": (
        lambda: check_window_text("this month"),
        f"{PERIODS} 'this month'. A period must be over: `previous calendar month` is the last whole month.",
    ),
    "one month": (
        lambda: check_window_text("2026-05"),
        f"{PERIODS} '2026-05'. A period is relative to the time of the audit, which --as-of or --period "
        "sets.",
    ),
    "as of a month": (
        lambda: read_as_of("2026-05", ZoneInfo("UTC")),
        "`as_of` must be a date such as 2026-11-15 or a time such as 2026-11-15T06:30, from the year 1900 to "
        "2999, that exists in the time zone UTC; got '2026-05'. To audit this period: "
        "`--period 2026-05`.",
    ),
}
PARTS = {
    "scores": OF_SCORES,
    "fits": OF_FITS,
    "inference": OF_INFERENCE,
    "evaluations": OF_EVALUATIONS,
    "reports": OF_REPORTS,
    "configurations": OF_CONFIGURATIONS,
    "periods": OF_PERIODS,
}


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [pytest.param(*row, id=f"{part}: {name}") for part, rows in PARTS.items() for name, row in rows.items()],
)
def test_a_mistake_gets_a_sentence_that_says_what_to_do(mistake, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(sr.ScoreReportError) as error:
        mistake()
    assert str(error.value) == sentence
    assert list(tmp_path.iterdir()) == []


#: Commands with options, and what is printed after "scorereport: ".
COMMANDS = {
    "model twice": (
        ["score", "p.csv", "--outcome", "y", "--forecast", "m", "--forecast", "m"],
        "`--forecast` must differ; got 'm' 2 times.",
    ),
    "level": (
        ["score", "p.csv", "--outcome", "y", "--forecast", "m", "--level", "95"],
        "`--level` must lie in (0, 1); got 95. If it is a percentage, divide it by 100: 0.95.",
    ),
    "engine": (
        ["score", "p.csv", "--outcome", "y", "--forecast", "m", "--engine", "dask"],
        '`--engine` must be one of "auto", "memory", "duckdb", "spark"; got \'dask\'.',
    ),
    "seed": (
        ["score", "p.csv", "--outcome", "y", "--forecast", "m", "--seed", "x"],
        "`--seed` must be a whole number of at least 0; got 'x'.",
    ),
    "ending": (
        ["report", "p.csv", "--outcome", "y", "--forecast", "m", "-o", "r.docx"],
        "The name of a report must end in .pdf, .html, .xlsx, .md, .cdx.json, .tables.json or .json; got 'r.docx'.",
    ),
    "folder": (
        ["report", "p.csv", "--outcome", "y", "--forecast", "m", "-o", "no/r.pdf"],
        "The folder no does not exist. To fix: create it, or write to another folder.",
    ),
    "configuration": (
        ["report", "p.csv", "--outcome", "y", "--forecast", "m", "--config", "no.toml"],
        "There is no configuration 'no.toml'.",
    ),
    "results and data": (
        ["report", "p.csv", "--outcome", "y", "--from", "r.json"],
        "Give either FILE with its options, or --from: with --from, results are rendered as they are.",
    ),
    "date": (
        ["report", "p.csv", "--outcome", "y", "--forecast", "m", "--date", "15.11.2026"],
        "`date` must be a date such as 2026-11-15; got '15.11.2026'.",
    ),
    "audit": (["audit", "run", "no.toml"], "There is no configuration 'no.toml'."),
}


@pytest.mark.parametrize(("arguments", "sentence"), COMMANDS.values(), ids=COMMANDS)
def test_a_mistake_on_the_command_line_gets_the_same_sentence(
    arguments, sentence, call, tmp_path, monkeypatch
):
    (tmp_path / "p.csv").write_text("y,m\n0,.1\n1,.6\n0,.4\n1,.8\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert call(*arguments) == (ExitCode.USAGE, "", f"scorereport: {sentence}\n")


@pytest.mark.parametrize(
    ("name", "limit", "label"),
    [
        ("gini", {"warn": 0.5, "fail": 0.4}, "Gini coefficient"),
        ("accuracy_ratio", 0.4, "accuracy ratio"),
        ("somers_d", 0.4, "Somers' D"),
        ("recall", {"at": 0.2, "fail": 0.4}, "recall at 0.2"),
        ("precision", [{"at": 0.2, "fail": 0.4}], "precision at 0.2"),
    ],
)
def test_names_that_other_fields_use_are_limits_too(name, limit, label):
    ((measure, _),) = as_configuration({"limits": {name: limit}}).limits.bounds
    assert measure.label == label


def test_a_misspelt_name_of_the_package_has_what_python_needs_to_suggest_another():
    with pytest.raises(AttributeError, match=r"^module 'scorereport' has no attribute 'evalute'$") as error:
        _ = sr.evalute
    assert (error.value.name, error.value.obj) == ("evalute", sr)
