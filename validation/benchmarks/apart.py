"""Work in a separate process, with limits on time and memory: its output, or how it failed."""

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

#: Error messages of Python, numpy, C++ and R when memory is refused.
_OUT_OF_MEMORY = (
    "MemoryError",
    "Unable to allocate",
    "bad_alloc",
    "cannot allocate",
    "annot allocate memory",
)
_ERROR = re.compile(r"([\w.]*(Error|Exception)\b|Error\b|terminate called)")
#: Exit codes after signals, as when a library does not check its allocations.
_KILLED = (-6, -9, -11, 134, 137, 139)


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Seconds that the work took, the peak memory of its process, and the rest of its output."""

    seconds: float
    held: int
    output: dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """The kind of failure, "time", "memory" or "error", and a sentence with the reason."""

    kind: str
    reason: str


def run_apart(command: Sequence[str | Path], *, seconds: float, memory: int | None = None) -> Run | Failure:
    """Run a command whose last line is a JSON object with `seconds` and `held`, in bytes.

    `memory` limits the address space of the process, not only the memory that it uses.
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
    output = json.loads(done.stdout.splitlines()[-1])
    return Run(seconds=output.pop("seconds"), held=output.pop("held"), output=output)


def run_work(module: str, *arguments: object, seconds: float, memory: int | None = None) -> Run | Failure:
    """Run a module of the benchmarks with this Python."""
    command = [sys.executable, "-m", f"validation.benchmarks.{module}", *map(str, arguments)]
    return run_apart(command, seconds=seconds, memory=memory)


def require_success(run: Run | Failure) -> Run:
    """Return the run; raise if it failed."""
    if isinstance(run, Failure):
        raise RuntimeError(run.reason)
    return run


def _limit(command: Sequence[str | Path], memory: int) -> list[str | Path]:
    return ["sh", "-c", 'ulimit -v "$0" && exec "$@"', str(memory // 1024), *command]


def _explain(done: subprocess.CompletedProcess[str]) -> Failure:
    """Return the kind of failure, by the messages of the process, and its last error."""
    lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
    errors = [at for at, line in enumerate(lines) if _ERROR.match(line)]
    last = lines[errors[-1] :] if errors else lines[-1:]
    reason = " ".join(last[: 2 if last[:1] and last[0].endswith(":") else 1])
    is_memory = any(sign in done.stderr for sign in _OUT_OF_MEMORY) or done.returncode in _KILLED
    return Failure(
        kind="memory" if is_memory else "error", reason=reason or f"It ended with {done.returncode}."
    )
