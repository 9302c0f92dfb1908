"""The recorded answers of R packages: cases with their data, and all numbers by their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorereport.reliability.fit import Corp, corp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from scorereport._utils.arrays import FloatArray

#: Lists up to this length in the plans of sample sizes are several numbers with places of their own.
_SPLIT = "sample_size"


@dataclass(frozen=True, eq=False)
class RCase:
    """A case: its group and name, its data, and the answers about it."""

    group: str
    name: str
    content: dict[str, Any]

    def data(self, name: str) -> FloatArray:
        """A column of its data."""
        return np.array(self.content.get("data", self.content)[name], dtype=np.float64)

    def has(self, place: str) -> bool:
        """Whether there is an answer at a place."""
        return place in self.leaves

    def at(self, place: str) -> Any:
        """The answer at a place."""
        return self.leaves[place]

    @cached_property
    def leaves(self) -> dict[str, Any]:
        """Every answer and every column of the data, by its place."""
        return dict(list_leaves(self.content, splits=self.group == _SPLIT))

    @cached_property
    def y(self) -> FloatArray:
        """Outcomes."""
        return self.data("y")

    @cached_property
    def a(self) -> FloatArray:
        """Forecasts of the first model."""
        return self.data("a")

    @cached_property
    def b(self) -> FloatArray:
        """Forecasts of the second model."""
        return self.data("b")

    @cached_property
    def fits(self) -> tuple[Corp, Corp]:
        """Our isotonic fits of both models."""
        return corp(self.y, self.a), corp(self.y, self.b)

    @cached_property
    def cluster(self) -> FloatArray | None:
        """The cluster of each row, if there are clusters."""
        return self.data("cluster") if "data/cluster" in self.leaves else None

    @cached_property
    def weight(self) -> FloatArray | None:
        """The weight of each row, if there are weights."""
        return self.data("weight") if "data/weight" in self.leaves else None


def list_leaves(content: Any, place: str = "", *, splits: bool = False) -> Iterator[tuple[str, Any]]:
    """Every place in a document that is not an object of others, with its value; a list is one place.

    With `splits`, each item of a list has a place of its own.
    """
    if isinstance(content, dict):
        for name, value in content.items():
            yield from list_leaves(value, f"{place}/{name}" if place else name, splits=splits)
    elif splits and isinstance(content, list):
        for index, value in enumerate(content):
            yield f"{place}[{index}]", value
    else:
        yield place, content


def read_cases(document: dict[str, Any]) -> list[RCase]:
    """All cases of the recorded answers; what is not about a case is one of its own, named "meta"."""
    binary = [RCase("binary", name, content) for name, content in document["binary"].items()]
    others = [
        RCase(group, f"{group} {number + 1}", content)
        for group in ("ordinal", "sequential")
        for number, content in enumerate(document[group])
    ]
    sizes = [RCase(_SPLIT, name, content) for name, content in document[_SPLIT].items()]
    known = {"binary", "ordinal", "sequential", _SPLIT}
    rest = {name: content for name, content in document.items() if name not in known}
    return [*binary, *others, *sizes, RCase("meta", "meta", rest)]
