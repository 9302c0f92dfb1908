"""Rules for the names of columns, for labels and for models; nothing slow is imported here."""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorereport._utils.rules import Shape, TextRule, is_number, list_items, show_value
from scorereport.errors import UsageError

#: A column for each model or, with K classes, the columns of each model.
Forecasts = Sequence[str] | Mapping[str, Sequence[str]]


_WHOLE_NUMBER = re.compile(r"([+-]?\d+)\.0+", re.ASCII)
_FEWEST_CLASSES = 2
#: Characters that have another meaning in a text file.
_NO_SEPARATORS = '"\n\r\0.+-_'


def label_text(label: Any) -> str:
    """Return a label as trimmed text; 1.0 becomes 1, as many programs write 1.0 beside missing values."""
    text = str(label.item() if type(label).__module__ == "numpy" else label).strip()
    whole = _WHOLE_NUMBER.fullmatch(text)
    return whole[1] if whole else text


def check_class_names(classes: Any, name: str = "classes") -> tuple[str, ...]:
    """Check that there are at least two class names, each given once; return them as text."""
    from scorereport._utils.checks import LONGEST_TEXT

    labels = list_items(classes) or []
    if len(labels) < _FEWEST_CLASSES or any(list_items(label) is not None for label in labels):
        raise UsageError(f"`{name}` must be a list of at least two labels; got {show_value(classes)}.")
    names = tuple(map(label_text, labels))
    if "" in names:
        raise UsageError(f"`{name}` must be labels that are not empty; got an empty text.")
    if longest := [label for label in names if len(label) > LONGEST_TEXT]:
        raise UsageError(
            f"`{name}` must be labels of at most {LONGEST_TEXT:,} characters; "
            f"got one of {len(longest[0]):,} characters."
        )
    for label in names:
        if names.count(label) > 1:
            raise UsageError(f"`{name}` must differ; got {label!r} {names.count(label)} times.")
    return names


def _is_name(value: object) -> bool:
    """Whether this can name a column: a text that is not empty, or a number."""
    return bool(value) if isinstance(value, str) else is_number(value)


def _is_label(value: object) -> bool:
    return isinstance(value, (str, bool)) or is_number(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column(TextRule):
    """The name of a column; a number becomes text."""

    metavar: str = "COLUMN"

    def check(self, value: Any, name: str) -> str:
        """Return the name as text."""
        if not _is_name(value):
            raise UsageError(f"`{name}` must be the name of a column; got {show_value(value)}.")
        return str(value)

    def schema(self) -> dict[str, Any]:
        """Text, or a number."""
        return {"type": ["string", "number"], "minLength": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnList(TextRule):
    """The names of one or several columns."""

    shape: Shape = Shape.REPEATED
    metavar: str = "COLUMN"

    def check(self, value: Any, name: str) -> tuple[str, ...]:
        """Return the names as text."""
        names = [value] if _is_name(value) else list_items(value)
        if names is None or not all(map(_is_name, names)):
            raise UsageError(f"`{name}` must be the names of columns; got {show_value(value)}.")
        return tuple(map(str, names))

    def schema(self) -> dict[str, Any]:
        """A text, or a list of texts."""
        column = Column().schema()
        return {"anyOf": [column, {"type": "array", "items": column}]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Models(TextRule):
    """A list of models, or a mapping from each model to its columns."""

    shape: Shape = Shape.REPEATED
    metavar: str = "COLUMN"

    def check(self, value: Any, name: str) -> Forecasts:
        """Return a list of texts, or a dictionary of lists of texts."""
        if isinstance(value, Mapping):
            return self._check_mapping(value, name)
        models = list_items(value)
        if models is None or not all(map(_is_name, models)):
            raise UsageError(
                f"`{name}` must be a list of models, or a table of the columns of each model; "
                f"got {show_value(value)}."
            )
        self._check_each_once([str(model) for model in models], name)
        return [str(model) for model in models]

    def _check_mapping(self, value: Mapping[Any, Any], name: str) -> dict[str, list[str]]:
        self._check_each_once([str(model) for model in value], name)
        named = {}
        for model, columns in value.items():
            items = list_items(columns)
            if not items or not all(map(_is_name, items)):
                raise UsageError(
                    f"`{name}` must name a column for each class; got {show_value(columns)} for {model}."
                )
            named[str(model)] = [str(column) for column in items]
        return named

    def _check_each_once(self, models: list[str], name: str) -> None:
        if not models:
            raise UsageError(f"`{name}` must be a list of at least one column; got an empty one.")
        for model in models:
            if models.count(model) > 1:
                raise UsageError(f"`{name}` must differ; got {model!r} {models.count(model)} times.")

    def schema(self) -> dict[str, Any]:
        """A list of texts, or an object of lists of texts."""
        columns = {"type": "array", "items": Column().schema(), "minItems": 1}
        by_model = {"type": "object", "additionalProperties": {**columns, "minItems": 2}}
        return {"anyOf": [columns, by_model]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Label(TextRule):
    """A label of an outcome: text, a number, or true or false."""

    metavar: str = "LABEL"

    def check(self, value: Any, name: str) -> str:
        """Return the label as text."""
        if not (_is_label(value) or type(value).__name__ == "bool_") or label_text(value) == "":
            raise UsageError(f"`{name}` must be a label, a text or a number; got {show_value(value)}.")
        return label_text(value)

    def schema(self) -> dict[str, Any]:
        """Text, a number, or true or false."""
        return {"type": ["string", "number", "boolean"], "minLength": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassLabels(TextRule):
    """The labels of two or more classes."""

    shape: Shape = Shape.LIST
    metavar: str = "LABEL,LABEL,..."

    def check(self, value: Any, name: str) -> tuple[str, ...]:
        """Return the labels as text."""
        return check_class_names(value, name)

    def schema(self) -> dict[str, Any]:
        """A list of labels."""
        return {"type": "array", "items": Label().schema(), "minItems": 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class Separator(TextRule):
    """The character between the columns of a text file."""

    metavar: str = "CHARACTER"

    def check(self, value: Any, name: str) -> str:
        """Return the character; "tab" is one of them."""
        sign = "\t" if value in ("tab", "\\t") else value
        is_sign = isinstance(sign, str) and len(sign) == 1 and sign.isascii()
        if not is_sign or sign.isalnum() or sign in _NO_SEPARATORS:
            raise UsageError(
                f'`{name}` must be one character, such as ";", or "tab"; got {show_value(value)}.'
            )
        return str(sign)

    def schema(self) -> dict[str, Any]:
        """A text."""
        return {"type": "string", "minLength": 1, "maxLength": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding(TextRule):
    """The name of an encoding of text, as Python knows it."""

    metavar: str = "NAME"

    def check(self, value: Any, name: str) -> str:
        """Return the name."""
        if not isinstance(value, str) or not _is_encoding(value):
            raise UsageError(
                f'`{name}` must be an encoding, such as "utf-8", "latin-1", "cp1252" or "utf-16"; '
                f"got {show_value(value)}."
            )
        return value

    def schema(self) -> dict[str, Any]:
        """A text."""
        return {"type": "string", "minLength": 1}


def _is_encoding(name: str) -> bool:
    """Whether this is an encoding of characters; Python has codecs of other things, such as "hex"."""
    try:
        "a".encode(name)
        return codecs.getincrementaldecoder(name) is not None
    except (LookupError, ValueError, TypeError):
        return False
