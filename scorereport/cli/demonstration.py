"""`scorereport demo`: models of real data, from their fit to a report."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path  # noqa: TC003  # typer reads annotations
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.cli.invocation import describe_command
from scorereport.cli.output import echo

if TYPE_CHECKING:
    from types import ModuleType

    from scorereport.results.evaluation import Evaluation


def demo(
    ordinal: Annotated[bool, typer.Option("--ordinal", help="The example of seven ordered classes.")] = False,
    save: Annotated[Path | None, typer.Option(help="Also write the predictions to this .csv file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write a report as .pdf, .html and .json into this folder."),
    ] = None,
) -> None:
    """Fit models to real data, hold out rows, print their tables, and report on them."""
    from scorereport._utils.scorereport_files import write_text
    from scorereport.cli.progress_display import show_progress
    from scorereport.cli.terminal import print_evaluation
    from scorereport.evaluation.dispatch import evaluate

    example = import_module(f"scorereport.examples.{'party_identification' if ordinal else 'doctor_visits'}")
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
    from scorereport.reference.certification import FEWEST_DRAWS, certify
    from scorereport.report.report_output import prepare_report, write_pages

    folder.mkdir(parents=True, exist_ok=True)
    made = prepare_report(
        evaluation,
        certify(evaluation, draws=FEWEST_DRAWS),  # R draws slowly, and a demonstration is short
        read_configuration(example.CONFIGURATION),
        command=describe_command(),
        selection=example.choose_checkpoint(),
    )
    return write_pages(made, [folder / f"{example.REPORT_NAME}{end}" for end in (".pdf", ".html", ".json")])
