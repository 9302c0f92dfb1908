"""How long the telling of an outcome may take, in seconds."""

from __future__ import annotations

#: That a command may take, that a server may be silent, and that any way of telling may take in all.
COMMAND_LIMIT = 60.0
SILENCE_LIMIT = 10.0
TOTAL_LIMIT = 90.0
#: Between the tries to reach a webhook.
RETRY_PAUSES = (1.0, 4.0)
