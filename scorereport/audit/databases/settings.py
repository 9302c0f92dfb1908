"""What a database is called in the configuration, and how long it is waited for."""

from __future__ import annotations

KEY = "audit.source.database"
TIME_KEY = "audit.source.seconds"
#: Seconds that a server has to answer, and a locked SQLite file to become free.
PATIENCE = 15
