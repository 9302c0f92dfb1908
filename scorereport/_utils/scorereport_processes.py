"""Processes that lead a group of their own, and how they are ended with all that they started."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


def kill_process_group(process: subprocess.Popen[bytes]) -> None:
    """End a process that leads a group of its own, and all that it started, at once."""
    with suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
