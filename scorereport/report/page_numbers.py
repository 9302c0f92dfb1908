"""Page numbers of references, set when all pages are laid out.

WeasyPrint lays a page with `target-counter()` out three times. The style sheet sets zeros instead, which are
as wide as any number with as many digits, and in place of which the number of the page is drawn.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Digits of the page numbers for which the style sheet leaves room.
DIGITS = 2
#: A space as wide as a digit.
_FIGURE_SPACE = "\u2007"
_AFTER = "::after"


def more_room(digits: int) -> str:
    """Return the style sheet that leaves room for numbers of this many digits.

    >>> more_room(3)
    ':root { --page-number: "000" !important; }'
    """
    return f':root {{ --page-number: "{"0" * digits}" !important; }}'


def set_page_numbers(document: Any, digits: int) -> None:
    """Set the page numbers of references, which are the text after elements with a `data-target`."""
    pages: dict[str, int] = {}
    for place, page in enumerate(document.pages, start=1):
        for name in page.anchors:
            pages.setdefault(name, place)
    room = re.compile(rf"(?<!\d)0{{{digits}}}$")
    for box in _list_numbers(document):
        target = box.element.get("data-target").removeprefix("#")
        if target not in pages:
            raise UsageError(f"The page refers to #{target}, which it does not have.")
        number = str(pages[target])
        if box.text == "0" * digits:  # nothing but a number, which is aligned to the right
            number = number.rjust(digits, _FIGURE_SPACE)
        box.text = box.pango_layout.text = room.sub(number, box.text)


def _list_numbers(document: Any) -> Iterator[Any]:
    """Yield the boxes of the text after elements with a `data-target`."""
    for page in document.pages:
        for box in page._page_box.descendants(placeholders=True):
            is_text = getattr(box, "pango_layout", None) is not None and box.element is not None
            if is_text and box.element_tag.endswith(_AFTER) and box.element.get("data-target"):
                yield box
