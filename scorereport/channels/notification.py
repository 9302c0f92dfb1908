"""Notification of an audit: its content, its secrets, its time limits, and descriptions of errors."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NotRequired, TypedDict

from scorereport._utils.formatting import one_line
from scorereport._utils.redaction import find_variables
from scorereport.errors import DataError, UsageError

#: Time limits in seconds: for a command, for a server that is silent, and for a whole channel.
COMMAND_LIMIT = 60.0
SILENCE_LIMIT = 10.0
TOTAL_LIMIT = 90.0
#: Pauses between the attempts to reach a webhook, in seconds.
RETRY_PAUSES = (1.0, 4.0)
#: Formats of the report of an audit; its files may be attached.
FORMATS = ("pdf", "html", "json")


@dataclass(frozen=True, slots=True)
class SecretReader:
    """Reads values of a channel's table, and collects those that are secret.

    `table` is the key of the table, to which the keys in calls are added for messages.
    """

    expand: Callable[[str, str], str]
    table: str = ""
    secrets: list[str] = field(default_factory=list, repr=False)

    def read(self, text: str, key: str) -> str:
        """Return a value; only its environment variables are secret."""
        value = self.expand(text, f"{self.table}.{key}")
        self.secrets.extend(os.environ.get(name, "") for name in find_variables(text))
        return value

    def read_secret(self, text: str, key: str) -> str:
        """Return a value that is secret as a whole, without spaces around it."""
        value = self.read(text, key).strip()
        self.secrets.append(value)
        return value


class OutcomePeriod(TypedDict):
    """The period of an audit: its label, its first day, None if it has none, and the day after its last."""

    label: str
    start: str | None
    end: str


class OutcomeRecord(TypedDict):
    """The record of an audit in the history."""

    id: int
    sha256: str


class OutcomeHead(TypedDict):
    """The chain head after an audit, which `audit verify --head` accepts, and the fingerprint of its key."""

    id: int
    sha256: str
    key: str


class OutcomeSummary(TypedDict):
    """The first page of the report in sentences."""

    verdict: str
    fitness: list[str]
    findings: list[str]
    actions: list[str]
    missing: list[str]
    basis: list[str]


class Outcome(TypedDict):
    """The outcome of an audit, as it is sent: a sentence for each limit not met and for each drift.

    `subject` is the outcome in one line, `text` the whole message. `findings` are the three most important
    sentences of the summary, `link` is the page of the audit on the web site or the path of its report.
    `summary` is the first page of the report, None if there is no report. `record` is None for a failure that
    could not be recorded, and so is `head`, which is an anchor of the history in a mail box. `event` is
    present only if the record is not of a run: "key" for a key that was added. `certificate` is present only
    if R was asked: its verdict. `alarms` is present only if the history needs attention, and `limit_changes`
    only if limits differ from those of the audit before, a clause for each.
    """

    subject: str
    text: str
    audit: str
    period: OutcomePeriod
    as_of: str
    status: str
    exit_code: int
    reason: str
    findings: list[str]
    link: str
    summary: OutcomeSummary | None
    judgements: list[str]
    drifts: list[str]
    record: OutcomeRecord | None
    head: OutcomeHead | None
    files: list[str]
    event: NotRequired[str]
    certificate: NotRequired[str]
    alarms: NotRequired[list[str]]
    limit_changes: NotRequired[list[str]]


class DailyDigest(TypedDict):
    """The outcomes of all audits of a day, as they are sent: the worst first, whose status is `status`.

    `digest` is the day, or the first and the last one if earlier days could not be sent.
    """

    subject: str
    text: str
    digest: str
    status: str
    exit_code: int
    outcomes: list[Outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class Notification:
    """The outcome of an audit or of a day, files that may be attached, the folder of the configuration.

    `variables` are set for commands.
    """

    outcome: Outcome | DailyDigest
    files: Sequence[Path] = ()
    folder: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> bytes:
        """The outcome as JSON."""
        return json.dumps(self.outcome, ensure_ascii=False).encode("utf-8", "replace")


def list_variables(outcome: Outcome) -> dict[str, str]:
    """Return the variables that a command gets with the outcome of an audit."""
    return {
        "AUDIT": outcome["audit"],
        "STATUS": outcome["status"],
        "PERIOD": outcome["period"]["label"],
        "RECORD": str(outcome["record"]["id"]) if outcome["record"] else "",
        "EXIT_CODE": str(outcome["exit_code"]),
        "DIGEST": "",
    }


def list_digest_variables(digest: DailyDigest) -> dict[str, str]:
    """Return the variables that a command gets with a digest: those of one audit are empty."""
    return {
        "AUDIT": "",
        "STATUS": digest["status"],
        "PERIOD": "",
        "RECORD": "",
        "EXIT_CODE": str(digest["exit_code"]),
        "DIGEST": digest["digest"],
    }


def describe_channel_error(error: BaseException) -> str:
    """Describe an error on one line, with its class unless it is an error of this package."""
    text = one_line(str(error))
    if isinstance(error, UsageError | DataError):
        return text
    if isinstance(error, UnicodeError):  # its message would quote the text, which may be secret
        return "a name, an address or a password has characters that cannot be sent."
    return f"{type(error).__name__}: {text}" if text else f"{type(error).__name__}."
