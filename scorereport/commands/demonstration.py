"""`scorereport demo`: models of real data, from their fit to a report."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path  # noqa: TC003  # typer reads annotations
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.commands.invocation import describe_command
from scorereport.commands.output import echo

if TYPE_CHECKING:
    from types import ModuleType

    from scorereport.evaluation import Evaluation


def demo(
    ordinal: Annotated[bool, typer.Option("--ordinal", help="The example of seven ordered classes.")] = False,
    save: Annotated[Path | None, typer.Option(help="Also write the predictions to this .csv file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write a report as .pdf, .html and .json into this folder."),
    ] = None,
) -> None:
    """Fit models to real data, hold out rows, print their tables, and report on them."""
    from scorereport.evaluating import evaluate
    from scorereport.files import write_text
    from scorereport.terminal import print_evaluation
    from scorereport.watching import show_progress

    example = import_module(f"scorereport.{'ordinal_demo' if ordinal else 'demo'}")
    frame = example.make_demo_predictions()
    if save is not None:
        write_text(save, frame.to_csv(index=False))
    with show_progress():
        evaluation = evaluate(example.read_demo_predictions(frame), **example.SETTINGS)
    print_evaluation(evaluation)
    if output is not None:
        with show_progress():
            written = _report_demo(example, evaluation, output)
        echo(f"Written: {', '.join(map(str, written))}")


def _report_demo(example: ModuleType, evaluation: Evaluation, folder: Path) -> list[Path]:
    from scorereport.configuration import read_configuration
    from scorereport.reference.certifying import FEWEST_DRAWS, certify
    from scorereport.report.writing import prepare_report, write_pages

    folder.mkdir(parents=True, exist_ok=True)
    made = prepare_report(
        evaluation,
        certify(evaluation, draws=FEWEST_DRAWS),  # R draws slowly, and a demonstration is short
        read_configuration(example.CONFIGURATION),
        command=describe_command(),
        selection=example.choose_checkpoint(),
    )
    return write_pages(made, [folder / f"{example.REPORT_NAME}{end}" for end in (".pdf", ".html", ".json")])
