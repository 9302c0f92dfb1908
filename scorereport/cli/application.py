"""The application with all its commands; `demo`, `validate`, `r-setup` and `r-package` are defined here.

Modules that are slow to import are imported inside the commands, so that `--help` is fast.
"""

from __future__ import annotations

from importlib import import_module
from io import StringIO
from pathlib import Path  # typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from scorereport.cli.audit_state_commands import app as audit_app
from scorereport.cli.command_output import (
    Strict,  # typer reads annotations
    echo,
)
from scorereport.cli.documentation_command import docs
from scorereport.cli.init_commands import app as init_app
from scorereport.cli.report_commands import ProfileName, describe_command, report, score
from scorereport.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

    from scorereport.configuration.section_choice import SectionChoice
    from scorereport.data.predictions import ClassPredictions, Predictions
    from scorereport.reference.reference_documents import Certificate
    from scorereport.report.report_record import Report
    from scorereport.results.evaluation import Evaluation


#: Formats of the reports of a demonstration and of the validation study.
_ENDINGS = (".pdf", ".html", ".json")


def demo(
    ordinal: Annotated[
        bool, typer.Option("--ordinal", help="Use the example with seven ordered classes.")
    ] = False,
    save: Annotated[Path | None, typer.Option(help="Also write the predictions to this .csv file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write a report as .pdf, .html and .json into this folder."),
    ] = None,
    profile: ProfileName = None,
) -> None:
    """Fit models to public data, evaluate them on held-out rows, and print the tables."""
    from scorereport._utils.files import write_text
    from scorereport._utils.progress import report_stage, report_work
    from scorereport._utils.work_plan import Stage
    from scorereport.cli.progress_display import show_progress
    from scorereport.cli.terminal import print_evaluation
    from scorereport.configuration.section_choice import check_section_choice
    from scorereport.evaluation.dispatch import evaluate

    sections = check_section_choice(profile, None, "--")
    example = import_module(f"scorereport.examples.{'party_identification' if ordinal else 'doctor_visits'}")
    with show_progress():
        report_work(evaluates=True)
        report_stage(Stage.READING)
        frame = example.make_demo_predictions()
        if save is not None:
            write_text(save, frame.to_csv(index=False))
        predictions = example.read_demo_predictions(frame)
        if output is None:
            evaluation = evaluate(predictions, **example.SETTINGS)
        else:
            report, written = _write_demo_report(example, predictions, output, sections)
    if output is None:
        print_evaluation(evaluation)
    else:
        _print_demo_report(report, written)


def _print_demo_report(report: Report, written: Sequence[Path]) -> None:
    """Print the results, the files and, as the last line, who confirmed the numbers."""
    from scorereport.cli.terminal import print_results
    from scorereport.report.summary_page import describe_verification

    print_results(report)
    echo(f"Written: {', '.join(map(str, written))}")
    if report.certificate is not None:
        echo(describe_verification(report.certificate))


def _write_demo_report(
    example: ModuleType,
    predictions: Predictions | ClassPredictions,
    folder: Path,
    sections: SectionChoice,
) -> tuple[Report, list[Path]]:
    """Evaluate the models, write the report into the folder, and return it with its files."""
    from scorereport._utils.progress import report_work
    from scorereport.evaluation.dispatch import called_when_read, evaluate
    from scorereport.reference.certification import FEWEST_DRAWS, PendingCertificate
    from scorereport.report.report_output import write_pages

    report_work(formats=_ENDINGS)
    folder.mkdir(parents=True, exist_ok=True)
    # R draws slowly, and a demonstration should be short.
    with PendingCertificate(draws=FEWEST_DRAWS) as pending:
        with called_when_read(pending.start):
            evaluation = evaluate(predictions, **example.SETTINGS)
        report = _prepare_demo_report(example, evaluation, pending.complete(evaluation))
    paths = [folder / f"{example.REPORT_NAME}{ending}" for ending in _ENDINGS]
    return report, write_pages(report.with_sections(sections), paths)


def _prepare_demo_report(example: ModuleType, evaluation: Evaluation, certificate: Certificate) -> Report:
    from scorereport.configuration import read_configuration
    from scorereport.report.report_output import prepare_report

    return prepare_report(
        evaluation,
        certificate,
        read_configuration(example.CONFIGURATION),
        command=describe_command(),
        selection=example.choose_checkpoint(),
    )


def validate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report.")] = Path(),
    cases: Annotated[int, typer.Option(min=1, help="Number of random cases compared with R.")] = 300,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the random numbers.")] = None,
    strict: Strict = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Compare this installation with R, other packages and published results; write validation-report.*.

    A study that was ended continues where it stopped if it is started again with the same output folder.
    """
    from scorereport._utils.choices import SEED
    from scorereport._utils.progress import report_work
    from scorereport.cli.progress_display import show_progress
    from scorereport.cli.terminal import print_study
    from scorereport.reference.comparison_records import Verdict
    from scorereport.report.study_output import write_study
    from scorereport.study.case_records import remove_case_records
    from scorereport.study.validation_study import run_study

    with show_progress(quiet=quiet):
        report_work(formats=_ENDINGS, cases=cases)
        study = run_study(cases=cases, seed=SEED if seed is None else seed, folder=output)
        written = write_study(study, output)
        remove_case_records(output)
    print_study(study)
    echo(f"Written: {', '.join(map(str, written))}")
    if not study.passed:
        raise typer.Exit(ExitCode.CERTIFICATE_FAILED)
    is_partial = any(line.verdict is Verdict.ABSENT for s in study.sections for line in s.comparisons)
    if strict and is_partial:
        raise typer.Exit(ExitCode.WARNINGS)


def set_up_r(
    repository: Annotated[str, typer.Option(help="Address of a repository other than CRAN.")] = "",
    again: Annotated[
        bool, typer.Option("--again", help="Install the package even if it works already.")
    ] = False,
    system: Annotated[
        bool,
        typer.Option(
            "--system",
            help="First install what Debian or Ubuntu have ready-built, by apt-get as root or with sudo.",
        ),
    ] = False,
    at_most: Annotated[
        int | None, typer.Option(min=0, help="Give up if more packages than these would have to be built.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Install the R package reliabilitydiag from CRAN into a library of scorereport's own."""
    from functools import partial

    from scorereport.cli.progress_display import show_progress
    from scorereport.reference.r_setup import SetupRequest, install_package

    show = partial(show_progress, quiet=quiet, between=_SECONDS_BETWEEN_BUILDS)
    request = SetupRequest(repository=repository, again=again, system=system, most_builds=at_most)
    echo(install_package(request, show))


def install_r_package(
    library: Annotated[
        Path | None, typer.Option(help="Folder of the R library; by default the first that you may write.")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option(help="Copy the source of the package into this new folder instead of installing it."),
    ] = None,
) -> None:
    """Install the R package scorereport: R then evaluates data frames and models, and writes reports."""
    from scorereport.r_package import package_installation

    if library is not None and source is not None:
        raise UsageError("Give either --library or --source: a copy of the source is not installed.")
    copied = package_installation.copy_source(source) if source is not None else ""
    echo(copied or package_installation.install_r_package(library))


#: Seconds between two lines of progress of builds where there is no terminal.
_SECONDS_BETWEEN_BUILDS = 10.0
#: Exit code of typer after an interrupt, as shells expect.
_INTERRUPTED = 130

app = typer.Typer(
    help="Show that a probabilistic classifier is good enough to be used.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(audit_app, name="audit")
app.add_typer(init_app, name="init")
app.command("score")(score)
app.command("report")(report)
app.command("validate")(validate)
app.command("r-setup")(set_up_r)
app.command("r-package")(install_r_package)
app.command("demo")(demo)
app.command("docs")(docs)


@app.callback(invoke_without_command=True)
def _global_options(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
    debug: Annotated[  # noqa: ARG001  # `entry_point` reads it, because an error may occur before this runs
        bool, typer.Option("--debug", help="Show the traceback of an internal error.")
    ] = False,
    arguments: Annotated[  # noqa: ARG001  # `entry_point` reads it, because the file has the arguments
        Path | None,
        typer.Option(
            help="Take all arguments from this file, a JSON list of texts, and none from the command line: "
            "for programs that call this one."
        ),
    ] = None,
) -> None:
    if version:
        from scorereport._utils.version import package_version

        typer.echo(f"scorereport {package_version()}")
        raise typer.Exit


def run_command_line() -> int:
    """Run the command in `sys.argv` and return its exit code.

    Typer would end the process with exit code 1 for some errors, but 1 means that a limit is breached.
    """
    try:
        code: Any = app(standalone_mode=False)
    except typer.Abort as error:
        raise error.__cause__ or error from None
    except Exception as error:
        show = getattr(error, "show", None)  # the message of typer on wrong arguments
        if show is None:
            raise
        text = StringIO()
        show(text)
        echo(text.getvalue().rstrip("\n"), err=True)
        return ExitCode.USAGE
    if code == _INTERRUPTED:  # typer turns an interrupt into an exit
        raise KeyboardInterrupt
    return code if isinstance(code, int) else ExitCode.DONE
