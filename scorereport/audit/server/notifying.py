"""Notifications about audits that did not happen: by the audit's own channels, without its history."""

from __future__ import annotations

from dataclasses import replace
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from scorereport._utils.exits import describe_error
from scorereport.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from scorereport.audit.plan import Plan


class Notifier:
    """Sends notifications in threads of their own, because a mail server may take minutes to answer."""

    def __init__(self, report: Callable[[Plan, str, list[str]], None]) -> None:
        self._report = report
        self._threads: list[Thread] = []

    def send(self, plan: Plan, moment: datetime, reason: str) -> None:
        """Notify the people that a configuration names; then report the reason and what went wrong."""
        self._threads = [thread for thread in self._threads if thread.is_alive()]
        thread = Thread(target=self._send, args=(plan, moment, reason), daemon=True)
        self._threads.append(thread)
        thread.start()

    def wait(self, seconds: float) -> None:
        """Wait for notifications that are under way, for this many seconds at most."""
        end = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - monotonic()))

    def _send(self, plan: Plan, moment: datetime, reason: str) -> None:
        try:
            problems = notify_missed(plan, moment, reason)
        except Exception as error:  # the server must outlive a notification that fails
            problems = [describe_error(error)]
        self._report(plan, reason, problems)


def wants_failure_notifications(plan: Plan) -> bool:
    """Whether a configuration names anybody who wants to know of audits that failed."""
    notify = plan.audit.notify
    return "failed" in notify.on and any((notify.command, notify.webhook, notify.email))


def notify_missed(plan: Plan, moment: datetime, reason: str) -> list[str]:
    """Notify people of a scheduled run that came to no result; gives what went wrong, a sentence each."""
    from scorereport._utils.clock import timestamp
    from scorereport.audit.after_run import notify_by_plan
    from scorereport.audit.drafting import begin_record
    from scorereport.configuration.periods import find_period

    local = moment.astimezone(plan.zone)
    period = find_period(plan.audit.window.period, local)
    draft = begin_record(plan, period, local, started=timestamp(), command="")
    hidden = plan.redactor.redact(reason)
    return notify_by_plan(plan, replace(draft, reason=hidden, exit_code=ExitCode.INTERNAL))
