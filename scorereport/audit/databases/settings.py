"""What a database is called in the configuration, and how long it is waited for."""

from __future__ import annotations

from scorereport.data.database_sessions import PATIENCE

__all__ = ["KEY", "PATIENCE", "TIME_KEY"]

KEY = "audit.source.database"
TIME_KEY = "audit.source.seconds"
