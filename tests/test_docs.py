"""The documentation: one glossary entry for each term, links that resolve, and the words of the field."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GLOSSARY = ROOT / "docs" / "glossary.md"
#: Folders whose texts use the words of the glossary only.
FOLDERS = ("docs", "templates")
SUFFIXES = (".md", ".html", ".toml")
#: "is no" is good English before these.
COMPARATIVES = "better|worse|older|later|larger|smaller|fewer|less"
#: Words that are unclear to readers, each with the words to use instead.
AVOIDED = {
    r"tells?|told|telling|untold|news": "describe, state, report (texts); notify (people)",
    r"came": "observed, the observed class",
    r"laws?": "distribution",
    r"stretch(?:es|ed|ing)?": "chunk (rows in order), segment (a range of forecasts)",
    r"shel(?:f|ves)": "report folder",
    r"lots?": "batch",
    r"reminders?": "pending notification",
    r"vaults?": "secrets",
    r"gather(?:s|ed|ing)?": "load",
    r"(?<!traffic )lights?": "verdict",
    r"prices? of (?:the )?overfit": "overfit weight",
    r"mend(?:s|ed|ing)?": "fix; To fix:",
    rf"(?<!there )(?:is|are) no(?! (?:longer|more|{COMPARATIVES})\b)": "X is not a Y",
    r"(?:of|with) (?:K |several |ordered )?classes the": "with K classes, the ...",
    r"so (?:many|much)": "this many, up to N",
    r"less overfit": "overfit-corrected",
    r"whoever|nobody": "a reader who ..., anyone who ...",
    r"judged is": "the interval is judged",
    r"cannot tell": "the data are consistent with both",
}
_HEADING = re.compile(r"^#+ (.+?) *$", re.MULTILINE)
_TERM = re.compile(r"^### (.+?) *$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s]*)\)")
_CODE = re.compile(r"^(```|~~~).*?^\1|^ {4}\S.*?$|`[^`\n]*`", re.MULTILINE | re.DOTALL)

#: Parts of a template that are not texts: elements, style sheets and statements of Jinja.
_MARKUP = re.compile(r"<style>.*?</style>|\{[{%#].*?[}%#]\}|<[^>]*>", re.DOTALL)


def list_pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def list_texts():
    files = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*"))]
    texts = [path for path in files if path.suffix in SUFFIXES]
    return [ROOT / "README.md", *texts]


def name_page(path):
    return path.relative_to(ROOT).as_posix()


def make_anchor(heading):
    """The anchor that GitHub gives to a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def list_anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    return [make_anchor(heading) for heading in _HEADING.findall(text)]


def find_avoided(text, code=_CODE):
    """The avoided words in a text, with line numbers; code is skipped."""
    prose = code.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    return [
        f"line {prose.count(chr(10), 0, found.start()) + 1}: {found[0]!r} (write: {better})"
        for words, better in AVOIDED.items()
        for found in re.finditer(rf"\b(?:{words})\b", prose, re.IGNORECASE)
    ]


def test_each_term_of_the_glossary_has_one_anchor():
    counts = Counter(list_anchors(GLOSSARY))
    assert len(counts) > 100
    assert [anchor for anchor, number in counts.items() if number > 1] == []


def test_terms_stand_in_alphabetical_order():
    terms = [
        re.split("[ -]", term.casefold()) for term in _TERM.findall(GLOSSARY.read_text(encoding="utf-8"))
    ]
    assert terms == sorted(terms)


@pytest.mark.parametrize("page", list_pages(), ids=name_page)
def test_links_between_pages_resolve(page):
    for link in _LINK.findall(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert list_anchors(target).count(anchor) == 1, link


def is_written_by_hand(page):
    """Pages of the reference hold docstrings, and two pages include files of the repository."""
    return page.parent.name != "api" and page.name not in ("changelog.md", "contributing.md")


@pytest.mark.parametrize(
    "page", [p for p in list_pages() if p != GLOSSARY and is_written_by_hand(p)], ids=name_page
)
def test_pages_link_to_the_glossary(page):
    assert "glossary.md" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", list_texts(), ids=name_page)
def test_texts_use_the_words_of_the_field(path):
    code = _MARKUP if path.suffix == ".html" else _CODE
    assert find_avoided(path.read_text(encoding="utf-8"), code) == []


def test_avoided_words_are_found_outside_of_code():
    code = "```\nso many\n```\n\n    whoever\n"
    text = f"Data tell nothing.\n\n{code}\nIt is no older; `came` is a name.\nThat is no model."
    assert find_avoided(text) == [
        "line 1: 'tell' (write: describe, state, report (texts); notify (people))",
        "line 10: 'is no' (write: X is not a Y)",
    ]
