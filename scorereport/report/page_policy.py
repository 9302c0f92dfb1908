"""Checks that a page is self-contained: no scripts, and no addresses that a browser would fetch.

A page is parsed as a browser parses it, and may contain only elements and attributes that neither run nor
fetch anything; their names are those of the HTML standard and unique across HTML, SVG and MathML. A content
security policy at the start of the page gives the browser the same rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator


_TEXT = """
html head meta title style link body header nav main footer section article aside h1 h2 h3 h4 h5 h6 hgroup
p div span a img figure figcaption ul ol li dl dt dd table caption colgroup col thead tbody tfoot tr th td
b i em strong small s u sub sup code pre kbd samp var q cite dfn abbr data time mark del ins blockquote
address br hr wbr bdi bdo ruby rt rp details summary center font big tt fieldset legend label input
"""
_DRAWINGS = """
svg g path rect circle ellipse line polyline polygon text tspan textPath desc defs use image symbol marker
linearGradient radialGradient stop clipPath mask pattern switch
"""
_FORMULAS = """
math mrow mi mn mo ms mtext mspace mfrac msup msub msubsup munder mover munderover msqrt mroot mstyle
mpadded mphantom menclose mfenced mtable mtr mtd mmultiscripts mprescripts none semantics annotation
"""
ALLOWED_ELEMENTS = frozenset(f"{_TEXT} {_DRAWINGS} {_FORMULAS}".split())

_OF_TEXT = """
id class lang xml:lang xml:space dir title role tabindex hidden alt width height name content rel target
colspan rowspan scope headers span start value type reversed datetime open align valign border bgcolor
color face size cellpadding cellspacing decoding loading translate abbr media sizes for checked
"""
_OF_DRAWINGS = """
version xmlns xmlns:xlink viewBox preserveAspectRatio d x y x1 y1 x2 y2 dx dy cx cy r rx ry fx fy points
rotate pathLength textLength lengthAdjust startOffset transform transform-origin offset gradientUnits
gradientTransform spreadMethod patternUnits patternContentUnits patternTransform clipPathUnits maskUnits
maskContentUnits markerUnits markerWidth markerHeight refX refY orient opacity visibility display overflow
cursor clip-path clip-rule mask marker-start marker-mid marker-end fill fill-opacity fill-rule stroke
stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray
stroke-dashoffset stop-color stop-opacity vector-effect paint-order shape-rendering text-rendering
image-rendering font-family font-size font-style font-weight font-variant font-stretch text-anchor
text-decoration letter-spacing word-spacing dominant-baseline alignment-baseline baseline-shift writing-mode
"""
_OF_FORMULAS = """
displaystyle scriptlevel mathvariant mathsize mathcolor mathbackground stretchy fence separator lspace
rspace form symmetric minsize maxsize largeop movablelimits accent accentunder columnalign rowalign
columnspacing rowspacing columnlines rowlines frame linethickness notation encoding depth voffset
"""
#: Allowed with any value; `url(...)` may only refer to parts of the page.
ALLOWED_ATTRIBUTES = frozenset(f"{_OF_TEXT} {_OF_DRAWINGS} {_OF_FORMULAS}".split())


_SPACES = {
    "{http://www.w3.org/1999/xlink": "xlink",
    "{http://www.w3.org/2000/xmlns/": "xmlns",
    "{http://www.w3.org/XML/1998/namespace": "xml",
}
_PREFIXES = ("aria-", "data-")
_ADDRESSES = ("src", "href", "xlink:href")
#: Addresses that are not fetched; a link may also lead to the web, or to another page.
_EMBEDDED = ("data:", "#")
_LINKS = ("http", "https", "mailto", "tel", "")
#: Functions of style sheets with addresses as strings.
_FETCHING = frozenset({"url", "src", "image", "image-set", "-webkit-image-set", "cross-fade"})
_ADDRESS_LENGTH = 80
#: The data of figures, most of a page, in which nothing can be hidden: they have neither quotes nor brackets.
_IMAGE_DATA = re.compile(r'(src="data:image/svg\+xml;base64,)[A-Za-z0-9+/=]+(?=")')
#: Characters that browsers ignore at the ends of an address, and everywhere in it.
_BLANKS, _IGNORED = "".join(map(chr, range(0x21))), str.maketrans("", "", "\t\n\r")
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*):", re.IGNORECASE)

#: The policy of every page: nothing runs, nothing is fetched, and nothing is sent. Inline styles are
#: allowed because figures have their sizes as attributes.
_POLICY = (
    "default-src 'none'; script-src 'none'; style-src {styles}'unsafe-inline'; img-src data:; "
    "font-src {fonts}; base-uri 'none'; form-action 'none'"
)
PAGE_POLICY = _POLICY.format(styles="", fonts="data:")
#: The policy of the pages of a site, which share a style sheet and fonts beside them.
SITE_POLICY = _POLICY.format(styles="'self' ", fonts="'self'")
#: The beginning of a page, without room for a quote or a comment that would disable the policy.
_PAGE_START = re.compile(
    r'\s*<!DOCTYPE html>\s*<html(?:\s+[a-z][a-z-]*="[^"<>]*")*\s*>\s*<head>(?=\s*<meta charset="utf-8">)',
    re.IGNORECASE,
)


def add_policy(html: str, policy: str = PAGE_POLICY) -> str:
    """Add a security policy at the start of a page that forbids scripts and requests."""
    begin = _PAGE_START.match(html)
    if begin is None:
        raise UsageError(
            'A page must begin with `<!DOCTYPE html>`, `<html lang="en">`, `<head>` and '
            '`<meta charset="utf-8">`, so that its security policy is first; '
            f"got {html.lstrip()[:_ADDRESS_LENGTH]!r}."
        )
    meta = f'\n<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return f"{html[: begin.end()]}{meta}{html[begin.end() :]}"


def check_self_contained(html: str, *, beside: Collection[str] = ()) -> None:
    """Refuse a page with a script or with addresses that a browser would fetch, from a user's template.

    Style sheets may be `beside` the page, at one of these addresses.
    """
    root = _open_parser().parse(_IMAGE_DATA.sub(r"\1", html))
    for found in _find_foreign(root, beside):
        raise UsageError(f"A report must contain everything that it shows; this page has {found}.")


@cache
def _open_parser() -> Any:
    """Load the parser, with a cache of character classes that is found again: it then takes half the time.

    tinyhtml5 2.1 stores each compiled class under another key than the one it looks for.
    """
    import tinyhtml5.inputstream

    tinyhtml5.inputstream.characters_until_regex = _CharacterClasses()
    return tinyhtml5


class _CharacterClasses(dict[tuple[Iterable[str], bool], re.Pattern[str]]):
    """Patterns of characters from a set, or of characters outside of it, compiled when first used."""

    def __missing__(self, key: tuple[Iterable[str], bool]) -> re.Pattern[str]:
        characters, is_inside = key
        listed = "".join(f"\\x{ord(character):02x}" for character in characters)
        self[key] = found = re.compile(f"[{'' if is_inside else '^'}{listed}]+")
        return found


def check_style(text: str) -> None:
    """Refuse a style sheet that would fetch anything."""
    for found in _check_style(text):
        raise UsageError(f"A page must contain everything that it shows; its style sheet has {found}.")


def _find_foreign(root: Any, beside: Collection[str]) -> Iterator[str]:
    """Yield what a page must not contain, in the order of its elements."""
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
    """Return the name of an attribute as written, with the prefix of its namespace, such as `xlink:href`."""
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
    """Whether an address contains its content or refers to the page; `use` may only refer to the page."""
    return address.strip(_BLANKS).lower().startswith("#" if tag == "use" else _EMBEDDED)


# ---- Elements with their own rules ----


def _check_link(element: Any, beside: Collection[str]) -> Iterator[str]:
    """Yield a link unless it is an embedded icon, or a style sheet or a feed beside the page."""
    relation, address = element.get("rel", "").lower(), element.get("href", "")
    is_fine = _is_embedded(address, "link") if relation == "icon" else address in beside
    if relation not in ("icon", "stylesheet", "alternate") or not is_fine:
        yield f"the address {address[:_ADDRESS_LENGTH]!r} in <link>"


def _check_input(element: Any, _beside: Collection[str]) -> Iterator[str]:
    """Yield a field unless it is a choice, by which a page filters its lists without a script."""
    kind = element.get("type", "")
    if kind.lower() != "radio":
        yield f"a field of the type {kind[:_ADDRESS_LENGTH]!r}"


def _check_sheet(element: Any, _beside: Collection[str]) -> Iterator[str]:
    return _check_style("".join(element.itertext()))


_CHECKS: dict[str, Callable[[Any, Collection[str]], Iterator[str]]] = {
    "link": _check_link,
    "input": _check_input,
    "style": _check_sheet,
}


# ---- Style sheets ----


def _check_style(text: str) -> Iterator[str]:
    """Yield the addresses that a style sheet fetches, parsed like in a browser, including escapes."""
    import tinycss2

    for address in _list_addresses(tinycss2.parse_component_value_list(text, skip_comments=True)):
        if not _is_embedded(address, "style"):
            yield f"the address {address[:_ADDRESS_LENGTH]!r} in <style>"


def _list_addresses(tokens: list[Any], *, fetching: bool = False) -> Iterator[str]:
    """Yield all addresses: `url(...)`, and strings in some functions and after `@import`."""
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
