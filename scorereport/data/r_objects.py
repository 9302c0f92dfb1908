"""Objects in files that R saved, by their structure: vectors by their places, lists, and what else there is.

The scan follows the documented format (R Internals, section "Serialization Formats") and runs nothing: of
functions, environments and other objects it notes only what they are. It does not recurse, so that nothing
can be nested too deeply.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from scorereport.data.r_streams import DamagedError, decode_text

if TYPE_CHECKING:
    from numpy.typing import NDArray  # noqa: TC004  # the type of a field

    from scorereport.data.r_streams import RStream

#: Vectors of up to this many bytes are kept by the scan: names, classes, the levels of factors.
_KEPT = 1 << 16
#: Elements of lists and nodes of code that an object may have; vectors of numbers and texts count as one.
_MOST_PARTS = 5_000_000
_KINDS = {10: "logical", 13: "integer", 14: "double", 15: "complex", 16: "string", 24: "raw"}
_TEXT, _LIST, _CALL, _VECTOR_OF_CODE = 9, 2, 6, 20
_REFERENCE = 255
#: Types whose values are chains of cells: an optional tag, an element, and the rest.
_CHAINS = {2: "a pairlist", 3: "a function", 5: "a promise", 6: "an expression", 17: "arguments"}
_NAMED_ENVIRONMENTS = (247, 248, 249)
_HAS_ATTRIBUTES, _HAS_TAG = 1 << 9, 1 << 10
#: Nodes of byte code: a definition, a mention, and cells with attributes.
_DEFINITION, _MENTION, _CALL_WITH, _LIST_WITH = 244, 243, 240, 239

_NO_ATTRIBUTES: Mapping[str, RObject] = {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RObject:
    """An object: what it is, and its attributes such as names and class."""

    what: str
    attributes: Mapping[str, RObject] = field(default_factory=lambda: _NO_ATTRIBUTES)

    @property
    def dim(self) -> tuple[int, int] | None:
        """The rows and columns of a matrix; None for anything else."""
        found = self.attributes.get("dim")
        kept = found.kept if isinstance(found, RVector) and found.kind == "integer" else None
        if not isinstance(kept, np.ndarray) or len(kept) != 2 or (kept < 0).any():
            return None
        rows, columns = kept.tolist()
        return rows, columns

    @property
    def classes(self) -> tuple[str, ...]:
        """Its class attribute."""
        return self.texts("class")

    def texts(self, attribute: str) -> tuple[str, ...]:
        """The texts of an attribute, "" for missing ones; empty if it has none."""
        found = self.attributes.get(attribute)
        if not isinstance(found, RVector) or found.kind != "string" or not isinstance(found.kept, tuple):
            return ()
        return tuple("" if text is None else text for text in found.kept)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RVector(RObject):
    """A vector of numbers or texts: its place, and its values if they are few.

    `lengths` are the numbers of bytes of its texts. `step` is the step of a range, whose first number is
    `start`; a range has no place. `texts_of` is the vector of numbers whose texts are meant, with `penalty`
    for scientific notation.
    """

    kind: str
    length: int
    at: int = 0
    lengths: NDArray[np.int32] | None = None
    kept: NDArray[Any] | tuple[str | None, ...] | None = None
    start: float = 0.0
    step: float = 0.0
    texts_of: RVector | None = None
    penalty: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RList(RObject):
    """A list; of a pairlist, whose elements may have tags, `tags` are the names."""

    items: tuple[RObject, ...]
    tags: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its elements, "" where there is none."""
        names = self.tags or self.texts("names")
        return (*names, *[""] * (len(self.items) - len(names)))[: len(self.items)]


#: Types that are only a mark.
_MARKS = {
    **dict.fromkeys((0, 254), RObject(what="NULL")),
    **dict.fromkeys((241, 242, 250, 253), RObject(what="an environment")),
    **dict.fromkeys((251, 252), RObject(what="nothing")),
}
#: Parts of an object that are read before the object itself.
_Parts: TypeAlias = Generator["_Parts", Any, Any]


def scan_object(stream: RStream) -> tuple[RObject, str]:
    """Scan the object that a stream holds; return it and the encoding of its unmarked texts."""
    version, _, _ = (stream.integer() for _ in range(3))
    if version not in (2, 3):
        raise DamagedError(f"it has version {version} of R's format; versions 2 and 3 are read")
    native = stream.text()[0].decode("latin-1") if version == 3 else "UTF-8"
    return _Scan(stream, native).run(), native


class _Scan:
    """A scan of one object, with the references to what it mentions repeatedly."""

    def __init__(self, stream: RStream, native: str) -> None:
        self._stream, self._native = stream, native
        self._mentioned: list[RObject] = []
        self._parts = 0

    def run(self) -> RObject:
        """Scan the object: a generator asks for a part by yielding the generator that scans it."""
        waiting: list[_Parts] = [self._scan_item()]
        found: Any = None
        while waiting:
            try:
                part = waiting[-1].send(found)
            except StopIteration as end:
                waiting.pop()
                found = end.value
            else:
                waiting.append(part)
                found = None
        return found

    def _scan_item(self, flags: int | None = None) -> _Parts:
        self._parts += 1
        if self._parts > _MOST_PARTS:
            raise DamagedError(f"it has more than {_MOST_PARTS:,} elements in lists and code")
        flags = self._stream.integer() if flags is None else flags
        kind = flags & 255
        if kind in _MARKS:
            return _MARKS[kind]
        if kind == _REFERENCE:
            return self._find_mentioned(flags >> 8)
        if kind in _CHAINS:
            return (yield from self._scan_chain(flags))
        if kind == _TEXT:
            return RVector(what="a text", kind="string", length=1, kept=(self._text(flags),))
        if kind in _KINDS:
            return (yield from self._with_attributes(self._scan_vector(_KINDS[kind]), flags))
        if kind not in _SCANS:
            raise DamagedError(f"it has an object of type {kind}, which R does not have")
        return (yield from getattr(self, _SCANS[kind])(flags))

    def _find_mentioned(self, place: int) -> RObject:
        place = place or self._stream.integer()
        if not 0 < place <= len(self._mentioned):
            raise DamagedError("it mentions an object that it does not have")
        return self._mentioned[place - 1]

    def _length(self) -> int:
        """The length of a vector; one beyond 32 bits is written in two parts after -1."""
        length = self._stream.integer()
        if length == -1:
            upper, lower = self._stream.integer(), self._stream.integer()
            length = (upper << 32) + (lower & 0xFFFFFFFF)
        if length < 0:
            raise DamagedError("it has a vector of a negative length")
        return length

    def _text(self, flags: int) -> str | None:
        """A text of which the flags are read."""
        content, length = self._stream.text()
        return None if length < 0 else decode_text(content, flags, self._native)

    def _scan_vector(self, kind: str) -> RVector:
        length = self._length()
        at = self._stream.at()
        vector = RVector(what=f"a vector of type {kind}", kind=kind, length=length, at=at)
        if kind == "string":
            lengths = self._stream.skip_texts(length)
            kept = None
            if self._stream.at() - at <= _KEPT:
                kept = tuple(self._stream.read_texts(lengths, at, self._native).to_list())
            return replace(vector, lengths=lengths, kept=kept)
        self._stream.skip_numbers(kind, length)
        if self._stream.at() - at > _KEPT:
            return vector
        return replace(vector, kept=self._stream.read_numbers(kind, length, at))

    def _with_attributes(self, found: Any, flags: int) -> _Parts:
        """The object with the attributes that follow it, if its flags announce any."""
        if not flags & _HAS_ATTRIBUTES:
            return found
        return replace(found, attributes=_as_attributes((yield self._scan_item())))

    def _scan_chain(self, flags: int) -> _Parts:
        """A pairlist, a call or a function, whose cells are read one after the other."""
        first = flags & 255
        attributes: dict[str, RObject] = {}
        tags: list[str] = []
        items: list[RObject] = []
        while flags & 255 in _CHAINS:
            if flags & _HAS_ATTRIBUTES:
                found = _as_attributes((yield self._scan_item()))
                attributes = attributes or found
            tag = (yield self._scan_item()) if flags & _HAS_TAG else None
            tags.append(_name_of(tag))
            items.append((yield self._scan_item()))
            flags = self._stream.integer()
        yield self._scan_item(flags)
        what = _CHAINS[first]
        if first != _LIST:
            return RObject(what=what, attributes=attributes)
        return RList(what=what, attributes=attributes, items=tuple(items), tags=tuple(tags))

    def _scan_list(self, flags: int) -> _Parts:
        items = []
        for _ in range(self._length()):
            items.append((yield self._scan_item()))
        found = RList(what=f"a list of {len(items)}", items=tuple(items))
        return (yield from self._with_attributes(found, flags))

    def _scan_symbol(self, _: int) -> _Parts:
        found = yield self._scan_item()
        self._mentioned.append(replace(found, what="a symbol"))
        return self._mentioned[-1]

    def _scan_environment(self, _: int) -> _Parts:
        self._mentioned.append(RObject(what="an environment"))
        place = len(self._mentioned) - 1
        self._stream.integer()  # whether it is locked
        for _ in range(3):  # the one around it, and its values in either of two forms
            yield self._scan_item()
        attributes = _as_attributes((yield self._scan_item()))
        self._mentioned[place] = replace(self._mentioned[place], attributes=attributes)
        return self._mentioned[place]

    def _scan_named_environment(self, _: int) -> _Parts:
        self._stream.integer()
        for _ in range(self._length()):
            yield self._scan_item()
        self._mentioned.append(RObject(what="an environment"))
        return self._mentioned[-1]

    def _scan_pointer(self, flags: int) -> _Parts:
        self._mentioned.append(RObject(what="a pointer"))
        place = len(self._mentioned) - 1
        for _ in range(2):
            yield self._scan_item()
        self._mentioned[place] = yield from self._with_attributes(self._mentioned[place], flags)
        return self._mentioned[place]

    def _scan_weak_reference(self, flags: int) -> _Parts:
        self._mentioned.append(RObject(what="a pointer"))
        return (yield from self._with_attributes(self._mentioned[-1], flags))

    def _scan_built_in(self, flags: int) -> _Parts:
        self._stream.text()
        return (yield from self._with_attributes(RObject(what="a function"), flags))

    def _scan_object_of_slots(self, flags: int) -> _Parts:
        return (yield from self._with_attributes(RObject(what="an S4 object"), flags))

    def _scan_byte_code(self, flags: int) -> _Parts:
        self._stream.integer()  # how many expressions are mentioned repeatedly
        yield self._scan_code()
        return (yield from self._with_attributes(RObject(what="a function"), flags))

    def _scan_code(self) -> _Parts:
        yield self._scan_item()
        for _ in range(self._length()):
            kind = self._stream.integer()
            if kind == 21:
                yield self._scan_code()
            elif kind in (_LIST, _CALL, _DEFINITION, _MENTION, _CALL_WITH, _LIST_WITH):
                yield self._scan_expression(kind)
            else:
                yield self._scan_item()

    def _scan_expression(self, kind: int) -> _Parts:
        """An expression among the constants of byte code, cell by cell."""
        while True:
            if kind == _MENTION:
                self._stream.integer()
                return
            if kind == _DEFINITION:
                self._stream.integer()
                kind = self._stream.integer()
            if kind not in (_LIST, _CALL, _CALL_WITH, _LIST_WITH):
                yield self._scan_item()
                return
            if kind in (_CALL_WITH, _LIST_WITH):
                yield self._scan_item()
            yield self._scan_item()
            yield self._scan_expression(self._stream.integer())
            self._parts += 1
            kind = self._stream.integer()

    def _scan_compact(self, _: int) -> _Parts:
        """A vector that R keeps in a compact form, such as a range."""
        info = yield self._scan_item()
        state = yield self._scan_item()
        attributes = _as_attributes((yield self._scan_item()))
        name = _name_of(info.items[0]) if isinstance(info, RList) and info.items else ""
        return replace(_expand(name, state), attributes=attributes)


_SCANS = {
    1: "_scan_symbol",
    4: "_scan_environment",
    7: "_scan_built_in",
    8: "_scan_built_in",
    19: "_scan_list",
    20: "_scan_list",
    21: "_scan_byte_code",
    22: "_scan_pointer",
    23: "_scan_weak_reference",
    25: "_scan_object_of_slots",
    238: "_scan_compact",
    **dict.fromkeys(_NAMED_ENVIRONMENTS, "_scan_named_environment"),
}


def _name_of(symbol: Any) -> str:
    """The text of a symbol, "" if it is something else."""
    kept = symbol.kept if isinstance(symbol, RVector) else None
    return str(kept[0]) if isinstance(kept, tuple) and kept else ""


def _as_attributes(found: Any) -> dict[str, RObject]:
    return dict(zip(found.tags, found.items, strict=True)) if isinstance(found, RList) else {}


def _expand(name: str, state: Any) -> RObject:
    """The vector that a compact form stands for; one that only another package can expand is an object."""
    if name in ("compact_intseq", "compact_realseq") and isinstance(state, RVector):
        return _expand_range(name, state)
    items = state.items if isinstance(state, RList) else ()
    vector = items[0] if items and isinstance(items[0], RVector) else None
    if vector is not None and name.startswith("wrap_"):
        return vector
    if vector is not None and name == "deferred_string" and vector.kind in ("integer", "double"):
        kept = items[1].kept if len(items) > 1 and isinstance(items[1], RVector) else None
        penalty = int(kept[0]) if isinstance(kept, np.ndarray) and kept.dtype == np.int32 and len(kept) else 0
        return RVector(
            what="texts of numbers", kind="string", length=vector.length, texts_of=vector, penalty=penalty
        )
    return RObject(what=f"a vector that R keeps as {name or 'an unknown form'}")


def _expand_range(name: str, state: RVector) -> RObject:
    if state.kind != "double" or not isinstance(state.kept, np.ndarray) or len(state.kept) != 3:
        raise DamagedError("it has a range without a start and a step")
    length, start, step = state.kept.tolist()
    if not (0 <= length < 2**52 and step in (-1.0, 1.0) and abs(start) < 2**52):
        raise DamagedError("it has a range that R does not make")
    kind = "integer" if name == "compact_intseq" else "double"
    return RVector(what="a range", kind=kind, length=int(length), start=start, step=step)
