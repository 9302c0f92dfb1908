"""Commands `scorereport score` and `scorereport report`, and the command line that reports state."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scorereport._utils.redaction import Redactor, find_literal_secret, find_passwords
from scorereport.cli.command_output import Strict, conclude_report, echo, load_terminal
from scorereport.cli.options import EvaluationRequest, with_prediction_options
from scorereport.cli.table_choice import (
    ALL,
    FINDINGS,
    LIST,
    choose_shown,
    make_chosen,
    print_names,
    table_advice,
)
from scorereport.errors import UsageError
from scorereport.report.output_formats import describe_formats, find_format

if TYPE_CHECKING:
    from collections.abc import Callable

    from scorereport.configuration import Configuration
    from scorereport.report.report_record import Report


_PROGRAM_NAME = "scorereport"
_DEFAULT_OUTPUT = Path("report.pdf")
#: Options that do not change the results, with the number of values that each takes.
_OUTPUT_OPTIONS = {
    "--output": 1,
    "-o": 1,
    "--quiet": 0,
    "--debug": 0,
    "--sign": 1,
    "--date": 1,
    "--strict": 0,
    "--junit": 1,
    "--show": 1,
    "--temporary-folder": 1,
    "--profile": 1,
    "--omit": 1,
    "--checklist": 1,
}


def describe_command() -> str:
    """Return the command line without passwords and without options that do not change the results."""
    arguments, kept = iter(sys.argv[1:]), [_PROGRAM_NAME]
    for argument in arguments:
        is_short = argument.startswith("-o")  # its value may follow without a space
        name = argument[:2] if is_short else argument.partition("=")[0]
        if name not in _OUTPUT_OPTIONS:
            kept.append(argument)
        elif _OUTPUT_OPTIONS[name] and argument == name:
            next(arguments, None)
    return shlex.join(
        Redactor(find_passwords(argument)).redact(argument) if find_literal_secret(argument) else argument
        for argument in kept
    )


Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="Configuration, a .toml file: settings, limits, and facts about model and data."
    ),
]


Junit = Annotated[
    Path | None,
    typer.Option(
        help="File of the verdicts for continuous integration, as JUnit XML: a test case for each limit and "
        "model, and one for the certificate."
    ),
]


@with_prediction_options
def score(
    request: EvaluationRequest,
    config: Config = None,
    show: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Print one table alone, such as scores or decompositions; all prints everything, and list "
            "the names. If FILE has no tables of its own, --table NAME does the same.",
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the results document instead of tables, with certificate and verdicts if any.",
        ),
    ] = False,
    junit: Junit = None,
    strict: Strict = False,
) -> None:
    """Print the findings on the forecasts in FILE, verdicts, and tables of scores with intervals."""
    from scorereport.configuration import read_configuration
    from scorereport.pipelines.junit import JunitFile

    request, shown = choose_shown(request, show)
    if shown and as_json:
        raise UsageError("Give either --show or --json: the document has the numbers of all tables.")
    if shown == LIST:
        print_names()
        return
    with JunitFile(junit) as verdicts, table_advice(request):
        configuration = None if config is None else read_configuration(config)
        verdicts.require(configuration, will_certify=request.certify)
        built = _evaluate_and_judge(request, configuration)
        verdicts.write(built, strict=strict)
    if as_json:
        is_bare = built.certificate is None and configuration is None
        typer.echo(built.evaluation.to_json() if is_bare else built.to_json(), nl=False)
    else:
        _print_shown(built, shown)
    conclude_report(built, strict=strict, is_shown=not as_json and shown in ("", ALL))


def _evaluate_and_judge(request: EvaluationRequest, configuration: Configuration | None) -> Report:
    from scorereport.cli.progress_display import show_progress
    from scorereport.report.provenance import trace_provenance
    from scorereport.report.report_record import build_report

    with show_progress(quiet=request.quiet):
        evaluation, certificate = request.evaluate(configuration)
    return build_report(
        evaluation,
        trace_provenance(command=describe_command()),
        certificate=certificate,
        configuration=configuration,
        overridden=request.given,
    )


def _print_shown(report: Report, shown: str) -> None:
    """Print the short form of the results, all of them, the findings, or one table."""
    from scorereport.cli.terminal import print_findings, print_results, print_tables

    if shown == FINDINGS:
        print_findings(report)
    elif shown in ("", ALL):
        print_results(report, everything=shown == ALL)
    else:
        print_tables(make_chosen(report.evaluation, shown))


Output = Annotated[
    list[Path] | None,
    typer.Option(
        "--output",
        "-o",
        help=f"File to write, by its ending: {describe_formats()}; repeat for more formats. An existing file "
        "is replaced. Without this option, report.pdf is written if there is none yet.",
    ),
]
Checkpoints = Annotated[
    Path | None,
    typer.Option(
        help="File of checkpoints, with their scores or with their predictions as set in [checkpoints]: "
        "adds the choice among them to the report."
    ),
]
Source = Annotated[
    Path | None,
    typer.Option("--from", help="Results document to render again, without the data: a .json file."),
]
ProfileName = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="How much a .pdf or .html contains: summary, standard or full; standard unless this option or "
        "the configuration names another.",
    ),
]
Omit = Annotated[
    list[str] | None,
    typer.Option(
        "--omit",
        metavar="NAME",
        help="Section to leave out of a .pdf or .html, such as groups; repeat for more. The configuration's "
        "`omit` then has no effect.",
    ),
]
ChecklistName = Annotated[
    list[str] | None,
    typer.Option(
        "--checklist",
        metavar="NAME",
        help="Checklist for the annex of a .pdf or .html: a name such as tripod-ai, or a .toml file; repeat "
        "for more. The configuration's `checklists` then has no effect.",
    ),
]
Templates = Annotated[Path | None, typer.Option(help="Folder with your own templates.")]
Date = Annotated[
    str | None, typer.Option(help="Date of the report; the same input and date give the same bytes.")
]
Sign = Annotated[
    Path | None,
    typer.Option(
        help="Certificate that signs the PDF, a .p12 file; its password is in SCOREREPORT_SIGN_PASSWORD."
    ),
]


@with_prediction_options
def report(  # noqa: PLR0913, PLR0917  # each argument is an option
    request: EvaluationRequest,
    output: Output = None,
    config: Config = None,
    checkpoints: Checkpoints = None,
    source: Source = None,
    profile: ProfileName = None,
    omit: Omit = None,
    checklist: ChecklistName = None,
    templates: Templates = None,
    date: Date = None,
    sign: Sign = None,
    junit: Junit = None,
    strict: Strict = False,
) -> None:
    """Write a report on the forecasts in FILE and judge the limits of the configuration."""
    from scorereport.configuration import read_configuration
    from scorereport.configuration.section_choice import check_section_choice
    from scorereport.report.page_process import preparing_pages

    if source is not None and checkpoints is not None:
        raise UsageError(
            "Give either --checkpoints or --from: with --from, results are rendered as they are."
        )
    sections = check_section_choice(profile, omit or None, "--", checklists=checklist or None)
    outputs = output or [_choose_default()]
    with preparing_pages(outputs):  # before the imports that only this process needs
        from scorereport._utils.clock import fixed_time, read_time
        from scorereport._utils.progress import report_work
        from scorereport.cli.progress_display import show_progress
        from scorereport.pipelines.junit import JunitFile
        from scorereport.report.report_output import check_name, find_templates, write_pages

        outputs = [check_name(path) for path in outputs]  # before the evaluation, not after it
        signer = _open_signer(sign, outputs)
        time = None if date is None else read_time(date)

        def announce(written: Path) -> None:
            echo(f"{written} written.{_describe_unsigned_hash(written) if signer else ''}", err=True)

        with JunitFile(junit) as verdicts, show_progress(quiet=request.quiet):
            report_work(formats=tuple(find_format(path).ending for path in outputs))
            with fixed_time(time):
                configuration = None if config is None else read_configuration(config)
                if source is None:
                    verdicts.require(configuration, will_certify=request.certify)
                folder = find_templates(configuration, templates)
                prepared = (
                    _evaluate_and_prepare(request, configuration, folder, checkpoints)
                    if source is None
                    else _read_results(source, request, configuration, folder, time)
                )
            shown = prepared.with_sections(sections)
            write_pages(
                shown, outputs, templates=folder, sign=signer, announce=announce, meanwhile=load_terminal
            )
            verdicts.write(prepared, strict=strict)
        conclude_report(prepared, strict=strict, with_summary=True)


def _choose_default() -> Path:
    """Return the file of a report without `-o`; an existing one is replaced only if it is named."""
    if _DEFAULT_OUTPUT.exists():
        raise UsageError(
            f"{_DEFAULT_OUTPUT} exists already. To fix: name the file to write with -o; -o {_DEFAULT_OUTPUT} "
            "replaces this one."
        )
    return _DEFAULT_OUTPUT


def _open_signer(certificate: Path | None, outputs: list[Path]) -> Callable[[bytes], bytes] | None:
    """Return the function that signs a PDF; refuse a certificate that cannot sign before the evaluation."""
    if certificate is None:
        return None
    from scorereport.report.report_output import check_signed
    from scorereport.report.signatures import open_signer, read_password

    return open_signer(check_signed(certificate, outputs), password=read_password(certificate))


def _evaluate_and_prepare(
    request: EvaluationRequest,
    configuration: Configuration | None,
    templates: Path | None,
    checkpoints: Path | None,
) -> Report:
    from scorereport.report.checklists import read_checklists
    from scorereport.report.report_output import prepare_report, select_checkpoint
    from scorereport.report.templates import hash_templates

    hash_templates(templates)  # refuses a missing folder before the evaluation
    if configuration is not None:
        read_checklists(configuration)  # refuses an unknown list, likewise
    chosen = request.choose(configuration)
    selection = select_checkpoint(
        configuration, checkpoints, classes=chosen.get("classes"), normalize=chosen.get("normalize", False)
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

    if request.file is not None or request.options or request.certify:
        raise UsageError(
            "Give either FILE with its options, or --from: with --from, results are rendered as they are."
        )
    templates_sha256 = hash_templates(templates)
    recorded = read_report(source, templates_sha256=templates_sha256)
    if configuration is not None:
        provenance = trace_provenance(command=describe_command(), templates_sha256=templates_sha256)
        return reconfigure_report(recorded, configuration, provenance)
    if date is not None and recorded.provenance.time != date:
        raise UsageError(
            f"These results have the date {recorded.provenance.time}, which --date cannot change."
        )
    if recorded.provenance.templates_sha256 not in ("", templates_sha256):
        typer.echo("The templates differ from those of the results: the bytes will differ.", err=True)
    return recorded


def _describe_unsigned_hash(written: Path) -> str:
    """State the hash of a PDF before it was signed, to compare it with an unsigned one."""
    from scorereport.report.signatures import unsigned_sha256

    if written.suffix.lower() != ".pdf":
        return ""
    return f" SHA-256 before it was signed: {unsigned_sha256(written.read_bytes())}."
