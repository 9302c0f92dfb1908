"""Values that public functions refuse, each with its full message."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import scorereport as sr
from scorereport.errors import ExitCode

brier, rps, kappa = sr.scores.brier, sr.scores.rps, sr.scores.quadratic_weighted_kappa
NAN = float("nan")


def refused(error, call):
    with pytest.raises(error) as refusal:
        call()
    return str(refusal.value)


# Vectors


@pytest.mark.parametrize(
    "missing",
    [
        [0.2, NAN],
        [0.2, None],
        [0.2, pd.NA],
        [0.2, pd.NaT],
        [0.2, Decimal("NaN")],
        pd.array([0.2, pd.NA], dtype="Float64"),
        pd.Series([0.2, None], dtype="Float64"),
        pd.Series([0.2, None], dtype="float32[pyarrow]"),
        np.ma.array([0.2, 0.3], mask=[False, True]),
        np.ma.array([0, 1], mask=[False, True]),
    ],
    ids=["nan", "None", "NA", "NaT", "Decimal", "nullable", "series", "arrow", "masked", "masked integers"],
)
def test_missing_forecasts_are_refused(missing):
    assert refused(sr.DataError, lambda: brier([0, 1], missing)) == (
        "`y_prob` must not be missing; got nan at row 1 (1 of 2 rows). Drop these rows first."
    )


@pytest.mark.parametrize(
    "missing",
    [
        [1, NAN, NAN],
        [True, None, None],
        pd.array([True, pd.NA, pd.NA], dtype="boolean"),
        pd.array([1, pd.NA, pd.NA], dtype="Int64"),
    ],
    ids=["nan", "None", "boolean", "Int64"],
)
def test_missing_outcomes_are_refused(missing):
    assert refused(sr.DataError, lambda: brier(missing, [0.1, 0.2, 0.3])) == (
        "`y_true` must not be missing; got nan at row 1 (2 of 3 rows: 1, 2). Drop these rows first."
    )


@pytest.mark.parametrize(
    ("y", "p", "sentence"),
    [
        (
            [0, 2],
            [0.1, 0.2],
            "`y_true` must be 0 or 1; got 2.0 at row 1 (1 of 2 rows). "
            "If 2 is the event, pass np.asarray(y_true) == 2.",
        ),
        ([-1, 1, 0.5], [0.1] * 3, "`y_true` must be 0 or 1; got -1.0 at row 0 (2 of 3 rows: 0, 2)."),
        ([0, np.inf], [0.1, 0.2], "`y_true` must be 0 or 1; got inf at row 1 (1 of 2 rows)."),
        ([0, 1], [0.1, 1.03], "`y_prob` must lie in [0, 1]; got 1.03 at row 1 (1 of 2 rows)."),
        ([0, 1], [-1e-300, 1.0], "`y_prob` must lie in [0, 1]; got -1e-300 at row 0 (1 of 2 rows)."),
        (
            [0, 1],
            [0.5, np.nextafter(1, 2)],
            "`y_prob` must lie in [0, 1]; got 1.0000000000000002 at row 1 (1 of 2 rows).",
        ),
        ([0, 1], [0.1, np.inf], "`y_prob` must be finite; got inf at row 1 (1 of 2 rows)."),
        ([0, 1], [-np.inf, 7], "`y_prob` must be finite; got -inf at row 0 (1 of 2 rows)."),
        (
            [0] * 7,
            [2] * 7,
            "`y_prob` must lie in [0, 1]; got 2.0 at row 0 (7 of 7 rows: 0, 1, 2, 3, 4, ...).",
        ),
        ([0, 1], [0.1, 0.2, 0.3], "`y_true` (2) and `y_prob` (3) must have the same length."),
        ([], [], "`y_true` is empty."),
        ([0], [], "`y_prob` is empty."),
        (
            1,
            0.5,
            "`y_true` must be one-dimensional; got shape (). Pass one value per case, in a list or an array.",
        ),
        (
            [0, 1],
            [[0.1, 0.9], [0.5, 0.5]],
            "`y_prob` must be one-dimensional; got shape (2, 2). Pass the column of the event, such as "
            "np.asarray(y_prob)[:, 1].",
        ),
        (
            [[0], [1]],
            [0.1, 0.2],
            "`y_true` must be one-dimensional; got shape (2, 1). "
            "Pass its only column, np.asarray(y_true)[:, 0].",
        ),
    ],
)
def test_values_and_shapes_are_checked(y, p, sentence):
    assert refused(sr.DataError, lambda: brier(y, p)) == sentence


@pytest.mark.parametrize(
    ("p", "sentence"),
    [
        (
            ["0.1", "0.2"],
            "`y_prob` must be numeric; got '0.1' at row 0 (2 of 2 rows: 0, 1). "
            "Convert texts to numbers first.",
        ),
        ([0.1, "high"], "`y_prob` must be numeric; got '0.1' at row 0 (2 of 2 rows: 0, 1)."),
        (
            np.array([0.1, "high"], dtype=object),
            "`y_prob` must be numeric; got 'high' at row 1 (1 of 2 rows).",
        ),
        (pd.Series(["low", "high"]), "`y_prob` must be numeric; got 'low' at row 0 (2 of 2 rows: 0, 1)."),
        ([0.1, 1j], "`y_prob` must be numeric; got (0.1+0j) at row 0 (2 of 2 rows: 0, 1)."),
        (
            [date(2026, 1, 2), 0.5],
            "`y_prob` must be numeric; got datetime.date(2026, 1, 2) at row 0 (1 of 2 rows).",
        ),
    ],
    ids=["text", "mixed list", "object array", "series", "complex", "date"],
)
def test_values_that_are_not_numbers_are_refused(p, sentence):
    assert refused(sr.DataError, lambda: brier([0, 1], p)) == sentence


@pytest.mark.parametrize(
    ("dates", "first"),
    [
        (np.array([0, 1], dtype="datetime64[s]"), "'1970-01-01T00:00:00'"),
        (np.array([0, 1], dtype="datetime64[ns]"), "'1970-01-01T00:00:00.000000000'"),
        (np.array([0, 1], dtype="timedelta64[ns]"), "'0 nanoseconds'"),
        (np.array([0, 1], dtype="timedelta64[D]"), "'0 days'"),
        (pd.Series(pd.to_datetime([0, 1], unit="ns")), "'1970-01-01T00:00:00.000000000'"),
        ([date(1970, 1, 1)] * 2, "datetime.date(1970, 1, 1)"),
    ],
    ids=["seconds", "nanoseconds", "timedelta of nanoseconds", "timedelta of days", "series", "list"],
)
def test_dates_are_not_outcomes(dates, first):
    """Also dates that numpy would convert to whole numbers."""
    assert refused(sr.DataError, lambda: brier(dates, [0.1, 0.2])) == (
        f"`y_true` must be numeric; got {first} at row 0 (2 of 2 rows: 0, 1)."
    )


@pytest.mark.skipif(np.longdouble == np.float64, reason="longdouble is float64 on this machine")
@pytest.mark.parametrize("make", [np.array, np.ma.array], ids=["plain", "masked"])
def test_longdouble_is_refused(make):
    p = make([0.1, 0.2], dtype=np.longdouble)
    assert refused(sr.DataError, lambda: brier([0, 1], p)) == (
        "`y_prob` is longdouble; round it to float64 yourself, so that no values merge unnoticed."
    )


def test_masked_text_is_refused():
    assert refused(sr.DataError, lambda: brier([0, 1], np.ma.array(["low", "high"]))) == (
        "`y_prob` must be numeric; got 'low' at row 0 (2 of 2 rows: 0, 1)."
    )


@pytest.mark.parametrize(
    "call", [lambda: brier([0, 1], [0.1, [0.2]]), lambda: rps([0, 1], [[0.1, 0.9], [1.0]])]
)
def test_ragged_lists_are_refused(call):
    assert refused(sr.DataError, call) == "`y_prob` must be an array; got rows of different lengths."


@pytest.mark.parametrize(
    "p",
    [
        (0.25, 0.5),
        np.array([0.25, 0.5], dtype=np.float32),
        np.array([0.25, 0.5], dtype=np.float16),
        np.array([0.25, 0.5], dtype=">f8"),
        np.array([0.25, 0.5], dtype=object),
        np.ma.array([0.25, 0.5]),
        pd.Series([0.25, 0.5], index=[7, 3]),
        pd.array([0.25, 0.5], dtype="Float32"),
        pd.Series([0.25, 0.5], dtype="float64[pyarrow]"),
        [Decimal("0.25"), Fraction(1, 2)],
    ],
    ids=lambda p: f"{type(p).__name__}-{getattr(p, 'dtype', '')}",
)
def test_any_container_of_numbers_is_accepted(p):
    np.testing.assert_array_equal(brier([0, 1], p), [1 / 16, 1 / 4])


@pytest.mark.parametrize(
    "y",
    [
        [False, True],
        np.array([0, 1], dtype=np.uint8),
        [0.0, 1.0],
        pd.array([False, True], dtype="boolean"),
        pd.Categorical([0, 1]),
    ],
    ids=["bool", "uint8", "float", "boolean", "categorical"],
)
def test_any_zeros_and_ones_are_outcomes(y):
    np.testing.assert_array_equal(brier(y, [0.25, 0.5]), [1 / 16, 1 / 4])


# Weights


@pytest.mark.parametrize(
    ("weight", "sentence"),
    [
        ([1, -2], "`sample_weight` must not be negative; got -2.0 at row 1 (1 of 2 rows)."),
        ([0, 0], "`sample_weight` must not be all zero; got 0 in all 2 rows."),
        ([1, 2, 3], "`sample_weight` must have one value per case; got 3 for 2 cases."),
        ([1, np.inf], "`sample_weight` must be finite; got inf at row 1 (1 of 2 rows)."),
        (
            [NAN, 1],
            "`sample_weight` must not be missing; got nan at row 0 (1 of 2 rows). Drop these rows first.",
        ),
        ([[1, 2]], "`sample_weight` must be one-dimensional; got shape (1, 2)."),
        (["a", "b"], "`sample_weight` must be numeric; got 'a' at row 0 (2 of 2 rows: 0, 1)."),
        ([], "`sample_weight` is empty."),
    ],
)
@pytest.mark.parametrize("function", [sr.scores.roc_auc, sr.scores.decisiveness, sr.corp])
def test_weights_are_checked(function, weight, sentence):
    assert refused(sr.DataError, lambda: function([0, 1], [0.1, 0.2], sample_weight=weight)) == sentence


def test_weights_of_means_are_checked_under_their_own_name():
    assert refused(sr.DataError, lambda: sr.scores.generalized_mean([0.1, 0.2], 1, [1])) == (
        "`weights` must have one value per case; got 1 for 2 cases."
    )


# Classes


@pytest.mark.parametrize(
    ("y", "p", "sentence"),
    [
        (
            [0, 1],
            [0.2, 0.8],
            "`y_prob` must have one row per case and one column per class; got shape (2,).",
        ),
        (
            [0, 1],
            [[1.0], [1.0]],
            "`y_prob` must have one row per case and one column per class; got shape (2, 1).",
        ),
        ([], np.zeros((0, 3)), "`y_prob` is empty."),
        (
            [0, 1],
            [[0.5, 0.5], [0.2, 0.7]],
            "Each row of `y_prob` must sum to 1 within 1e-06; got 0.8999999999999999 at row 1 (1 of 2 rows). "
            "Divide each row by its sum.",
        ),
        (
            [0, 2],
            [[0.5, 0.5]] * 2,
            "`y_true` must hold class indices 0 to 1; got 2.0 at row 1 (1 of 2 rows).",
        ),
        (
            [0, -1],
            [[0.5, 0.5]] * 2,
            "`y_true` must hold class indices 0 to 1; got -1.0 at row 1 (1 of 2 rows).",
        ),
        (
            [0.5, 1],
            [[0.5, 0.5]] * 2,
            "`y_true` must hold class indices 0 to 1; got 0.5 at row 0 (1 of 2 rows).",
        ),
        (
            [0, NAN],
            [[0.5, 0.5]] * 2,
            "`y_true` must not be missing; got nan at row 1 (1 of 2 rows). Drop these rows first.",
        ),
        (
            ["a", "b"],
            [[0.5, 0.5]] * 2,
            "`y_true` must hold class indices 0 to 1; got 'a' at row 0 (2 of 2 rows: 0, 1). "
            "Pass the index of each label among the classes.",
        ),
        ([0, 1, 0], [[0.5, 0.5]] * 2, "`y_true` (3) and `y_prob` (2) must have the same length."),
    ],
)
def test_classes_are_checked(y, p, sentence):
    assert refused(sr.DataError, lambda: rps(y, p)) == sentence


@pytest.mark.parametrize(
    ("p", "sentence"),
    [
        ([[0.5, 0.5], [-0.25, 1.25]], "`y_prob` must lie in [0, 1]; got -0.25 at row 1 (1 of 2 rows)."),
        ([[0.5, 0.5], [0.5, np.inf]], "`y_prob` must be finite; got inf at row 1 (1 of 2 rows)."),
        (
            [[0.5, 0.5], [0.5, NAN]],
            "`y_prob` must not be missing; got nan at row 1 (1 of 2 rows). Drop these rows first.",
        ),
        (
            np.ma.array([[0.5, 0.5], [0.5, 0.5]], mask=[[False, False], [True, False]]),
            "`y_prob` must not be missing; got nan at row 1 (1 of 2 rows). Drop these rows first.",
        ),
        (
            pd.DataFrame({"a": [0.5, pd.NA], "b": [0.5, 0.5]}, dtype="Float64"),
            "`y_prob` must not be missing; got nan at row 1 (1 of 2 rows). Drop these rows first.",
        ),
        ([["a", "b"], ["c", "d"]], "`y_prob` must be numeric; got 'a' at row 0 (2 of 2 rows: 0, 1)."),
    ],
    ids=["range", "infinite", "nan", "masked", "nullable", "text"],
)
def test_rows_of_class_probabilities_are_counted_as_rows(p, sentence):
    assert refused(sr.DataError, lambda: rps([0, 1], p)) == sentence


@pytest.mark.parametrize("miss", [9e-7, -9e-7])
def test_rows_may_miss_one_by_a_millionth(miss):
    assert rps([0], [[0.5 + miss, 0.5]]).shape == (1,)
    assert refused(sr.DataError, lambda: rps([0], [[0.5 + 2 * miss, 0.5]])).startswith(
        "Each row of `y_prob` must sum to 1 within 1e-06; got "
    )


@pytest.mark.parametrize(
    ("error", "call", "sentence"),
    [
        (
            sr.DataError,
            lambda: kappa([0, 1], [0, 3], n_classes=3),
            "`y_label` must hold class indices 0 to 2; got 3.0 at row 1 (1 of 2 rows).",
        ),
        (
            sr.DataError,
            lambda: kappa([0, 1], [0], n_classes=3),
            "`y_true` (2) and `y_label` (1) must have the same length.",
        ),
        (
            sr.UsageError,
            lambda: kappa([0], [0], n_classes=1),
            "`n_classes` must be a whole number, at least 2; got 1.",
        ),
        (
            sr.UsageError,
            lambda: sr.scores.expected_cost([0], [0], n_classes=2, cost=[[0, 1]]),
            "`cost` must have shape (2, 2); got (1, 2).",
        ),
        (
            sr.UsageError,
            lambda: sr.scores.expected_cost([0], [0], n_classes=2, cost=[[0, -1], [1, 0]]),
            "`cost` must hold finite numbers that are not negative.",
        ),
        (
            sr.DataError,
            lambda: sr.scores.cross_entropy_probability([0.5, 0.5], [0.25, 0.25, 0.5]),
            "`p` (2) and `q` (3) must have the same length.",
        ),
        (
            sr.DataError,
            lambda: sr.scores.entropy_probability([0.5, 0.25]),
            "Each row of `p` must sum to 1 within 1e-06; got 0.75 at row 0 (1 of 1 rows). "
            "Divide each row by its sum.",
        ),
    ],
)
def test_labels_costs_and_distributions_are_checked(error, call, sentence):
    assert refused(error, call) == sentence


# Options


@pytest.mark.parametrize(
    ("function", "options", "sentence"),
    [
        (sr.scores.elementary, {"theta": 1.5}, "`theta` must lie in [0, 1]; got 1.5."),
        (sr.scores.elementary, {"theta": NAN}, "`theta` must lie in [0, 1]; got nan."),
        (sr.scores.regret, {"cost": -0.1}, "`cost` must lie in [0, 1]; got -0.1."),
        (sr.scores.regret, {"cost": 0.1, "threshold": 2}, "`threshold` must lie in [0, 1]; got 2."),
        (sr.scores.net_benefit, {"threshold": 1}, "`threshold` must lie in [0, 1); got 1."),
        (sr.scores.log_loss, {"limit": 0.5}, "`limit` must lie in [0, 0.5); got 0.5."),
        (sr.scores.log_loss, {"limit": -1e-9}, "`limit` must lie in [0, 0.5); got -1e-09."),
        (sr.scores.shifted_brier, {"mu": 0}, "`mu` must lie in (0, 1); got 0."),
        (sr.scores.mode_shifted, {"mu": 1}, "`mu` must lie in (0, 1); got 1."),
        (
            sr.scores.bounded_brier,
            {"lower": 0.5, "upper": 0.2},
            "`lower` must be below `upper`; got 0.5 and 0.2.",
        ),
        (
            sr.scores.bounded_brier,
            {"lower": 0.2, "upper": 0.2},
            "`lower` must be below `upper`; got 0.2 and 0.2.",
        ),
        (sr.scores.bounded_brier, {"lower": -1, "upper": 0.2}, "`lower` must lie in [0, 1]; got -1."),
        (sr.scores.bounded_brier, {"lower": 0, "upper": 1.5}, "`upper` must lie in [0, 1]; got 1.5."),
        (sr.scores.bounded_log_loss, {"lower": 0, "upper": 0.5}, "`lower` must lie in (0, 1); got 0."),
        (sr.scores.bounded_log_loss, {"lower": 0.5, "upper": 1}, "`upper` must lie in (0, 1); got 1."),
        (sr.scores.bounded_net_benefit, {"lower": 0, "upper": 1}, "`upper` must lie in [0, 1); got 1."),
        (
            sr.scores.bounded_brier,
            {"lower": 0, "upper": 1, "scale": "raw"},
            '`scale` must be one of "regret", "paper", "difference"; got \'raw\'.',
        ),
        (sr.scores.beta_regret, {"a": 0, "b": 1}, "`a` and `b` must be positive and finite; got 0 and 1."),
        (
            sr.scores.beta_regret,
            {"a": 1, "b": np.inf},
            "`a` and `b` must be positive and finite; got 1 and inf.",
        ),
        (
            sr.scores.partial_auc,
            {"lower": 0.5, "upper": 0.2},
            "`lower` must be below `upper`; got 0.5 and 0.2.",
        ),
        (
            sr.scores.top_k,
            {"k": 3, "cost": 0.2},
            "`k` must lie in [0, 2]; got 3.",
        ),
        (sr.scores.top_k, {"k": 1, "cost": 1}, "`cost` must lie in [0, 1); got 1."),
        (
            sr.scores.probability_scale,
            {"n_bins": 5},
            "`n_bins` must be a whole number between 1 and the number of pairs, 4; got 5.",
        ),
        (
            sr.corp,
            {"functional": "median"},
            '`functional` must be one of "probability", "mean"; got \'median\'.',
        ),
    ],
)
def test_options_are_checked(function, options, sentence):
    assert refused(sr.UsageError, lambda: function([0, 1], [0.1, 0.2], **options)) == sentence


@pytest.mark.parametrize(
    ("function", "scales"), [(rps, '"unit", "sum"'), (sr.scores.sa_rps, '"unit", "paper"')]
)
def test_scales_of_ordinal_scores_are_checked(function, scales):
    assert refused(sr.UsageError, lambda: function([0], [[0.5, 0.5]], scale="raw")) == (
        f"`scale` must be one of {scales}; got 'raw'."
    )


def test_coupling_is_checked():
    assert refused(sr.UsageError, lambda: sr.scores.coupled_gaussian_logpdf([[0, 0]], kappa=-0.5)) == (
        "`kappa` must be above -1/2 and finite; got -0.5."
    )


def test_a_value_just_beyond_its_bound_is_shown_with_all_its_digits():
    """Otherwise the message would contradict itself: "must lie in [0, 1]; got 1."."""
    assert refused(sr.UsageError, lambda: sr.scores.regret([0], [0.1], cost=1.0000000001)) == (
        "`cost` must lie in [0, 1]; got 1.0000000001."
    )


# Errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (sr.DataError, ExitCode.DATA_REFUSED),
        (sr.UsageError, ExitCode.USAGE),
        (sr.ScoreReportError, ExitCode.USAGE),
    ],
)
def test_errors_carry_their_exit_code(error, code):
    assert error.exit_code is code
    assert issubclass(error, sr.ScoreReportError)


def test_refusals_are_value_errors():
    assert issubclass(sr.DataError, ValueError)
    assert issubclass(sr.UsageError, ValueError)


def test_exit_codes_are_fixed():
    assert [(code.name, code.value) for code in ExitCode] == [
        ("DONE", 0),
        ("LIMIT_BREACHED", 1),
        ("USAGE", 2),
        ("WARNINGS", 3),
        ("DATA_REFUSED", 4),
        ("CERTIFICATE_FAILED", 5),
        ("INTERNAL", 70),
    ]


# Options that are not numbers


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sr.scores.regret([0], [0.1], cost="0.2"), "`cost` must be a number; got '0.2'."),
        (
            lambda: sr.scores.expected_cost([0], [0], n_classes=2.5),
            "`n_classes` must be a whole number, at least 2; got 2.5.",
        ),
        (lambda: sr.scores.expected_cost([0], [0], n_classes=2, cost=[["a"]]), "`cost` must hold numbers."),
        (lambda: sr.scores.generalized_mean([0.5], np.nan), "`m` must be a number; got nan."),
        (
            lambda: sr.corp([0.0], [0.5], functional="mean").decompose(theta=0.5),
            "Real outcomes are decomposed by their squared error; got score 'brier'.",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(call, sentence):
    assert refused(sr.UsageError, call) == sentence


def test_a_regret_curve_names_its_own_argument():
    curve = sr.curves.regret_curve(sr.corp([0, 1], [0.2, 0.7]))
    assert (
        refused(sr.DataError, lambda: curve.at(2))
        == "`cost` must lie in [0, 1]; got 2.0 at row 0 (1 of 1 rows)."
    )


@pytest.mark.parametrize("scale", [-1.0, 0.0, [[1.0, 2.0], [2.0, 1.0]]])
def test_scales_must_be_positive(scale):
    sentence = "`scale` must be positive, or a positive definite matrix."
    x = [[0.0, 1.0]] if np.ndim(scale) else [0.0]
    assert refused(sr.UsageError, lambda: sr.scores.coupled_gaussian_logpdf(x, scale=scale)) == sentence


def test_fractions_must_increase():
    call = lambda: sr.curves.retention_curve([0, 1], [[1, 0], [0, 1]], fractions=[0.5, 0])  # noqa: E731
    assert refused(sr.UsageError, call) == "`fractions` must increase; got [0.5, 0.0]."
