"""The command line: arguments to functions, exit codes; nothing else.

Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper
from pathlib import Path  # noqa: TC003  # typer reads it at run time
from typing import Annotated

import typer

from scorereport.errors import ExitCode, ScoreReportError

#: What typer, as shells expect, ends with after an interrupt.
_INTERRUPTED = 130

app = typer.Typer(
    help="Show that a probabilistic classifier is good enough to be used.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        from scorereport import __version__

        typer.echo(f"scorereport {__version__}")
        raise typer.Exit


@app.command()
def score(  # noqa: PLR0913, PLR0917  # a command takes as many options as it has
    file: Annotated[Path, typer.Argument(help="Predictions: .csv, .csv.gz or .parquet.")],
    outcome: Annotated[str, typer.Option(help="Column of outcomes: 0/1, True/False or two labels.")],
    forecast: Annotated[list[str], typer.Option(help="Column of probabilities; repeat for more models.")],
    weight: Annotated[str | None, typer.Option(help="Column of case weights.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="Column of subgroups; repeat for more.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Column of clusters of dependent rows.")] = None,
    grade: Annotated[str | None, typer.Option(help="Column of rating grades.")] = None,
    time: Annotated[str | None, typer.Option(help="Column of dates.")] = None,
    window: Annotated[
        str | None, typer.Option(help='Periods of time: "year", "quarter", "month", "week" or "day".')
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The label that counts as the event.")] = None,
    missing: Annotated[str, typer.Option(help='Rows with missing values: "refuse" or "drop".')] = "refuse",
    cost_interval: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Cost ratios that matter, e.g. 0.05 0.2: adds bounded scores."),
    ] = None,
    level: Annotated[float, typer.Option(help="Probability with which intervals cover.")] = 0.95,
    band_level: Annotated[float, typer.Option(help="Probability with which bands cover.")] = 0.9,
    interval_method: Annotated[str, typer.Option(help='Bootstrap of scores: "bca" or "percentile".')] = "bca",
    resamples: Annotated[int, typer.Option(help="Samples to draw; 0 for no intervals and tests.")] = 1000,
    seed: Annotated[int | None, typer.Option(help="Where random numbers start.")] = None,
    smallest_group: Annotated[int, typer.Option(help="Smaller groups are counted, not scored.")] = 10,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results document instead of tables.")
    ] = False,
) -> None:
    """Print scores, skills, decompositions and tests of the forecasts in FILE, with their uncertainty."""
    from scorereport.evaluation import evaluate
    from scorereport.sampling import SEED
    from scorereport.terminal import print_evaluation, show_progress

    with show_progress(quiet=quiet):
        evaluation = evaluate(
            file,
            outcome=outcome,
            forecasts=forecast,
            weight=weight,
            group=group,
            cluster=cluster,
            grade=grade,
            time=time,
            window=window,
            positive=positive,
            missing=missing,
            cost_interval=cost_interval,
            level=level,
            band_level=band_level,
            interval_method=interval_method,
            resamples=resamples,
            seed=SEED if seed is None else seed,
            smallest_group=smallest_group,
        )
    if as_json:
        typer.echo(evaluation.to_json(), nl=False)
    else:
        print_evaluation(evaluation)


@app.command()
def demo(
    save: Annotated[Path | None, typer.Option(help="Also write the predictions to this .csv file.")] = None,
) -> None:
    """Fit three models to real data, hold out rows, print their tables."""
    from dataclasses import replace

    from scorereport import demo as data
    from scorereport.evaluation import evaluate
    from scorereport.files import write_text
    from scorereport.predictions import read_predictions
    from scorereport.terminal import print_evaluation, show_progress

    frame = data.make_demo_predictions()
    if save is not None:
        write_text(save, frame.to_csv(index=False))
    predictions = read_predictions(frame, outcome=data.OUTCOME, forecasts=data.FORECASTS, group=data.GROUP)
    with show_progress():
        evaluation = evaluate(replace(predictions, source=data.SOURCE), cost_interval=data.COST_INTERVAL)
    print_evaluation(evaluation)


def main() -> None:
    """Run the command line; a refusal is one line on stderr and its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ↑ or ∞ still gets its numbers
    try:
        app()
    except ScoreReportError as error:
        typer.echo(f"scorereport: {error}", err=True)
        sys.exit(error.exit_code)
    except OSError as error:
        typer.echo(f"scorereport: {error}", err=True)
        sys.exit(ExitCode.USAGE)
    except SystemExit as stop:  # typer makes one of an interrupt
        if stop.code == _INTERRUPTED:
            typer.echo("scorereport: interrupted.", err=True)
        raise
