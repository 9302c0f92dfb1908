"""Whether a page needs nothing but itself: no script, and no address that a reader would fetch."""

from __future__ import annotations

import re
from html.parser import HTMLParser

from scorereport.errors import UsageError

#: Elements that run something or bring something in from elsewhere.
_FORBIDDEN = frozenset({"script", "iframe", "frame", "object", "embed", "applet", "base", "form"})
#: Attributes whose addresses are fetched; links that a reader has to click are not among them.
_FETCHED = frozenset({"src", "srcset", "data", "poster", "background", "xlink:href", "action", "formaction"})
#: Addresses in style sheets.
_CSS_ADDRESS = re.compile(r"""@import\s+["']?([^"';]*)|url\(\s*["']?([^"')]*)""", re.IGNORECASE)
_SHOWN = 80


def check_self_contained(html: str) -> None:
    """Refuse a page that runs a script or would fetch anything, as a template of a user might make one."""
    scan = _Scan()
    scan.feed(html)
    scan.close()
    if scan.found:
        raise UsageError(f"A report must carry in itself all that it shows; this page has {scan.found[0]}.")


class _Scan(HTMLParser):
    """Collects what a page would run or fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in_style = tag == "style"
        if tag in _FORBIDDEN:
            self.found.append(f"a <{tag}> element")
        for name, value in attrs:
            self._check_attribute(tag, name, value or "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "style":
            self._in_style = False

    def handle_data(self, data: str) -> None:
        if self._in_style:
            self._check_style(data)

    def _check_attribute(self, tag: str, name: str, value: str) -> None:
        if name.startswith("on"):
            self.found.append(f"the attribute {name} of <{tag}>, which runs a script")
        elif name in _FETCHED or (name == "href" and tag in ("link", "image", "use")):
            self._check_address(value, tag)
        elif name == "href" and value.strip().lower().startswith("javascript:"):
            self.found.append(f"a script in a link: {value[:_SHOWN]!r}")
        elif name == "style":
            self._check_style(value)

    def _check_style(self, text: str) -> None:
        for imported, address in _CSS_ADDRESS.findall(text):
            self._check_address(imported or address, "style")

    def _check_address(self, address: str, tag: str) -> None:
        if not address.strip().lower().startswith(("data:", "#")):
            self.found.append(f"the address {address[:_SHOWN]!r} in <{tag}>")
