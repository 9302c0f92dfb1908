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
def score(
    file: Annotated[Path, typer.Argument(help="Predictions: .csv, .csv.gz or .parquet.")],
    outcome: Annotated[str, typer.Option(help="Column of outcomes: 0/1, True/False or two labels.")],
    forecast: Annotated[list[str], typer.Option(help="Column of probabilities; repeat for more models.")],
    weight: Annotated[str | None, typer.Option(help="Column of case weights.")] = None,
    group: Annotated[list[str] | None, typer.Option(help="Column of subgroups; repeat for more.")] = None,
    positive: Annotated[str | None, typer.Option(help="The label that counts as the event.")] = None,
    missing: Annotated[str, typer.Option(help='Rows with missing values: "refuse" or "drop".')] = "refuse",
    cost_interval: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Cost ratios that matter, e.g. 0.05 0.2: adds bounded scores."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results document instead of tables.")
    ] = False,
) -> None:
    """Print scores, skills and decompositions of the forecasts in FILE."""
    from scorereport.evaluation import evaluate
    from scorereport.terminal import print_evaluation

    evaluation = evaluate(
        file,
        outcome=outcome,
        forecasts=forecast,
        weight=weight,
        group=group,
        positive=positive,
        missing=missing,
        cost_interval=cost_interval,
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
    from scorereport.terminal import print_evaluation

    frame = data.make_demo_predictions()
    if save is not None:
        write_text(save, frame.to_csv(index=False))
    predictions = read_predictions(frame, outcome=data.OUTCOME, forecasts=data.FORECASTS, group=data.GROUP)
    print_evaluation(evaluate(replace(predictions, source=data.SOURCE), cost_interval=data.COST_INTERVAL))


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
