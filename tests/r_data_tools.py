"""Files in R's serialization format, written byte by byte, so that they need no R.

A value of Python stands for a vector of R: a list of bools, ints, floats or texts (None for NA), an `R` for
anything with attributes. `Raw` is a sequence of bytes that is written as it is.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import struct
from dataclasses import dataclass, field

MISSING = struct.pack(">I", 0x80000000)
#: R marks its missing double by the number 1954 in the payload of a NaN.
MISSING_DOUBLE = struct.pack(">Q", 0x7FF00000000007A2)
NULL, SYMBOL, PAIRLIST, ENVIRONMENT, TEXT, LIST, REFERENCE = 254, 1, 2, 4, 9, 19, 255
GLOBAL, COMPACT = 253, 238
OBJECT, ATTRIBUTES, TAG = 1 << 8, 1 << 9, 1 << 10
LATIN1, UTF8, ASCII = 1 << 14, 1 << 15, 1 << 18


@dataclass
class R:
    """A vector or a list with attributes."""

    values: object
    attributes: dict = field(default_factory=dict)


class Raw(bytes):
    """Bytes that are written as they are."""


def number(value):
    return struct.pack(">i", value)


def text(value, encoding="utf-8"):
    if value is None:
        return number(TEXT) + number(-1)
    content = value.encode(encoding)
    flag = ASCII if value.isascii() else {"utf-8": UTF8, "latin-1": LATIN1}[encoding]
    return number(TEXT | flag) + number(len(content)) + content


def symbol(name):
    return number(SYMBOL) + text(name)


def pairlist(pairs):
    cells = b"".join(number(PAIRLIST | TAG) + symbol(tag) + item(value) for tag, value in pairs.items())
    return cells + number(NULL)


def vector(values):
    """The type of a vector, and its length and elements."""
    if isinstance(values, (tuple, dict)):
        items = values.values() if isinstance(values, dict) else values
        return LIST, number(len(items)) + b"".join(map(item, items))
    known = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in known):
        elements = (MISSING if value is None else number(value) for value in values)
        return 10, number(len(values)) + b"".join(elements)
    if all(isinstance(value, int) for value in known):
        elements = (MISSING if value is None else number(value) for value in values)
        return 13, number(len(values)) + b"".join(elements)
    if all(isinstance(value, float) for value in known):
        elements = (MISSING_DOUBLE if value is None else struct.pack(">d", value) for value in values)
        return 14, number(len(values)) + b"".join(elements)
    return 16, number(len(values)) + b"".join(map(text, values))


def item(value):
    if isinstance(value, Raw):
        return bytes(value)
    given = value if isinstance(value, R) else R(value)
    attributes = dict(given.attributes)
    if isinstance(given.values, dict):
        attributes = {"names": list(given.values)} | attributes
    kind, body = vector(given.values) if not isinstance(given.values, Raw) else (0, b"")
    flags = kind | (ATTRIBUTES if attributes else 0) | (OBJECT if "class" in attributes else 0)
    if isinstance(given.values, Raw):
        body, flags = bytes(given.values), None
    head = b"" if flags is None else number(flags)
    return head + body + (pairlist(attributes) if attributes else b"")


def data_frame(columns, *, rows=None, names=None, classes=("data.frame",)):
    """A data frame of columns by name, with row numbers in R's compact form."""
    first = next(iter(columns.values()), [])
    count = rows if rows is not None else len(first.values if isinstance(first, R) else first)
    attributes = {"class": list(classes), "row.names": [None, -count]}
    if names is not None:
        attributes["names"] = names
    return R(columns if names is None else tuple(columns.values()), attributes)


def factor(labels, levels, *, classes=("factor",)):
    codes = [None if label is None else levels.index(label) + 1 for label in labels]
    return R(codes, {"levels": levels, "class": list(classes)})


def header(version=3):
    encoding = number(5) + b"UTF-8" if version == 3 else b""
    return b"X\n" + number(version) + number(0x00040202) + number(0x00030500) + encoding


def write_rds(path, value, *, pack=bytes, version=3):
    path.write_bytes(pack(header(version) + item(value)))
    return path


def write_rdata(path, objects, *, pack=bytes):
    path.write_bytes(pack(b"RDX3\n" + header() + pairlist(objects)))
    return path


PACKINGS = {"plain": bytes, "gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}
