"""Work in a process of its own, with limits on its time and memory: what it says, or how it failed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

#: What processes say that were refused memory: Python, numpy, C++ and R.
_OUT_OF_MEMORY = (
    "MemoryError",
    "Unable to allocate",
    "bad_alloc",
    "cannot allocate",
    "annot allocate memory",
)
_ERROR = re.compile(r"([\w.]*(Error|Exception)\b|Error\b|terminate called)")
#: Ends by a signal that follow where a library does not check what it was given.
_KILLED = (-6, -9, -11, 134, 137, 139)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Seconds that the work took, the most memory its process ever held, and what else it said."""

    seconds: float
    held: int
    said: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong, "time", "memory" or "error", and a sentence that says more."""

    kind: str
    reason: str


def run_apart(command: Sequence[str | Path], *, seconds: float, memory: int | None = None) -> Run | Failure:
    """Run a command whose last line is a JSON object with `seconds` and `held`, in bytes.

    `memory` limits the addresses that the process may have, not only what it holds.
    """
    limited = command if memory is None else _limit(command, memory)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(
            limited, capture_output=True, text=True, timeout=seconds, check=False, env=environment
        )
    except subprocess.TimeoutExpired:
        return Failure(kind="time", reason=f"It was not ready after {seconds:g} s.")
    if done.returncode != 0:
        return _explain(done)
    said = json.loads(done.stdout.splitlines()[-1])
    return Run(seconds=said.pop("seconds"), held=said.pop("held"), said=said)


def run_work(module: str, *arguments: object, seconds: float, memory: int | None = None) -> Run | Failure:
    """Run a module of the benchmarks by this Python."""
    command = [sys.executable, "-m", f"validation.benchmarks.{module}", *map(str, arguments)]
    return run_apart(command, seconds=seconds, memory=memory)


def must(run: Run | Failure) -> Run:
    """A run that may not fail."""
    if isinstance(run, Failure):
        raise RuntimeError(run.reason)
    return run


def _limit(command: Sequence[str | Path], memory: int) -> list[str | Path]:
    return ["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(memory // 1024), *command]


def _explain(done: subprocess.CompletedProcess[str]) -> Failure:
    """The kind of a failure by what was said, and the last error that was told."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [at for at, line in enumerate(lines) if _ERROR.match(line)]
    told = lines[errors[-1] :] if errors else lines[-1:]
    reason = " ".join(told[: 2 if told[:1] and told[0].endswith(":") else 1])
    is_memory = any(sign in done.stderr for sign in _OUT_OF_MEMORY) or done.returncode in _KILLED
    return Failure(
        kind="memory" if is_memory else "error", reason=reason or f"It ended with {done.returncode}."
    )
