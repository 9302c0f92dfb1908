"""Commands `scorereport score` and `scorereport report`, and the command line as reports state it."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport._utils.redaction import Redactor, find_literal_secret, find_passwords
from scorereport.cli.command_output import Strict, conclude_report, echo
from scorereport.cli.options import EvaluationRequest, with_prediction_options
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.configuration import Configuration
    from scorereport.report.report_record import Report


_PROGRAM_NAME = "scorereport"
#: Options that say where and how to write, not what; with those that take a value.
_OUTPUT_OPTIONS = {
    "--output": 1,
    "-o": 1,
    "--quiet": 0,
    "--debug": 0,
    "--sign": 1,
    "--date": 1,
    "--strict": 0,
    "--temporary-folder": 1,
}


def describe_command() -> str:
    """The command that was given, without what does not change the results, and without passwords."""
    words, kept = iter(sys.argv[1:]), [_PROGRAM_NAME]
    for word in words:
        is_short = word.startswith("-o")  # which may have its value glued on
        name = word[:2] if is_short else word.partition("=")[0]
        if name not in _OUTPUT_OPTIONS:
            kept.append(word)
        elif _OUTPUT_OPTIONS[name] and word == name:
            next(words, None)
    return shlex.join(
        Redactor(find_passwords(word)).redact(word) if find_literal_secret(word) else word for word in kept
    )


Config = Annotated[
    Path | None, typer.Option("--config", help="What data cannot tell, and the limits: a .toml file.")
]


@with_prediction_options
def score(
    request: EvaluationRequest,
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
    from scorereport.cli.terminal import print_evaluation
    from scorereport.configuration import read_configuration
    from scorereport.report.provenance import trace_provenance
    from scorereport.report.report_record import build_report

    configuration = None if config is None else read_configuration(config)
    evaluation, certificate = request.evaluate(configuration)
    made = build_report(
        evaluation,
        trace_provenance(command=describe_command()),
        certificate=certificate,
        configuration=configuration,
        overridden=request.given,
    )
    is_bare = certificate is None and configuration is None
    if as_json:
        typer.echo(evaluation.to_json() if is_bare else made.to_json(), nl=False)
    else:
        print_evaluation(evaluation)
    conclude_report(made, strict=strict)


@with_prediction_options
def report(  # a command takes as many options as it has
    request: EvaluationRequest,
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
    from scorereport._utils.clock import fixed_time, read_time
    from scorereport.cli.progress_display import show_progress
    from scorereport.configuration import read_configuration
    from scorereport.report.report_output import find_templates, write_pages

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
            else _read_results(source, request, configuration, folder, time)
        )
    with show_progress(quiet=request.quiet):
        pages = write_pages(made, outputs, templates=folder, sign=signer)
    for written in pages:
        echo(f"{written} written.{_print_unsigned_hash(written) if signer else ''}", err=True)
    conclude_report(made, strict=strict)


def _check_names(outputs: list[Path]) -> list[Path]:
    """Refuse names before the work, not after it."""
    from scorereport.report.report_output import check_name

    return [check_name(output) for output in outputs]


def _open_signer(certificate: Path | None, outputs: list[Path]) -> Callable[[bytes], bytes] | None:
    """What signs a PDF; it is tried before the work, not after it."""
    if certificate is None:
        return None
    from scorereport.report.report_output import check_signed
    from scorereport.report.signatures import open_signer, read_password

    return open_signer(check_signed(certificate, outputs), password=read_password(certificate))


def _report_on(
    request: EvaluationRequest,
    configuration: Configuration | None,
    templates: Path | None,
    checkpoints: Path | None,
) -> Report:
    from scorereport.report.report_output import prepare_report, select_checkpoint
    from scorereport.report.templates import hash_templates

    hash_templates(templates)  # a folder that is not there is refused before the work
    asked = request.choose(configuration)
    selection = select_checkpoint(
        configuration, checkpoints, classes=asked.get("classes"), normalize=asked.get("normalize", False)
    )
    evaluation, certificate = request.evaluate(configuration)
    return prepare_report(
        evaluation,
        certificate,
        configuration,
        templates=templates,
        command=describe_command(),
        overridden=request.given,
        selection=selection,
    )


def _read_results(
    source: Path,
    request: EvaluationRequest,
    configuration: Configuration | None,
    templates: Path | None,
    date: str | None,
) -> Report:
    from scorereport.report.provenance import trace_provenance
    from scorereport.report.report_record import read_report, reconfigure_report
    from scorereport.report.templates import hash_templates

    if request.file is not None or request.given or request.certify:
        raise UsageError("Give either FILE with its options, or --from: results are rendered as they are.")
    templates_sha256 = hash_templates(templates)
    made = read_report(source, templates_sha256=templates_sha256)
    if configuration is not None:
        provenance = trace_provenance(command=describe_command(), templates_sha256=templates_sha256)
        return reconfigure_report(made, configuration, provenance)
    if date is not None and made.provenance.time != date:
        raise UsageError(f"These results have a date, {made.provenance.time}: --date cannot change it.")
    if made.provenance.templates_sha256 not in ("", templates_sha256):
        typer.echo("The templates are others than those of the results: the bytes will differ.", err=True)
    return made


def _print_unsigned_hash(written: Path) -> str:
    """What somebody has to know to compare a signed document with an unsigned one."""
    from scorereport.report.signatures import unsigned_sha256

    if written.suffix.lower() != ".pdf":
        return ""
    return f" SHA-256 before it was signed: {unsigned_sha256(written.read_bytes())}."
