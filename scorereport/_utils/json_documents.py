"""Records as JSON documents: written, read back equal, and described by a JSON Schema.

JSON has no infinity and no NaN; they are written as the strings "Infinity", "-Infinity" and "NaN".
"""

from __future__ import annotations

import json
import math
from dataclasses import Field, fields, is_dataclass
from functools import cache
from inspect import cleandoc
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from scorereport.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import TypeAdapter

_T = TypeVar("_T")
#: Whole numbers with more digits are too large for floating point.
_MOST_DIGITS = 308
_LONGEST_SHOWN = 60


def encode(value: Any) -> Any:
    """Convert a record to plain JSON values, with the derived numbers that its class names in `DERIVED`.

    Fields that the class names in `OPTIONAL` are left out if they have their default, None or an empty tuple,
    so that documents that were written before the class had them stay the same.
    """
    if is_dataclass(value):
        return {name: encode(item) for name, item in _list_items(value)}
    if isinstance(value, dict):
        return {str(key): encode(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [encode(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        is_plain = value.dtype.kind in "biu" or (value.dtype.kind == "f" and bool(np.isfinite(value).all()))
        return value.tolist() if is_plain else encode(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def _list_items(record: Any) -> Iterator[tuple[str, Any]]:
    """Yield the fields and derived numbers of a record that are written."""
    for field in fields(record):
        if not _is_left_out(record, field):
            yield field.name, getattr(record, field.name)
    for name in getattr(record, "DERIVED", ()):
        yield name, getattr(record, name)


def _is_left_out(record: Any, field: Field[Any]) -> bool:
    if field.name not in getattr(record, "OPTIONAL", ()):
        return False
    item = getattr(record, field.name)
    return item is None if field.default is None else isinstance(item, tuple) and not item


def dump(value: Any, written: Mapping[str, str] | None = None) -> str:
    """Write a record as JSON text; the same record gives the same bytes.

    `written` holds the texts of some of its fields, which were dumped before.
    """
    if not written:
        return f"{_write(encode(value))}\n"
    items = (
        f"{_write(name)}:{written[name].rstrip() if name in written else _write(encode(item))}"
        for name, item in _list_items(value)
    )
    return f"{{{','.join(items)}}}\n"


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def check_version(text: bytes, version: int, name: str) -> None:
    """Refuse documents of another version, or nested too deeply, before their structure is checked."""
    try:
        found = json.loads(text, parse_int=_parse_int, parse_float=_parse_float).get("version", version)
    except RecursionError:
        raise DataError(f"{name} cannot be read: its lists and objects are nested too deeply.") from None
    except OverflowError:
        raise DataError(f"{name} cannot be read: it holds a number too large for floating point.") from None
    except (ValueError, AttributeError):
        return  # not a document; `load` will refuse it
    if found != version:
        shown = str(found)[:_LONGEST_SHOWN]
        raise DataError(f"{name} has version {shown}; this scorereport reads version {version}.")


def _parse_int(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise OverflowError
    return int(digits)


def _parse_float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):  # infinity is written as text, so this number is too large
        raise OverflowError
    return value


def has_field(text: bytes, name: str) -> bool:
    """Whether a document has a field; True for a text that is not a document, which `load` refuses."""
    try:
        return name in json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return True


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def load(kind: type[_T], text: str | bytes, name: str) -> _T:
    """Read a record back from JSON text."""
    from pydantic import ValidationError

    try:
        return _adapter(kind).validate_json(text)  # type: ignore[arg-type]  # classes can be hashed
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "the document"
        more = f" ({error.error_count()} problems)" if error.error_count() > 1 else ""
        raise DataError(
            f"{name} is not a valid {kind.__name__.lower()} document: {place}: {first['msg']}{more}."
        ) from error


def json_schema(kind: type, title: str) -> dict[str, Any]:
    """Return the JSON Schema of a record's document."""
    from pydantic import TypeAdapter
    from pydantic.json_schema import GenerateJsonSchema

    class Schema(GenerateJsonSchema):
        def float_schema(self, schema: Any) -> dict[str, Any]:
            return {"anyOf": [super().float_schema(schema), {"enum": ["Infinity", "-Infinity", "NaN"]}]}

        def dataclass_schema(self, schema: Any) -> dict[str, Any]:
            described = super().dataclass_schema(schema)
            described["description"] = cleandoc(schema["cls"].__doc__)  # older pydantic leaves it out
            for name in getattr(schema["cls"], "DERIVED", ()):
                described["properties"][name] = {
                    "title": name.title(),
                    **self.float_schema({"type": "float"}),
                }
            return described

    described = TypeAdapter(kind).json_schema(schema_generator=Schema, mode="serialization")
    return {"$schema": Schema.schema_dialect, **described, "title": title}
