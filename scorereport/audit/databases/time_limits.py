"""How long a database may take for its answer, so that one that hangs does not hold up all audits."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sqlalchemy import Connection

#: SQLite looks at the clock after so many of its steps, many times in a second.
_STEPS_BETWEEN_CHECKS = 100_000
#: The longest time in milliseconds that PostgreSQL knows: 24 days.
_MAX_MILLISECONDS = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TimeLimit:
    """So many seconds, from now on."""

    seconds: int
    start: float = field(default_factory=monotonic)

    @property
    def is_over(self) -> bool:
        """Whether the time has passed."""
        return monotonic() - self.start >= self.seconds

    def impose(self, connection: Connection) -> None:
        """Let the database end what takes longer; a limit of the server itself stays if it is shorter."""
        from sqlalchemy import text

        if connection.dialect.name == "sqlite":
            driver: Any = connection.connection.driver_connection
            driver.set_progress_handler(lambda: self.is_over, _STEPS_BETWEEN_CHECKS)
            return
        known = text("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'")
        shortest = min(
            1000 * self.seconds, int(connection.scalar(known) or 0) or _MAX_MILLISECONDS, _MAX_MILLISECONDS
        )
        limit = text("SELECT set_config('statement_timeout', :limit, true)")
        connection.execute(limit, {"limit": str(shortest)})
