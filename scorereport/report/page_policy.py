"""Whether a page needs nothing but itself: no script, and no address that a reader would fetch.

A page is read as a browser reads it, and may hold only what is known to be harmless. What it was checked for
it also instructs the browser, by a policy that comes before all else.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError
from scorereport.report.harmless import ALLOWED_ATTRIBUTES, ALLOWED_ELEMENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

_SPACES = {
    "{http://www.w3.org/1999/xlink": "xlink",
    "{http://www.w3.org/2000/xmlns/": "xmlns",
    "{http://www.w3.org/XML/1998/namespace": "xml",
}
_PREFIXES = ("aria-", "data-")
_ADDRESSES = ("src", "href", "xlink:href")
#: Addresses that are fetched by nobody; a link may also lead to the web, or to another page beside.
_EMBEDDED = ("data:", "#")
_LINKS = ("http", "https", "mailto", "tel", "")
#: Functions of style sheets that take addresses as texts.
_FETCHING = frozenset({"url", "src", "image", "image-set", "-webkit-image-set", "cross-fade"})
_ADDRESS_LENGTH = 80
#: Browsers leave out these characters of an address: at its ends, and everywhere.
_BLANKS, _IGNORED = "".join(map(chr, range(0x21))), str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)

#: The policy of every page: nothing runs, nothing is fetched, and nothing is sent. Styles
#: stand in the page, for figures have their sizes as attributes.
_POLICY = (
    "default-src 'none'; script-src 'none'; style-src {styles}'unsafe-inline'; img-src data:; "
    "font-src {fonts}; base-uri 'none'; form-action 'none'"
)
PAGE_POLICY = _POLICY.format(styles="", fonts="data:")
#: The pages of a site share a style sheet and fonts, which are beside them.
SITE_POLICY = _POLICY.format(styles="'self' ", fonts="'self'")
#: The begin of a page, without any place for a quote or a comment that would swallow the policy.
_PAGE_START = re.compile(
    r'\s*<!DOCTYPE html>\s*<html(?:\s+[a-z][a-z-]*="[^"<>]*")*\s*>\s*<head>(?=\s*<meta charset="utf-8">)',
    re.IGNORECASE,
)


def add_policy(html: str, policy: str = PAGE_POLICY) -> str:
    """A page that forbids its browser scripts and requests, before anything else in it is read."""
    begin = _PAGE_START.match(html)
    if begin is None:
        raise UsageError(
            'A page must begin with `<!DOCTYPE html>`, `<html lang="en">`, `<head>` and '
            '`<meta charset="utf-8">`, so that its security policy can come first; '
            f"got {html.lstrip()[:_ADDRESS_LENGTH]!r}."
        )
    meta = f'\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return f"{html[: begin.end()]}{meta}{html[begin.end() :]}"


def check_self_contained(html: str, *, beside: Collection[str] = ()) -> None:
    """Refuse a page that runs a script or would fetch anything, as a template of a user might make one.

    Style sheets may be `beside` the page, under one of these addresses.
    """
    import tinyhtml5

    root = tinyhtml5.parse(html)
    for found in _find_foreign(root, beside):
        raise UsageError(f"A report must carry in itself all that it shows; this page has {found}.")


def check_style(text: str) -> None:
    """Refuse a style sheet that would fetch anything."""
    for found in _check_style(text):
        raise UsageError(f"A page must carry in itself all that it shows; its style sheet has {found}.")


def _find_foreign(root: Any, beside: Collection[str]) -> Iterator[str]:
    """What a page must not hold, in the order of its elements."""
    for element in root.iter():
        if not isinstance(element.tag, str):  # a comment
            continue
        tag = element.tag.rpartition("}")[2]
        if tag not in ALLOWED_ELEMENTS:
            yield f"a <{tag}> element"
        for key, value in element.attrib.items():
            yield from _check_attribute(tag, _plain_name(key), value)
        if tag in _CHECKS:
            yield from _CHECKS[tag](element, beside)


def _plain_name(key: str) -> str:
    """The name of an attribute as it is written: `xlink:href` for that of the name space of links."""
    space, _, local = key.rpartition("}")
    return f"{_SPACES.get(space, space)}:{local}" if space else local


def _check_attribute(tag: str, name: str, value: str) -> Iterator[str]:
    if name.lower().startswith("on"):
        yield f"the attribute {name} of <{tag}>, which runs a script"
    elif name in _ADDRESSES:
        yield from _check_address(tag, name, value)
    elif name == "charset" and tag == "meta":
        if value.lower() != "utf-8":
            yield f"the character set {value[:_ADDRESS_LENGTH]!r}"
    elif name == "style" or (name in ALLOWED_ATTRIBUTES and "(" in value):
        yield from _check_style(value)
    elif name not in ALLOWED_ATTRIBUTES and not name.startswith(_PREFIXES):
        yield f"the attribute {name[:_ADDRESS_LENGTH]} of <{tag}>"


def _check_address(tag: str, name: str, value: str) -> Iterator[str]:
    address = value.strip(_BLANKS).translate(_IGNORED)
    scheme = found[1].lower() if (found := _SCHEME.match(address)) else ""
    if tag == "a" and name != "src":
        if scheme == "javascript":
            yield f"a script in a link: {value[:_ADDRESS_LENGTH]!r}"
        elif scheme not in _LINKS:
            yield f"the address {value[:_ADDRESS_LENGTH]!r} in <a>"
    elif tag != "link" and not _is_embedded(value, tag):
        yield f"the address {value[:_ADDRESS_LENGTH]!r} in <{tag}>"


def _is_embedded(address: str, tag: str) -> bool:
    """Whether an address brings its content along; a drawing within another is a part of the page."""
    return address.strip(_BLANKS).lower().startswith("#" if tag == "use" else _EMBEDDED)


# ---- Elements with rules of their own ----


def _check_link(element: Any, beside: Collection[str]) -> Iterator[str]:
    """An icon inside the page, or a style sheet beside it; other links make browsers fetch or connect."""
    relation, address = element.get("rel", "").lower(), element.get("href", "")
    is_fine = _is_embedded(address, "link") if relation == "icon" else address in beside
    if relation not in ("icon", "stylesheet") or not is_fine:
        yield f"the address {address[:_ADDRESS_LENGTH]!r} in <link>"


def _check_sheet(element: Any, _beside: Collection[str]) -> Iterator[str]:
    return _check_style("".join(element.itertext()))


_CHECKS: dict[str, Callable[[Any, Collection[str]], Iterator[str]]] = {
    "link": _check_link,
    "style": _check_sheet,
}


# ---- Style sheets ----


def _check_style(text: str) -> Iterator[str]:
    """Addresses of a style sheet that are fetched, read as a browser reads them, escapes among them."""
    import tinycss2

    for address in _list_addresses(tinycss2.parse_component_value_list(text, skip_comments=True)):
        if not _is_embedded(address, "style"):
            yield f"the address {address[:_ADDRESS_LENGTH]!r} in <style>"


def _list_addresses(tokens: list[Any], *, fetching: bool = False) -> Iterator[str]:
    """Addresses and, where texts are addresses, these: in some functions, and behind `@import`."""
    for token in tokens:
        if token.type == "at-keyword":
            fetching = token.lower_value == "import"
        elif token.type == "literal" and token.value == ";":
            fetching = False
        elif token.type == "url" or (token.type == "string" and fetching):
            yield token.value
        elif token.type == "function":
            yield from _list_addresses(token.arguments, fetching=token.lower_name in _FETCHING)
        elif token.type.endswith("block"):
            yield from _list_addresses(token.content)
