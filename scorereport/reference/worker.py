"""R inside this process, by rpy2: `python -m scorereport.reference.worker FOLDER TOKEN SOURCE...`.

It is started by `r_session.Session` only. If rpy2 does not load, every answer states the reason. Output of R
goes to standard output, which is not read as an answer.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.reference.exchange import Vector, read_vectors, write_vectors

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Answer = Callable[..., dict[str, Vector]]


def main(folder: str, token: str, *sources: str) -> None:
    """Answer the requests whose numbers are read from standard input."""
    answer = start_r(sources)
    for line in sys.stdin:
        number = line.strip()
        request = read_vectors(Path(folder, f"{number}.request"))
        write_vectors(Path(folder, f"{number}.answer"), answer(**request))
        sys.stdout.write(f"\n{token} {number}\n")
        sys.stdout.flush()


def start_r(sources: Sequence[str]) -> Answer:
    """The function `answer` of the R sources; if R does not start, a function that returns the reason."""
    stage = "rpy2"
    try:
        r = import_module("rpy2.rinterface")
        stage = "R"
        function = _load(r, sources)
        versions = _versions()
    except BaseException as error:  # an incompatible library may raise anything
        problem = {"error": [f"{type(error).__name__}: {error}"], "stage": [_stage(error, stage)]}
        return lambda **_: dict(problem)

    def ask(**request: Vector) -> dict[str, Vector]:
        answer = function(**{name: _to_r(r, vector) for name, vector in request.items()})
        return {**versions, **dict(zip(answer.names, map(_from_r, answer), strict=True))}

    return ask


def _versions() -> dict[str, Vector]:
    """The versions of the distributions of rpy2; before 3.6 there was only one."""
    found: dict[str, Vector] = {}
    for name in ("rpy2", "rpy2-rinterface", "rpy2-robjects"):
        with suppress(PackageNotFoundError):
            found[name] = [version(name)]
    return found


def _load(r: Any, sources: Sequence[str]) -> Any:
    """Read the sources in an environment whose parent is base R, so that a profile has no effect."""
    r.initr()
    code = r.baseenv["new.env"](parent=r.baseenv)
    for path in sources:
        r.baseenv["sys.source"](r.StrSexpVector([path]), envir=code)
    return code["answer"]


def _stage(error: BaseException, stage: str) -> str:
    """The cause of a failure: rpy2 is missing, is incompatible ("misfit"), or R does not start."""
    if stage == "R":
        return "start"
    is_missing = isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("rpy2")
    return "missing" if is_missing else "misfit"


def _to_r(r: Any, vector: Vector) -> Any:
    if isinstance(vector, list):
        return r.StrSexpVector(vector)
    return r.FloatSexpVector.from_memoryview(np.ascontiguousarray(vector).data)


def _from_r(vector: Any) -> Vector:
    if type(vector).__name__ == "StrSexpVector":
        return [str(text) for text in vector]
    return np.array(vector.memoryview() if len(vector) else [], dtype=np.float64)


if __name__ == "__main__":
    main(*sys.argv[1:])
