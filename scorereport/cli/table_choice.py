"""The choice of what `scorereport score` prints: the value of `--show`, or of `--table` for some files."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import replace
from typing import IO, TYPE_CHECKING

from scorereport._utils.suggestions import suggest_name
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport.cli.options import EvaluationRequest
    from scorereport.report.tables.table import Table
    from scorereport.results.evaluation import Evaluation

#: Values of `--show` that are not names of tables, with what each prints.
ALL, LIST, FINDINGS = "all", "list", "findings"
_OTHERS = {
    FINDINGS: "the findings in sentences",
    ALL: "findings, all tables and notes",
    LIST: "this list",
}


def choose_shown(request: EvaluationRequest, show: str | None) -> tuple[EvaluationRequest, str]:
    """Return the request, and the checked value of `--show`; empty for the short form.

    For a source without tables of its own, `--table` may name a table of the results.
    """
    table = request.options.get("table", "")
    if show is None and _is_known(table) and not _may_have_tables(request.file or ""):
        rest = {name: value for name, value in request.options.items() if name != "table"}
        return replace(request, options=rest), _spell(table)
    if show is None:
        return request, ""
    if not _is_known(show):
        raise _refuse_name(show)
    return request, _spell(show)


def make_chosen(evaluation: Evaluation, shown: str) -> list[Table]:
    """Return the tables with a name; refuse a name of which the evaluation has none."""
    from scorereport.report.tables.short_tables import list_table_names
    from scorereport.report.tables.table_catalogue import find_table

    declared = find_table(shown)
    tables = [] if declared is None else declared.make(evaluation)
    if not tables and declared is not None:
        raise UsageError(
            f"These results have no table `{shown}`, which needs {declared.needs}. They have "
            f"{', '.join(list_table_names(evaluation))}."
        )
    return tables


def print_names(file: IO[str] | None = None) -> None:
    """Print what `--show` takes, a line for each name."""
    from scorereport.cli.terminal import print_tables
    from scorereport.report.tables.table import Table
    from scorereport.report.tables.table_catalogue import CATALOGUE

    rows = [(table.name, table.contents, table.needs) for table in CATALOGUE]
    rows += [(name, contents, "") for name, contents in _OTHERS.items()]
    heads = ("NAME", "what is printed", "only with")
    names = Table(caption="Names that --show takes", heads=heads, rows=tuple(rows), n_labels=len(heads))
    print_tables([names], file)


def _list_names() -> list[str]:
    from scorereport.report.tables.table_catalogue import CATALOGUE

    return [*(table.name for table in CATALOGUE), *_OTHERS]


def _is_known(name: str) -> bool:
    return _spell(name) in _list_names()


def _spell(name: str) -> str:
    return name.lower().replace("_", "-")


def _refuse_name(name: str) -> UsageError:
    """Print all names on standard error, and return an error with the one that was probably meant."""
    print_names(sys.stderr)
    meant = suggest_name(_spell(name), _list_names())
    hint = f" Did you mean `{meant}`?" if meant else ""
    return UsageError(f"`--show` must be one of the names above; got {name!r}.{hint}")


def _may_have_tables(file: str) -> bool:
    """Whether a source may have tables or sheets of its own, which `--table` names."""
    from scorereport.data.sources import find_file_kind, is_command_address

    if is_command_address(file):
        return True
    kind = find_file_kind(file)
    return kind is not None and (kind.takes_table or bool(kind.part))


@contextmanager
def table_advice(request: EvaluationRequest) -> Iterator[None]:
    """Add how to print a table of the results to the refusal of `--table` for a source without tables."""
    try:
        yield
    except UsageError as error:
        refusal = _describe_refusal(request.file, request.options.get("table"))
        if str(error) != refusal or refusal == _describe_refusal(request.file, None):
            raise
        raise UsageError(f"{error} To print one table of the results, give --show NAME.") from error


def _describe_refusal(file: str | None, table: str | None) -> str:
    """Return why a source is refused together with a table; empty if it is not."""
    from scorereport.data.sources import locate_source

    try:
        locate_source(file or "", table)
    except UsageError as error:
        return str(error)
    return ""
