"""The options that commands on predictions share, and the evaluation they ask for.

Options that were not given are None: the configuration fills them, or else `evaluate` does.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.configuration import Configuration
    from scorereport.evaluation import Evaluation
    from scorereport.reference.certificate import Certificate

#: Without these there is nothing to evaluate.
_NEEDED = {"file": "argument 'FILE'", "outcome": "option '--outcome'", "forecast": "option '--forecast'"}
#: Options that `evaluate` takes by another name, or not at all.
_RENAMED = {"forecast": "forecasts", "threshold": "thresholds"}
_OWN = ("file", "certify", "quiet")


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a command line asks of an evaluation."""

    file: Annotated[Path | None, typer.Argument(help="Predictions: .csv, .csv.gz or .parquet.")] = None
    outcome: Annotated[
        str | None, typer.Option(help="Column of outcomes: 0/1, True/False or two labels.")
    ] = None
    forecast: Annotated[
        list[str] | None, typer.Option(help="Column of probabilities; repeat for more models.")
    ] = None
    weight: Annotated[str | None, typer.Option(help="Column of case weights.")] = None
    group: Annotated[list[str] | None, typer.Option(help="Column of subgroups; repeat for more.")] = None
    cluster: Annotated[str | None, typer.Option(help="Column of clusters of dependent rows.")] = None
    grade: Annotated[str | None, typer.Option(help="Column of rating grades.")] = None
    time: Annotated[str | None, typer.Option(help="Column of dates.")] = None
    window: Annotated[
        str | None, typer.Option(help='Periods of time: "year", "quarter", "month", "week" or "day".')
    ] = None
    positive: Annotated[str | None, typer.Option(help="The label that counts as the event.")] = None
    missing: Annotated[
        str | None, typer.Option(help='Rows with missing values: "refuse" (default) or "drop".')
    ] = None
    cost_interval: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Cost ratios that matter, e.g. 0.05 0.2: adds bounded scores."),
    ] = None
    threshold: Annotated[
        list[float] | None, typer.Option(help="Threshold of decisions to be tabled; repeat for more.")
    ] = None
    level: Annotated[
        float | None, typer.Option(help="Probability with which intervals cover (default 0.95).")
    ] = None
    band_level: Annotated[
        float | None, typer.Option(help="Probability with which bands cover (default 0.9).")
    ] = None
    interval_method: Annotated[
        str | None, typer.Option(help='Bootstrap of scores: "bca" (default) or "percentile".')
    ] = None
    resamples: Annotated[
        int | None, typer.Option(help="Samples to draw (default 1000); 0 for no intervals and tests.")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Where random numbers start.")] = None
    smallest_group: Annotated[
        int | None, typer.Option(help="Smaller groups are counted, not scored (default 10).")
    ] = None
    certify: Annotated[bool, typer.Option("--certify", help="Hold the numbers against R on these data.")] = (
        False
    )
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, by the names that `evaluate` has for them."""
        values = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in _OWN}
        return {_RENAMED.get(name, name): value for name, value in values.items() if value not in (None, [])}

    def evaluate(self, configuration: Configuration | None = None) -> tuple[Evaluation, Certificate | None]:
        """The evaluation asked for, options before configuration, and its certificate if asked for."""
        from scorereport.evaluation import evaluate
        from scorereport.terminal import show_progress

        for name, option in _NEEDED.items():
            if not getattr(self, name):
                raise UsageError(f"Missing {option}.")
        chosen = self.given if configuration is None else _merge(self.given, configuration)
        with show_progress(quiet=self.quiet):
            evaluation = evaluate(self.file, **chosen)
            return evaluation, _certify(evaluation) if self.certify else None


def _merge(given: dict[str, Any], configuration: Configuration) -> dict[str, Any]:
    """What was given before what the configuration asks for; they are checked before the work begins."""
    from scorereport.configuration import Asked, check_request

    asked = configuration.evaluation
    chosen = asked.settings | ({"group": list(asked.groups)} if asked.groups else {}) | given
    will_be = Asked(
        models=given["forecasts"],
        has_costs="cost_interval" in chosen,
        has_line=chosen.get("resamples") != 0,
        has_groups="group" in chosen,
    )
    check_request(configuration, will_be)
    return chosen


def _certify(evaluation: Evaluation) -> Certificate:
    from scorereport.reference.certifying import certify

    return certify(evaluation)


def on_predictions(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an evaluation, as a `Request`, beside its own."""
    shared = _list_options(Request)
    own = _list_options(command)

    @wraps(command)
    def run(**given: Any) -> None:
        command(Request(**{name: given.pop(name) for name in shared}), **given)

    options = {**shared, **own}
    run.__signature__ = Signature(list(options.values()))  # type: ignore[attr-defined]
    run.__annotations__ = {name: option.annotation for name, option in options.items()}
    return run


def _list_options(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters that typer is to make options of: those with an annotation for it."""
    kinds = get_type_hints(function, include_extras=True)
    return {
        name: parameter.replace(annotation=kinds[name], kind=Parameter.KEYWORD_ONLY)
        for name, parameter in signature(function).parameters.items()
        if hasattr(kinds[name], "__metadata__")
    }
