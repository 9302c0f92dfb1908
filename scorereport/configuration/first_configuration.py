"""A first configuration for a table: what was guessed of its columns, and everything else as suggestions.

A line that begins with "# " and a key is a suggestion: without these two characters it is valid. A line that
begins with "# or: " has another value of the key above it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from scorereport._utils.declarations import plain_help
from scorereport._utils.formatting import visible
from scorereport.channels import CHANNELS
from scorereport.configuration.audit_rules import check_audit_name, check_portable_name
from scorereport.configuration.audit_tables import AuditTable
from scorereport.configuration.configuration_source import write_key
from scorereport.configuration.configuration_tables import (
    DataTable,
    ModelTable,
    PeopleTable,
    ReportTable,
    TextTable,
)
from scorereport.configuration.documented_keys import list_help
from scorereport.configuration.evaluation_keys import EVALUATION_KEYS
from scorereport.configuration.limits_table import LimitsTable
from scorereport.configuration.measure_limits import MEASURES
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from scorereport.data.column_guesses import Guess

_WIDTH = 100
_LINK = re.compile(r"\[([^]]*)\]\([^)]*\)")
#: Suggested values of the keys of each table, in the order of the file; a person has to decide on them.
_EXAMPLES: dict[str, tuple[type, dict[str, object]]] = {
    "report": (
        ReportTable,
        {
            "title": "Validation of the model",
            "organisation": "Name of your organisation",
            "number": "MV-001",
            "version": "1.0",
            "confidentiality": "Internal",
            "purpose": "This report decides whether the model may stay in use.",
            "profile": "full",
        },
    ),
    "model": (
        ModelTable,
        {
            "name": "Name of the model",
            "version": "1.0",
            "owner": "Team that owns the model",
            "developer": "Team that developed the model",
            "intended_use": "The decision for which the forecasts are used.",
            "users": "Those who decide.",
            "out_of_scope": "Cases for which the model must not be used.",
        },
    ),
    "data": (
        DataTable,
        {
            "source": "System from which the rows were taken, and when",
            "period": "2025-01-01 to 2025-12-31",
            "population": "The population that the rows represent.",
            "outcome": "What counts as the event.",
            "horizon": "12 months",
        },
    ),
    "people": (
        PeopleTable,
        {
            "author": "Name of the author",
            "reviewer": {"name": "Name of the reviewer", "role": "Head of Model Validation"},
            "approver": {"name": "Name of the approver", "role": "Chief Risk Officer"},
        },
    ),
    "text": (
        TextTable,
        {
            "limitations": "What a reader must know about the data and the model.",
            "conclusion": "The conclusion of the author.",
            "data_quality": "How the quality of the data was checked, and what was found.",
            "overrides": "How often people overrode the forecasts, why, and with which effect.",
        },
    ),
}
#: Suggested limits by the number of classes: those of an event, and those of several classes.
_EVENT_LIMITS: dict[str, object] = {
    "brier_skill": {"warn": 0.05, "fail": 0.0},
    "brier_miscalibration": {"warn": 0.005, "fail": 0.01},
    "roc_auc": {"warn": 0.7, "fail": 0.65},
    "calibration_slope": {"min": 0.8, "max": 1.2},
}
_CLASS_LIMITS: dict[str, object] = {
    "multiclass_brier_skill": {"warn": 0.05, "fail": 0.0},
    "accuracy": {"warn": 0.6, "fail": 0.5},
}
#: Suggested settings of the evaluation that have no default value; others are suggested with theirs.
_SETTINGS: dict[str, object] = {"level": None, "resamples": 1000, "seed": None}
_EVENT_SETTINGS: dict[str, object] = {"cost_interval": [0.1, 0.5], "thresholds": [0.1, 0.2, 0.5]}
_CLASS_SETTINGS: dict[str, object] = {"ordered": True}
#: Suggested channels.
_CHANNELS: dict[str, object] = {
    "command": ["/usr/local/bin/notify-the-validator"],
    "webhook": {"url": "${CHAT_WEBHOOK}"},
    "email": {
        "host": "mail.example.com",
        "sender": "audits@example.com",
        "recipients": ["model-risk@example.com"],
        "user": "audits",
        "password": "${MAIL_PASSWORD}",
        "attach": ["pdf"],
    },
}
#: Keys of the tables below `[audit]` that are suggested, with their values; None stands for the default.
_AUDIT_EXAMPLES: dict[str, dict[str, object]] = {
    "comparison": {"audits": None, "alpha": None},
    "output": {"folder": None, "formats": None},
    "retention": {"days": 3650, "keep": None},
    "schedule": {"cron": "30 6 2 * *", "catch_up": "all"},
    "history": {"database": "postgresql://auditor:${HISTORY_PASSWORD}@db.example.com/audits"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditSource:
    """Where an audit finds its rows: a file relative to the configuration, or a table of a database."""

    name: str
    file: str = ""
    database: str = ""
    table: str = ""


def draft_report(guesses: Sequence[Guess], command: str) -> str:
    """Write the configuration of a report; `command` is the one that writes it, without secrets."""
    return _join([*_open(command, "report"), *_draft_tables(guesses)])


def draft_audit(guesses: Sequence[Guess], source: AuditSource, command: str) -> str:
    """Write the configuration of an audit; `command` is the one that writes it, without secrets."""
    return _join([*_open(command, "audit"), *_draft_audit_tables(guesses, source), *_draft_tables(guesses)])


def _join(lines: Sequence[str]) -> str:
    return "\n".join([*lines, ""])


def _open(command: str, what: str) -> Iterator[str]:
    yield from _comment(f"Configuration of {'an audit' if what == 'audit' else 'a report'}, written by:")
    yield from _comment(f"    {command}")
    yield from _comment(
        "Check what was guessed of the columns. Other keys are suggestions, whose values you have to decide "
        'on: remove "# " before a key to set it.'
    )


def _draft_tables(guesses: Sequence[Guess]) -> Iterator[str]:
    is_binary = not any(guess.key == "classes" for guess in guesses)
    yield from _draft_evaluation(guesses, is_binary=is_binary)
    yield from _draft_limits(is_binary=is_binary)
    for name, (table, examples) in _EXAMPLES.items():
        yield from _head(name)
        yield from _suggest(examples, list_help(table))


# ---- Parts of a file ----


def _comment(text: str) -> list[str]:
    """A comment of as many lines as it needs; names in it cannot end it."""
    plain = visible(text)
    space = plain[: len(plain) - len(plain.lstrip())]
    return [f"# {line}" for line in wrap(plain, _WIDTH - 2, subsequent_indent=space, break_on_hyphens=False)]


def _explain(sentence: str) -> list[str]:
    """The first sentence of a help as a comment."""
    first = _LINK.sub(r"\1", sentence).partition(". ")[0].removesuffix(".")
    return _comment(f"{first[0].upper()}{first[1:]}.")


def _head(table: str) -> list[str]:
    return ["", f"[{table}]"]


def _suggest(examples: Mapping[str, object], explanations: Mapping[str, str]) -> Iterator[str]:
    for key, value in examples.items():
        yield from _explain(explanations[key])
        yield f"# {write_key(key, value)}"


# ---- Tables ----


def _draft_evaluation(guesses: Sequence[Guess], *, is_binary: bool) -> Iterator[str]:
    yield from _head("evaluation")
    for guess in guesses:
        yield from _explain(plain_help(EVALUATION_KEYS[guess.key]))
        yield from _comment(f"Guessed: {guess.reason}." if guess.reason != "as given" else "As given.")
        yield write_key(guess.key, guess.value)
        for other in guess.others:
            added = (*guess.value, other) if isinstance(guess.value, tuple) else other
            yield f"# or: {write_key(guess.key, added)}"
    settings = _SETTINGS | (_EVENT_SETTINGS if is_binary else _CLASS_SETTINGS)
    examples = {
        key: EVALUATION_KEYS[key].default if value is None else value for key, value in settings.items()
    }
    yield from _suggest(examples, {key: plain_help(EVALUATION_KEYS[key]) for key in examples})


def _draft_limits(*, is_binary: bool) -> Iterator[str]:
    yield from _head("limits")
    yield from _comment("How good is good enough. Without limits, a report has no verdict.")
    yield from _suggest({"set_by": "Model Risk Committee"}, list_help(LimitsTable))
    limits = _EVENT_LIMITS if is_binary else _CLASS_LIMITS
    yield from _suggest(limits, {name: MEASURES[name].label for name in limits})


def _draft_audit_tables(guesses: Sequence[Guess], source: AuditSource) -> Iterator[str]:
    own = list_help(AuditTable)
    yield from _head("audit")
    yield from (*_explain(own["name"]), write_key("name", _name_audit(source.name)))
    yield from _suggest(
        {key: _find_default(AuditTable, key) for key in ("folder", "time_zone", "certify")}, own
    )
    yield from _draft_source(source)
    yield from _draft_window(guesses)
    for name, examples in _AUDIT_EXAMPLES.items():
        table = _find_table(name)
        shown = {key: _find_default(table, key) if v is None else v for key, v in examples.items()}
        yield from _head(f"audit.{name}")
        yield from _suggest(shown, list_help(table))
    yield from _draft_notifications()


def _find_table(name: str) -> type:
    """The type of a table below `[audit]`."""
    return type(_find_default(AuditTable, name))


def _find_default(table: type, key: str) -> Any:
    return getattr(table(), key)


def _draft_source(source: AuditSource) -> Iterator[str]:
    table = _find_table("source")
    help_of = list_help(table)
    yield from _head("audit.source")
    for key in (field.name for field in fields(table)):
        if value := getattr(source, key, ""):
            yield from (*_explain(help_of[key]), write_key(key, value))


def _draft_window(guesses: Sequence[Guess]) -> Iterator[str]:
    """The period; without a column of dates, every audit has all rows."""
    column = next((str(guess.value) for guess in guesses if guess.key == "time"), "")
    help_of = list_help(_find_table("window"))
    yield from _head("audit.window")
    if column:
        yield from (*_explain(help_of["column"]), write_key("column", column))
    else:
        yield from _suggest({"column": "name of the column of dates"}, help_of)
    yield from (*_explain(help_of["period"]), write_key("period", "all"))
    yield f"# or: {write_key('period', 'previous calendar month')}"


def _draft_notifications() -> Iterator[str]:
    table = _find_table("notify")
    yield from _head("audit.notify")
    yield from _suggest({"on": _find_default(table, "on")}, list_help(table))
    yield from _comment("${NAME} stands for the environment variable NAME: a secret is not stored in files.")
    for name, channel in CHANNELS.items():
        example = _CHANNELS.get(name)
        if example is not None:
            yield from (*_explain(channel.help), f"# {write_key(name, example)}")


def _name_audit(name: str) -> str:
    """A name that a folder can have on every system, from the name of a source."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-._")[:64].rstrip(".")
    try:
        return check_portable_name(check_audit_name(plain, "audit.name"), "audit.name")
    except UsageError:
        return "audit"
