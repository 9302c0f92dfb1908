"""Texts and tables in Markdown, in which names from data and configurations are never markup."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from math import isfinite

from scorereport._utils.formatting import visible

#: Characters with which Markdown marks something inside a line; those of HTML become entities.
_MARKUP = re.compile(r"([\\`*_\[\]#~|!^$])")
#: What begins a list, an underlined heading, a definition or a rule at the start of a line.
_BLOCK = re.compile(r"^([-+=:]|\d+(?=[.)](?:\s|$)))")
#: Keys of YAML that need no quotes: those that are not words for true, false and nothing.
_PLAIN_KEY = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][a-z-]*")


def escape(text: str) -> str:
    r"""Return a text on one line in which nothing is markup.

    >>> escape("a|b *c* <script>")
    'a\\|b \\*c\\* &lt;script&gt;'
    """
    line = visible(" ".join(text.split()))
    return _BLOCK.sub(_escape_block, _MARKUP.sub(r"\\\1", html.escape(line, quote=False)))


def _escape_block(found: re.Match[str]) -> str:
    """The first character as an entity, because a backslash escapes no digit."""
    return f"&#{ord(found[0][0])};{found[0][1:]}"


def escape_paragraphs(text: str) -> str:
    """Return a text of several paragraphs, with an empty line between them, in which nothing is markup."""
    return "\n\n".join(escape(part) for part in text.split("\n\n") if part.strip())


def render_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, labels: int = 1) -> str:
    r"""Render a table; the first columns are labels, the others numbers, which are set to the right.

    >>> print(render_table(["model", "Brier score"], [["a|b", "0.2"]]))
    | model | Brier score |
    | --- | ---: |
    | a\|b | 0.2 |
    """
    rule = ["---" if place < labels else "---:" for place in range(len(heads))]
    lines = ([escape(cell) for cell in heads], rule, *([escape(cell) for cell in row] for row in rows))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def render_yaml(value: object, indent: int = 0) -> str:
    r"""Render tables, lists, texts and finite numbers as YAML; every text is in quotes.

    >>> print(render_yaml({"name": "a: b", "values": [1e-05, True], "of": [{"x": 1}]}))
    name: "a: b"
    values:
      - 1.0e-05
      - true
    of:
      - x: 1
    """
    space = " " * indent
    if isinstance(value, Mapping):
        return "\n".join(
            f"{space}{_name_key(str(key))}:{_render_item(item, indent)}" for key, item in value.items()
        )
    if isinstance(value, (list, tuple)):
        blocks = (render_yaml(item, indent + 2) for item in value)
        return "\n".join(f"{space}- {block[indent + 2 :] if block[:1] == ' ' else block}" for block in blocks)
    return _render_scalar(value)


def _name_key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else _quote(key)


def _render_item(item: object, indent: int) -> str:
    if isinstance(item, (Mapping, list, tuple)) and item:
        return f"\n{render_yaml(item, indent + 2)}"
    return f" {_render_scalar(item)}"


def _render_scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return _render_number(value)
    return _quote(str(value))


def _render_number(value: float) -> str:
    """A number with a point, without which YAML 1.1 reads an exponent as text."""
    if not isfinite(value):
        return _quote(str(value))
    mantissa, e, exponent = repr(value).partition("e")
    return f"{mantissa}{'' if '.' in mantissa or not e else '.0'}{e}{exponent}"


def _quote(text: str) -> str:
    """A text in double quotes, which YAML and JSON share; characters that YAML refuses are made visible."""
    return json.dumps(visible(" ".join(text.split())), ensure_ascii=False)
