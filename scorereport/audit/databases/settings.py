"""What a database is called in the configuration, and how long it is waited for."""

from __future__ import annotations

from scorereport.data.database_sessions import TIMEOUT_SECONDS

__all__ = ["DATABASE_KEY", "TIMEOUT_SECONDS", "TIME_LIMIT_KEY"]

DATABASE_KEY = "audit.source.database"
TIME_LIMIT_KEY = "audit.source.seconds"
