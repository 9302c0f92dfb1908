"""The command line: arguments to functions, exit codes; nothing else.

Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from functools import wraps
from inspect import Parameter, Signature, signature
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from scorereport.errors import ExitCode, ScoreReportError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.evaluation import Evaluation
    from scorereport.reference.certificate import Certificate

#: What typer, as shells expect, ends with after an interrupt.
_INTERRUPTED = 130

Strict = Annotated[bool, typer.Option("--strict", help="Exit code 3 if something is missing.")]

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


def _evaluate_file(  # noqa: PLR0913, PLR0917  # a command takes as many options as it has
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
    certify: Annotated[
        bool, typer.Option("--certify", help="Hold the numbers against R on these data.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> tuple[Evaluation, Certificate | None]:
    from scorereport.evaluation import evaluate
    from scorereport.sampling import SEED
    from scorereport.terminal import show_progress

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
        return evaluation, _certify(evaluation) if certify else None


def _certify(evaluation: Evaluation) -> Certificate:
    from scorereport.reference.certifying import certify

    return certify(evaluation)


def _on_predictions(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of an evaluation, and then the evaluation with its certificate."""
    shared, own = _options(_evaluate_file), _options(command)

    @wraps(command)
    def run(**given: Any) -> None:
        evaluation, certificate = _evaluate_file(**{name: given.pop(name) for name in shared})
        command(evaluation, certificate, **given)

    parameters = [*shared.values(), *own.values()]
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _options(function: Callable[..., Any]) -> dict[str, Parameter]:
    """The parameters that typer is to make options of: those with a default or an annotation for it."""
    later = {"Evaluation": object, "Certificate": object}  # not imported before they are needed
    kinds = get_type_hints(function, localns=later, include_extras=True)
    return {
        name: parameter.replace(annotation=kinds[name])
        for name, parameter in signature(function).parameters.items()
        if hasattr(kinds[name], "__metadata__")
    }


@app.command()
@_on_predictions
def score(
    evaluation: Evaluation,
    certificate: Certificate | None,
    as_json: Annotated[
        bool,
        typer.Option("--json", help="Print the results document, with any certificate, instead of tables."),
    ] = False,
    strict: Strict = False,
) -> None:
    """Print scores, skills, decompositions and tests of the forecasts in FILE, with their uncertainty."""
    from scorereport.terminal import print_evaluation

    if as_json:
        typer.echo(_document(evaluation, certificate), nl=False)
    else:
        print_evaluation(evaluation)
    _conclude(certificate, strict=strict)


def _document(evaluation: Evaluation, certificate: Certificate | None) -> str:
    from scorereport.report.writing import render_json

    return evaluation.to_json() if certificate is None else render_json(evaluation, certificate)


def _check_name(output: Path) -> Path:
    """Refuse a name before the work, not after it."""
    from scorereport.report.writing import check_name

    return check_name(output)


@app.command()
@_on_predictions
def report(
    evaluation: Evaluation,
    certificate: Certificate | None,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The report: .pdf, .html or .json.", callback=_check_name)
    ] = Path("report.pdf"),
    strict: Strict = False,
) -> None:
    """Write a report on the forecasts in FILE, with the R certificate if asked for."""
    from scorereport.report.writing import write_report

    write_report(evaluation, output, certificate=certificate)
    typer.echo(f"{output} written.", err=True)
    _conclude(certificate, strict=strict)


def _conclude(certificate: Certificate | None, *, strict: bool) -> None:
    """Tell the verdict of a certificate on standard error, and by the exit code."""
    from scorereport.terminal import print_certificate

    if certificate is None:
        return
    print_certificate(certificate, sys.stderr)
    if certificate.verdict == "failed":
        raise typer.Exit(ExitCode.CERTIFICATE_FAILED)
    if certificate.verdict == "not certified" and strict:
        raise typer.Exit(ExitCode.WARNINGS)


@app.command()
def validate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report.")] = Path(),
    cases: Annotated[int, typer.Option(min=1, help="Random cases that R is asked about.")] = 300,
    seed: Annotated[int | None, typer.Option(min=0, help="Where random numbers start.")] = None,
    strict: Strict = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Check this software on this machine against R, its peers and the papers; write validation-report.*."""
    from scorereport.comparison import Verdict
    from scorereport.report.writing import write_study
    from scorereport.sampling import SEED
    from scorereport.study.studying import run_study
    from scorereport.terminal import print_study, show_progress

    with show_progress(quiet=quiet):
        study = run_study(cases=cases, seed=SEED if seed is None else seed)
        written = write_study(study, output)
    print_study(study)
    typer.echo(f"Written: {', '.join(map(str, written))}")
    if not study.passed:
        raise typer.Exit(ExitCode.CERTIFICATE_FAILED)
    is_partial = any(line.verdict is Verdict.ABSENT for s in study.sections for line in s.comparisons)
    if strict and is_partial:
        raise typer.Exit(ExitCode.WARNINGS)


@app.command("r-setup")
def set_up_r(
    repository: Annotated[str, typer.Option(help="Address of another repository than CRAN.")] = "",
    again: Annotated[bool, typer.Option("--again", help="Install even if it is there.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show what R says.")] = False,
) -> None:
    """Install the R package reliabilitydiag from CRAN into your own library, and say what was done."""
    from scorereport.reference.installing import install_package

    typer.echo(install_package(repository=repository, again=again, quiet=quiet))


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
