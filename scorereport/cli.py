"""The command line: arguments to functions, exit codes; nothing else.

Everything heavy is imported inside the commands, so that `--help` answers at once.
"""

from __future__ import annotations

import atexit
import gc
import os
import shlex
import sys
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport.audit_commands import app as audit_app
from scorereport.errors import ExitCode, ScoreReportError, UsageError
from scorereport.interrupts import Stopped, stopped_by_signals
from scorereport.options import Request, on_predictions
from scorereport.redacting import Redactor, find_literal_secret

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType

    from scorereport.configuration import Configuration
    from scorereport.evaluation import Evaluation
    from scorereport.reference.certificate import Certificate
    from scorereport.report.record import Report

_NAME = "scorereport"
#: What typer, as shells expect, ends with after an interrupt.
_INTERRUPTED = 130

Config = Annotated[
    Path | None, typer.Option("--config", help="What data cannot tell, and the limits: a .toml file.")
]
Strict = Annotated[
    bool, typer.Option("--strict", help="Exit code 3 for warnings, open verdicts, and what is missing.")
]

app = typer.Typer(
    help="Show that a probabilistic classifier is good enough to be used.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


app.add_typer(audit_app, name="audit")


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
@on_predictions
def score(
    request: Request,
    config: Config = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the results document, with certificate and verdicts if any, instead of tables.",
        ),
    ] = False,
    strict: Strict = False,
) -> None:
    """Print scores, skills, decompositions and tests of the forecasts in FILE, with their uncertainty."""
    from scorereport.configuration import read_configuration
    from scorereport.report.provenance import trace
    from scorereport.report.record import make_report
    from scorereport.terminal import print_evaluation

    configuration = None if config is None else read_configuration(config)
    evaluation, certificate = request.evaluate(configuration)
    made = make_report(
        evaluation,
        trace(command=_command()),
        certificate=certificate,
        configuration=configuration,
        overridden=request.given,
    )
    is_bare = certificate is None and configuration is None
    if as_json:
        typer.echo(evaluation.to_json() if is_bare else made.to_json(), nl=False)
    else:
        print_evaluation(evaluation)
    _conclude_report(made, strict=strict)


def _check_names(outputs: list[Path]) -> list[Path]:
    """Refuse names before the work, not after it."""
    from scorereport.report.writing import check_name

    return [check_name(output) for output in outputs]


@app.command()
@on_predictions
def report(  # a command takes as many options as it has
    request: Request,
    output: Annotated[
        list[Path] | None,
        typer.Option("--output", "-o", help="The report: .pdf, .html or .json; repeat for more forms."),
    ] = None,
    config: Config = None,
    checkpoints: Annotated[
        Path | None,
        typer.Option(
            help="Show the choice among checkpoints: a file of their scores, or as [checkpoints] says."
        ),
    ] = None,
    source: Annotated[
        Path | None, typer.Option("--from", help="Render a results.json again, without the data.")
    ] = None,
    templates: Annotated[Path | None, typer.Option(help="Folder of templates of your own.")] = None,
    date: Annotated[
        str | None, typer.Option(help="Date of the report; the same date, the same bytes.")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(help="Sign the PDF with this .p12 file; password in SCOREREPORT_SIGN_PASSWORD."),
    ] = None,
    strict: Strict = False,
) -> None:
    """Write a report on the forecasts in FILE, with the R certificate if asked for, and judge its limits."""
    from scorereport.clock import fixed_time, read_time
    from scorereport.configuration import read_configuration
    from scorereport.report.writing import find_templates, write_pages
    from scorereport.watching import show_progress

    if source is not None and checkpoints is not None:
        raise UsageError("Give either --checkpoints or --from: results are rendered as they are.")
    outputs = _check_names(output or [Path("report.pdf")])
    signer = _open_signer(sign, outputs)
    time = None if date is None else read_time(date)
    with fixed_time(time):
        configuration = None if config is None else read_configuration(config)
        folder = find_templates(configuration, templates)
        made = (
            _report_on(request, configuration, folder, checkpoints)
            if source is None
            else _read_again(source, request, configuration, folder, time)
        )
    with show_progress(quiet=request.quiet):
        pages = write_pages(made, outputs, templates=folder, sign=signer)
    for written in pages:
        typer.echo(f"{written} written.{_tell_unsigned(written) if signer else ''}", err=True)
    _conclude_report(made, strict=strict)


def _tell_unsigned(written: Path) -> str:
    """What somebody has to know to compare a signed document with an unsigned one."""
    from scorereport.report.signing import unsigned_sha256

    if written.suffix.lower() != ".pdf":
        return ""
    return f" SHA-256 before it was signed: {unsigned_sha256(written.read_bytes())}."


def _report_on(
    request: Request, configuration: Configuration | None, templates: Path | None, checkpoints: Path | None
) -> Report:
    from scorereport.report.choosing import choose_checkpoint
    from scorereport.report.render import hash_templates
    from scorereport.report.writing import prepare_report

    hash_templates(templates)  # a folder that is not there is refused before the work
    asked = request.choose(configuration)
    selection = choose_checkpoint(
        configuration, checkpoints, classes=asked.get("classes"), normalize=asked.get("normalize", False)
    )
    evaluation, certificate = request.evaluate(configuration)
    return prepare_report(
        evaluation,
        certificate,
        configuration,
        templates=templates,
        command=_command(),
        overridden=request.given,
        selection=selection,
    )


def _read_again(
    source: Path,
    request: Request,
    configuration: Configuration | None,
    templates: Path | None,
    date: str | None,
) -> Report:
    from scorereport.report.provenance import trace
    from scorereport.report.record import configure_again, read_report
    from scorereport.report.render import hash_templates

    if request.file is not None or request.given or request.certify:
        raise UsageError("Give either FILE with its options, or --from: results are rendered as they are.")
    templates_sha256 = hash_templates(templates)
    made = read_report(source, templates_sha256=templates_sha256)
    if configuration is not None:
        provenance = trace(command=_command(), templates_sha256=templates_sha256)
        return configure_again(made, configuration, provenance)
    if date is not None and made.provenance.time != date:
        raise UsageError(f"These results have a date, {made.provenance.time}: --date cannot change it.")
    if made.provenance.templates_sha256 not in ("", templates_sha256):
        typer.echo("The templates are others than those of the results: the bytes will differ.", err=True)
    return made


def _open_signer(certificate: Path | None, outputs: list[Path]) -> Callable[[bytes], bytes] | None:
    """What signs a PDF; it is tried before the work, not after it."""
    if certificate is None:
        return None
    from scorereport.report.signing import open_signer, read_password
    from scorereport.report.writing import check_signed

    return open_signer(check_signed(certificate, outputs), password=read_password(certificate))


#: Options that say where and how to write, not what; with those that take a value.
_ABOUT_WRITING = {
    "--output": 1,
    "-o": 1,
    "--quiet": 0,
    "--sign": 1,
    "--date": 1,
    "--strict": 0,
    "--temporary-folder": 1,
}


def _command() -> str:
    """The command that was given, without what does not change the results, and without passwords."""
    words, kept = iter(sys.argv[1:]), [_NAME]
    for word in words:
        is_short = word.startswith("-o")  # which may have its value glued on
        name = word[:2] if is_short else word.partition("=")[0]
        if name not in _ABOUT_WRITING:
            kept.append(word)
        elif _ABOUT_WRITING[name] and word == name:
            next(words, None)
    return shlex.join(Redactor().redact(word) if find_literal_secret(word) else word for word in kept)


def _conclude_report(made: Report, *, strict: bool) -> None:
    """Tell the verdicts on limits and of the certificate on standard error, and by the exit code."""
    from scorereport.judging import exit_code
    from scorereport.terminal import print_verdict

    print_verdict(made.judgements, sys.stderr)
    _conclude(made.certificate, strict=False)
    code = exit_code(made.verdict, strict=strict)
    if code != ExitCode.DONE:
        raise typer.Exit(code)
    _conclude(made.certificate, strict=strict, silent=True)


def _conclude(certificate: Certificate | None, *, strict: bool, silent: bool = False) -> None:
    """Tell the verdict of a certificate on standard error, and by the exit code."""
    from scorereport.terminal import print_certificate

    if certificate is None:
        return
    if not silent:
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
    from scorereport.terminal import print_study
    from scorereport.watching import show_progress

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
    ordinal: Annotated[bool, typer.Option("--ordinal", help="The example of seven ordered classes.")] = False,
    save: Annotated[Path | None, typer.Option(help="Also write the predictions to this .csv file.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Also write a report as .pdf, .html and .json into this folder."),
    ] = None,
) -> None:
    """Fit models to real data, hold out rows, print their tables, and report on them."""
    from scorereport.evaluation import evaluate
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
        typer.echo(f"Written: {', '.join(map(str, written))}")


def _report_demo(example: ModuleType, evaluation: Evaluation, folder: Path) -> list[Path]:
    from scorereport.configuration import read_configuration
    from scorereport.reference.certifying import FEWEST_DRAWS, certify
    from scorereport.report.writing import prepare_report, write_pages

    folder.mkdir(parents=True, exist_ok=True)
    made = prepare_report(
        evaluation,
        certify(evaluation, draws=FEWEST_DRAWS),  # R draws slowly, and a demonstration is short
        read_configuration(example.CONFIGURATION),
        command=_command(),
        selection=example.choose_checkpoint(),
    )
    return write_pages(made, [folder / f"{example.REPORT_NAME}{end}" for end in (".pdf", ".html", ".json")])


def main() -> None:
    """Run the command line; a refusal is one line on stderr and its exit code."""
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal without ↑ or ∞ still gets its numbers
    code = _run()
    gc.collect()  # DuckDB complains of what outlives it, such as the frames of an error
    sys.exit(code)


def _hush() -> None:
    """Close standard error at the very end: DuckDB complains there of what a signal left to Python."""
    if "duckdb" in sys.modules:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)


def _run() -> int | str | None:
    """The exit code of the command that was given; what went wrong is told, and forgotten."""
    try:
        with stopped_by_signals():
            app()
    except ScoreReportError as error:
        typer.echo(f"scorereport: {error}", err=True)
        return error.exit_code
    except OSError as error:
        typer.echo(f"scorereport: {error}", err=True)
        return ExitCode.USAGE
    except Stopped as stop:
        typer.echo(f"scorereport: {stop.sentence}", err=True)
        atexit.register(_hush)
        return stop.code
    except SystemExit as stop:
        if stop.code == _INTERRUPTED:  # typer makes one of an interrupt
            typer.echo("scorereport: interrupted.", err=True)
        return stop.code
    return ExitCode.DONE
