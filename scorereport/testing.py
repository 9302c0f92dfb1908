"""Gates for pipelines and test suites: assertions on calibration and on limits, as in `numpy.testing`.

They work in pytest, unittest and plain scripts. A gate that is not passed raises an `AssertionError` whose
message has the table of verdicts and a sentence for each.

>>> from scorereport.testing import assert_meets
>>> y, p = [0, 1] * 50, [0.2, 0.7] * 50
>>> verdicts = assert_meets(y, {"brier": 0.25, "roc_auc": 0.8}, {"logit": p})
>>> verdicts[["measure", "model", "value", "verdict"]]
   measure  model  value verdict
0    brier  logit  0.065    pass
1  roc_auc  logit  1.000    pass

>>> assert_meets(y, {"brier": 0.05}, {"logit": p})
Traceback (most recent call last):
...
AssertionError: Limits: 1 fail.
<BLANKLINE>
measure      model  value   interval          limit     verdict
Brier score  logit  0.0650  [0.0600, 0.0838]  ≤ 0.0500  fail
<BLANKLINE>
Fail. Brier score of logit: 0.0650, interval [0.0600, 0.0838], lies above the limit 0.0500.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scorereport._utils.formatting import shortest, visible
from scorereport._utils.representation import short_repr
from scorereport.configuration.limit_verdicts import LimitVerdict
from scorereport.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd  # noqa: TC004  # pydantic does not read the records of this module

    from scorereport.configuration import Configuration
    from scorereport.configuration.limit_verdicts import Judgement
    from scorereport.data.array_values import ArrayForecasts
    from scorereport.data.column_rules import Forecasts
    from scorereport.report.calibration_decision import CalibrationDecision
    from scorereport.results.evaluation import Evaluation
    from scorereport.results.registered_functions import Limits

__all__ = ["assert_calibrated", "assert_meets"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GateOutcome:
    """The outcome of a gate: the worst verdict, their number, the tables, and sentences for each verdict.

    `table` is for people, `frame` is what an assertion returns. `sentences` has the verdicts other than
    "pass", the worst first.
    """

    gate: str
    verdict: LimitVerdict
    counts: str
    table: str
    sentences: tuple[str, ...]
    frame: pd.DataFrame

    __repr__ = short_repr

    def is_passed(self, *, strict: bool) -> bool:
        """Whether the gate is passed; if `strict`, warnings and inconclusive verdicts do not pass."""
        from scorereport.configuration.limit_verdicts import verdict_exit_code

        return verdict_exit_code(self.verdict, strict=strict) == ExitCode.DONE

    def describe(self) -> str:
        """Return the message of a gate: the number of verdicts, the table, and the sentences."""
        return "\n\n".join(filter(None, (f"{self.counts}.", self.table, "\n".join(self.sentences))))


def assert_meets(
    data: Any,
    limits: Limits,
    forecasts: Forecasts | ArrayForecasts | None = None,
    *,
    strict: bool = False,
    **arguments: object,
) -> pd.DataFrame:
    """Assert that all numbers meet their limits; return the verdicts.

    Limits are judged on intervals, as in reports: a limit is breached only if the whole interval lies beyond
    it, and the verdict is "inconclusive" if the limit lies inside the interval.

    Parameters
    ----------
    data
        An `Evaluation`; or what `evaluate` takes: an array of outcomes, a table, or the path of a file. To
        assert several things about the same data, evaluate them once.
    limits
        The table `[limits]` of a configuration as a dictionary, such as `{"brier": {"warn": 0.19, "fail":
        0.21}, "calibration_slope": {"min": 0.8, "max": 1.2}}`; or the path of a TOML configuration. Data are
        evaluated with the columns and settings of its table `[evaluation]`.
    forecasts
        With data that are not evaluated yet: the forecasts, as in `evaluate`.
    strict
        Whether "warn" and "inconclusive" count as failures. By default only "fail" does, as in the exit codes
        of the command line: too few rows then let a model pass, with the verdict "inconclusive".
    **arguments
        Other arguments of `evaluate`, such as `outcome`, `groups` or `level`.

    Returns
    -------
    pandas.DataFrame
        The verdicts, as `Evaluation.verdicts` returns them.

    Raises
    ------
    AssertionError
        If a limit is breached. The message has the table of verdicts.
    UsageError
        If a limit does not exist, or if the evaluation does not have its number.

    Examples
    --------
    >>> import scorereport as sr
    >>> evaluation = sr.evaluate([0, 1] * 50, {"logit": [0.2, 0.7] * 50})
    >>> sr.testing.assert_meets(evaluation, {"brier": {"warn": 0.068, "fail": 0.1}})["verdict"].item()
    'warn'
    """
    __tracebackhide__ = True
    outcome = check_limits(data, limits, forecasts, arguments)
    if not outcome.is_passed(strict=strict):
        raise AssertionError(outcome.describe())
    return outcome.frame


def assert_calibrated(
    data: Any,
    forecasts: Forecasts | ArrayForecasts | None = None,
    *,
    alpha: float | None = None,
    strict: bool = False,
    **arguments: object,
) -> pd.DataFrame:
    """Assert that no model is shown to be miscalibrated; return the tests.

    The test is the one that the findings of a report state: that the miscalibration of the main score is 0,
    with p-values from outcomes that are drawn from the forecasts. Without rows in memory it is the test of
    slope and intercept; if residuals depend on each other in time, it is a test that allows for it. With
    several models, p-values are adjusted by Holm's method.

    A test that does not reject is not proof of calibration: with few rows, it finds large miscalibration
    only. With very many rows, it finds miscalibration that is too small to matter. In both cases a limit on
    miscalibration is the better gate: `assert_meets(data, {"brier_miscalibration": 0.005})` passes with
    `strict=True` only if the model is shown to be calibrated within 0.005.

    Parameters
    ----------
    data
        An `Evaluation`; or what `evaluate` takes: an array of outcomes, a table, or the path of a file.
    forecasts
        With data that are not evaluated yet: the forecasts, as in `evaluate`.
    alpha
        The significance level of the test; by default 1 minus the level of the evaluation, which is 0.05. A
        gate that runs every night fails this often although the model is calibrated.
    strict
        Whether a test that is inconclusive counts as a failure, for example because too few samples were
        drawn for this `alpha`.
    **arguments
        Other arguments of `evaluate`, such as `outcome` or `weight`.

    Returns
    -------
    pandas.DataFrame
        A row for each model: `model`, `test`, `p_value`, `p_value_holm` (adjusted, if there are several
        models), `alpha`, `verdict` ("pass", "inconclusive" or "fail") and `sentence`.

    Raises
    ------
    AssertionError
        If a model is shown to be miscalibrated. The message has the table of tests.
    UsageError
        If the evaluation has no tests, because `resamples` is 0.

    Examples
    --------
    >>> from scorereport.testing import assert_calibrated
    >>> assert_calibrated([0, 1, 0, 1, 1] * 40, {"logit": [0.6] * 200})["verdict"].item()
    'pass'
    """
    __tracebackhide__ = True
    outcome = check_calibration(data, forecasts, alpha, arguments)
    if not outcome.is_passed(strict=strict):
        raise AssertionError(outcome.describe())
    return outcome.frame


def check_limits(
    data: Any,
    limits: Limits,
    forecasts: Forecasts | ArrayForecasts | None,
    arguments: Mapping[str, object],
) -> GateOutcome:
    """Judge data or an evaluation by limits."""
    from scorereport.configuration.consistency import check_configuration
    from scorereport.configuration.judgement import judge, read_limits
    from scorereport.configuration.limit_verdicts import find_worst_verdict

    configuration = read_limits(limits)
    if not configuration.limits.bounds:
        raise UsageError(
            "`limits` has no limits, so that every model would pass. To fix: set one, such as "
            '{"brier": 0.2}; in a configuration, in the table [limits].'
        )
    evaluation, given = _find_evaluation(data, forecasts, arguments, configuration)
    check_configuration(configuration, evaluation, overridden=given)
    judgements = judge(evaluation, configuration.limits)
    worst = find_worst_verdict(judgements)
    if worst is None:
        raise UsageError("The evaluation has none of the numbers that have limits.")
    return _describe_limits(judgements, worst)


def _describe_limits(judgements: Sequence[Judgement], worst: LimitVerdict) -> GateOutcome:
    from scorereport.report.verdict_text import count_verdicts_text, format_judgements
    from scorereport.results.frames import verdict_frame

    return GateOutcome(
        gate="assert_meets",
        verdict=worst,
        counts=f"Limits: {count_verdicts_text(j.verdict for j in judgements)}",
        table=format_judgements(judgements),
        sentences=_list_sentences(judgements),
        frame=verdict_frame(judgements),
    )


def check_calibration(
    data: Any,
    forecasts: Forecasts | ArrayForecasts | None,
    alpha: float | None,
    arguments: Mapping[str, object],
) -> GateOutcome:
    """Test the calibration of all models of data or of an evaluation."""
    from scorereport._utils.checks import check_inside
    from scorereport.configuration.judgement import find_alpha
    from scorereport.report.calibration_decision import decide_calibration

    chosen = None if alpha is None else check_inside(alpha, "alpha", 0, 1, closed="neither")
    evaluation, _ = _find_evaluation(data, forecasts, arguments)
    used = find_alpha(evaluation) if chosen is None else chosen
    decisions = [decide_calibration(result, evaluation, used) for result in evaluation.results]
    tested = [decision for decision in decisions if decision is not None]
    if not tested:
        raise UsageError(
            "The evaluation has no tests of calibration, because `resamples` is 0. To fix: evaluate without "
            "`resamples`."
        )
    return _describe_tests(tested, used)


def _describe_tests(decisions: Sequence[CalibrationDecision], alpha: float) -> GateOutcome:
    from scorereport.report.verdict_text import count_verdicts_text, format_decisions

    counts = count_verdicts_text(decision.verdict for decision in decisions)
    return GateOutcome(
        gate="assert_calibrated",
        verdict=max((d.verdict for d in decisions), key=list(LimitVerdict).index),
        counts=f"Calibration, tested at the level {shortest(alpha)}: {counts}",
        table=format_decisions(decisions, alpha),
        sentences=_list_sentences(decisions),
        frame=_frame_tests(decisions, alpha),
    )


def _list_sentences(found: Sequence[Judgement] | Sequence[CalibrationDecision]) -> tuple[str, ...]:
    """The sentences of verdicts other than "pass", the worst first."""
    return tuple(
        f"{verdict.capitalize()}. {visible(each.sentence)}"
        for verdict in reversed(LimitVerdict)
        for each in found
        if each.verdict is verdict and verdict is not LimitVerdict.PASS
    )


def _frame_tests(decisions: Sequence[CalibrationDecision], alpha: float) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        [
            {
                "model": decision.model,
                "test": None if decision.test is None else decision.test.name,
                "p_value": None if decision.test is None else decision.test.p_value,
                "p_value_holm": None if decision.test is None else decision.test.p_value_holm,
                "alpha": alpha,
                "verdict": str(decision.verdict),
                "sentence": decision.sentence,
            }
            for decision in decisions
        ]
    ).astype({"p_value": "float64", "p_value_holm": "float64"})


def _find_evaluation(
    data: Any,
    forecasts: Forecasts | ArrayForecasts | None,
    arguments: Mapping[str, object],
    configuration: Configuration | None = None,
) -> tuple[Evaluation, Sequence[str]]:
    """The evaluation, and the arguments that replace those of the configuration."""
    from scorereport.evaluation.dispatch import evaluate
    from scorereport.results.evaluation import Evaluation

    given = {**({} if forecasts is None else {"forecasts": forecasts}), **arguments}
    if isinstance(data, Evaluation):
        if given:
            raise UsageError(
                f"An evaluation has its forecasts and settings already; got {', '.join(given)} as well."
            )
        return data, ()
    configured = {} if configuration is None else configuration.arguments
    return evaluate(data, **{**configured, **given}), tuple(given)  # type: ignore[arg-type]
