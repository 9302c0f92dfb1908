"""Numbers, lengths, transforms and paths of SVG, in the small part of it that figures use, for a PDF."""

from __future__ import annotations

import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xml.etree import ElementTree

#: CSS pixels in a unit of length.
_PIXELS = {"pt": 4 / 3, "px": 1.0, "": 1.0}
_LENGTH = re.compile(r"([\d.]+)(pt|px|)")
_SEGMENT = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_STEP = re.compile(r"\s*(translate|scale|rotate)\(([^()]*)\)\s*")
_NUMBER_SEPARATOR = re.compile(r"[\s,]+")
NUMBER = re.compile(r"-?\d+\.?\d*")
#: Operators of path commands whose operands are the same in a PDF, and the number of these operands.
_SAME_IN_PDF = {"M": ("m", 2), "L": ("l", 2), "C": ("c", 6)}

Matrix = tuple[float, float, float, float, float, float]
IDENTITY: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class OtherSvgError(ValueError):
    """A picture with something that figures do not have."""


def match_all(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    """Match a whole text; refuse one that differs."""
    found = pattern.fullmatch(text)
    if found is None:
        raise OtherSvgError(text)
    return found


def read_numbers(text: str) -> list[str]:
    """Return the numbers of a list, as they are written."""
    return [match_all(NUMBER, part)[0] for part in _NUMBER_SEPARATOR.split(text.strip())]


def read_length(text: str) -> float:
    """Return a length in CSS pixels."""
    number, unit = match_all(_LENGTH, text).groups()
    return float(number) * _PIXELS[unit]


def format_plain_number(value: float) -> str:
    """Format a number for a PDF, which knows no exponents."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def format_matrix(matrix: Matrix) -> bytes:
    """Return the operator that applies a matrix; nothing for the identity."""
    return b"" if matrix == IDENTITY else f"{' '.join(map(format_plain_number, matrix))} cm".encode()


def read_transform(node: ElementTree.Element) -> Matrix:
    """Return the matrix of the `transform` of an element."""
    text = node.get("transform")
    if not text:
        return IDENTITY
    matrix, end = IDENTITY, 0
    while step := _STEP.match(text, end):
        matrix = multiply(matrix, _read_step(step[1], list(map(float, read_numbers(step[2])))))
        end = step.end()
    if end != len(text):
        raise OtherSvgError(text)
    return matrix


def _read_step(name: str, numbers: list[float]) -> Matrix:
    match name, numbers:
        case "translate", [x, y]:
            return (1.0, 0.0, 0.0, 1.0, x, y)
        case "scale", [x]:
            return (x, 0.0, 0.0, x, 0.0, 0.0)
        case "scale", [x, y]:
            return (x, 0.0, 0.0, y, 0.0, 0.0)
        case "rotate", [degrees]:
            cosine, sine = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
            return (cosine, sine, -sine, cosine, 0.0, 0.0)
    raise OtherSvgError(name)


def multiply(outer: Matrix, inner: Matrix) -> Matrix:
    """Return the matrix that applies `inner` first, and then `outer`."""
    a, b, c, d, e, f = outer
    g, h, i, j, k, m = inner
    return (
        a * g + c * h,
        b * g + d * h,
        a * i + c * j,
        b * i + d * j,
        a * k + c * m + e,
        b * k + d * m + f,
    )


@lru_cache(maxsize=2048)
def translate_path(path: str) -> bytes:
    """Translate a path of absolute commands; a quadratic curve becomes the cubic one of the same shape."""
    parts: list[str] = []
    end = ["0", "0"]
    for command, text in _SEGMENT.findall(path):
        numbers = read_numbers(text) if text.strip() else []
        if command == "z" and not numbers:
            parts.append("h ")
        elif command == "Q" and len(numbers) == 4:
            parts.append(f"{_raise_degree(end, numbers)} c ")
            end = numbers[2:]
        else:
            operator, count = _SAME_IN_PDF[command]
            if len(numbers) != count:
                raise OtherSvgError(path)
            parts.append(f"{' '.join(numbers)} {operator} ")
            end = numbers[-2:]
    return "".join(parts).encode()


def _raise_degree(start: list[str], numbers: list[str]) -> str:
    """Return the operands of the cubic curve that equals a quadratic one."""
    x0, y0, x1, y1, x2, y2 = map(float, (*start, *numbers))
    points = (
        x0 + 2 / 3 * (x1 - x0),
        y0 + 2 / 3 * (y1 - y0),
        x2 + 2 / 3 * (x1 - x2),
        y2 + 2 / 3 * (y1 - y2),
        x2,
        y2,
    )
    return " ".join(map(_format_short, points))


def _format_short(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
