"""Daily digests that a server sends when the day of an audit is over, in its time zone."""

from __future__ import annotations

from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING

from scorereport._utils.exits import describe_error
from scorereport.audit.digests import SentDigests, has_due_digest, send_digests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from scorereport.audit.plan import Plan

#: After how many seconds a digest is tried again that a channel did not accept.
RETRY_SECONDS = 900.0


class DigestSender:
    """Sends due digests in one thread, because a mail server may take minutes to answer."""

    def __init__(self, report: Callable[[Plan, SentDigests], None]) -> None:
        self._report = report
        self._thread: Thread | None = None
        self._not_before: dict[str, float] = {}

    def send_due(self, plans: Iterable[Plan], now: datetime) -> None:
        """Send the digests of days that are over, unless that is done already or failed a while ago."""
        if self._thread is not None and self._thread.is_alive():
            return
        due = [plan for plan in plans if self._is_due(plan, now)]
        if due:
            self._thread = Thread(target=self._send, args=(due, now), daemon=True, name="digests")
            self._thread.start()

    def _is_due(self, plan: Plan, now: datetime) -> bool:
        if plan.audit.notify.digest != "daily" or monotonic() < self._not_before.get(plan.name, 0.0):
            return False
        try:
            return has_due_digest(plan, now.astimezone(plan.zone).date())
        except OSError as error:
            self._conclude(plan, SentDigests(counts={}, problems=[describe_error(error)]))
            return False

    def _send(self, plans: list[Plan], now: datetime) -> None:
        for plan in plans:
            try:
                sent = send_digests(plan, now.astimezone(plan.zone).date())
            except Exception as error:  # the server must outlive a notification that fails
                sent = SentDigests(counts={}, problems=[describe_error(error)])
            self._conclude(plan, sent)

    def _conclude(self, plan: Plan, sent: SentDigests) -> None:
        if sent.problems:
            self._not_before[plan.name] = monotonic() + RETRY_SECONDS
        if sent.problems or sent.counts:
            self._report(plan, sent)
