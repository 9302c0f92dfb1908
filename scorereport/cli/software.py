"""`scorereport validate` and `scorereport r-setup`: this software held against others, and R for it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from scorereport.cli.command_output import Strict  # noqa: TC001  # typer reads annotations
from scorereport.cli.output import echo
from scorereport.errors import ExitCode


def validate(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the report.")] = Path(),
    cases: Annotated[int, typer.Option(min=1, help="Random cases that R is asked about.")] = 300,
    seed: Annotated[int | None, typer.Option(min=0, help="Where random numbers start.")] = None,
    strict: Strict = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> None:
    """Check this software on this machine against R, its peers and the papers; write validation-report.*."""
    from scorereport.cli.progress_display import show_progress
    from scorereport.cli.terminal import print_study
    from scorereport.reference.comparison_records import Verdict
    from scorereport.reliability.sampling import SEED
    from scorereport.report.report_output import write_study
    from scorereport.study.validation_study import run_study

    with show_progress(quiet=quiet):
        study = run_study(cases=cases, seed=SEED if seed is None else seed)
        written = write_study(study, output)
    print_study(study)
    echo(f"Written: {', '.join(map(str, written))}")
    if not study.passed:
        raise typer.Exit(ExitCode.CERTIFICATE_FAILED)
    is_partial = any(line.verdict is Verdict.ABSENT for s in study.sections for line in s.comparisons)
    if strict and is_partial:
        raise typer.Exit(ExitCode.WARNINGS)


def set_up_r(
    repository: Annotated[str, typer.Option(help="Address of another repository than CRAN.")] = "",
    again: Annotated[bool, typer.Option("--again", help="Install even if it is there.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Do not show what R says.")] = False,
) -> None:
    """Install the R package reliabilitydiag from CRAN into your own library, and say what was done."""
    from scorereport.reference.installing import install_package

    echo(install_package(repository=repository, again=again, quiet=quiet))
