"""Fonts of the package: their files, the characters they cover, and their CSS.

Text is set in "Report Serif", "Report Sans" or "Report Mono", each followed by "Report Fallback" in the style
sheet; these names are specific to the package, because a generic name would select a font of the machine.
"""

from __future__ import annotations

import re
from base64 import b64encode
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING
from unicodedata import category

from scorereport.errors import UsageError
from scorereport.plots.font_subsets import cut_font, read_character_widths, read_coverage

if TYPE_CHECKING:
    from collections.abc import Iterable

FALLBACK = "Report Fallback"
#: Categories of invisible characters: controls, formats, surrogates, line separators.
_UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
#: In addition, characters without a defined glyph: private use, and not assigned.
_WITHOUT_GLYPH = _UNSEEN | {"Co", "Cn"}
#: Characters that renderers omit although they are letters, marks or symbols.
_OMITTED = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
#: Line ends and optional word breaks, which are invisible by intent.
_INVISIBLE = frozenset("\t\n\r\u00ad\u200b")
#: A character written by its number in a style sheet.
_CSS_ESCAPE = re.compile(r"\\([0-9a-fA-F]{1,6})")


@dataclass(frozen=True, slots=True, kw_only=True)
class FontFile:
    """One face of a font family, and its file."""

    family: str
    weight: int
    style: str
    path: Path


@cache
def font_files() -> tuple[FontFile, ...]:
    """Return all faces of the package, the fallback last."""
    sans = _package_folder("font_source_sans_pro")
    serif = _package_folder("font_source_serif_pro")
    dejavu = _matplotlib_folder()
    faces = (
        ("Report Sans", 400, "normal", sans / "SourceSansPro-Regular.ttf"),
        ("Report Sans", 600, "normal", sans / "SourceSansPro-Semibold.ttf"),
        ("Report Sans", 400, "italic", sans / "SourceSansPro-It.ttf"),
        ("Report Serif", 400, "normal", serif / "SourceSerifPro-Regular.ttf"),
        ("Report Serif", 600, "normal", serif / "SourceSerifPro-Semibold.ttf"),
        ("Report Serif", 400, "italic", serif / "SourceSerifPro-It.ttf"),
        ("Report Mono", 400, "normal", dejavu / "DejaVuSansMono.ttf"),
        (FALLBACK, 400, "normal", dejavu / "DejaVuSans.ttf"),
        (FALLBACK, 700, "normal", dejavu / "DejaVuSans-Bold.ttf"),
    )
    return tuple(
        FontFile(family=family, weight=weight, style=style, path=_check_font(path))
        for family, weight, style, path in faces
    )


def covers(character: str) -> bool:
    """Whether a character can be shown everywhere, that is, is in every face of the fallback."""
    omitted = category(character) in _WITHOUT_GLYPH or _OMITTED.match(character) is not None
    return not omitted and ord(character) in _covered()


def replace_missing(text: str) -> str:
    """Replace characters that no font of the package can show by their number, as ‹U+6A21›.

    Names that differ therefore look different. Spaces, line ends and optional word breaks are kept.
    """
    return _show_numbers(text, {character for character in set(text) if not covers(character)})


def replace_invisible(text: str) -> str:
    """Replace characters that are invisible in any font by their number, as ‹U+202E›."""
    return _show_numbers(text, {character for character in set(text) if category(character) in _UNSEEN})


def _show_numbers(text: str, characters: Iterable[str]) -> str:
    numbers = {
        ord(character): f"‹U+{ord(character):04X}›"
        for character in characters
        if character not in _INVISIBLE and category(character) != "Zs"
    }
    return text.translate(numbers) if numbers else text


def font_faces(text: str | None = None, *, has_italics: bool = True) -> str:
    """Return the `@font-face` rules of the fonts, without the italic ones if nothing is in italics.

    Without `text`, they refer to the font files. With `text`, which may be the source of a page, they contain
    the fonts, reduced to the characters of the text; the fallback has only those that another face lacks.
    """
    fonts = [font for font in font_files() if has_italics or font.style == "normal"]
    if text is None:
        return "\n".join(_rule(font, font.path.as_uri(), "truetype") for font in fonts)
    characters = _characters_of(text)
    subsets = ((font, characters & _needed(font, characters)) for font in fonts)
    return "\n".join(_rule(font, _embed(font.path, some), "woff") for font, some in subsets if some)


def _characters_of(text: str) -> frozenset[int]:
    """Return the characters of a page, including those that its style sheet writes by number."""
    escaped = (int(digits, 16) for digits in _CSS_ESCAPE.findall(text))
    return frozenset(map(ord, set(text))).union(escaped) - {ord(character) for character in _INVISIBLE}


def _needed(font: FontFile, characters: frozenset[int]) -> frozenset[int]:
    """Return the characters that a face provides: all it has or, for the fallback, those that others lack."""
    if font.family != FALLBACK:
        return read_coverage(font.path)
    others = (read_coverage(other.path) for other in font_files() if other.family != FALLBACK)
    everywhere = characters.intersection(*others)
    return read_coverage(font.path) - everywhere


def _rule(font: FontFile, address: str, kind: str) -> str:
    return (
        f'@font-face {{ font-family: "{font.family}"; font-weight: {font.weight}; font-style: {font.style}; '
        f'src: url("{address}") format("{kind}"); }}'
    )


@lru_cache(maxsize=64)
def _embed(path: Path, characters: frozenset[int]) -> str:
    """Return a font with only these characters as a data address; the same bytes every time."""
    return f"data:font/woff;base64,{b64encode(cut_font(path, characters)).decode()}"


@cache
def _covered() -> frozenset[int]:
    """Return the characters in every face of the fallback, which can be shown in any style and family."""
    first, *others = (read_coverage(font.path) for font in font_files() if font.family == FALLBACK)
    return first.intersection(*others)


def measure_text(text: str, *, bold: bool = False) -> float:
    """Return the width of a line of text in the sans-serif font of a page, in ems, without kerning."""
    return sum(_measure_character(character, bold) for character in replace_missing(text))


@lru_cache(maxsize=4096)
def _measure_character(character: str, bold: bool) -> float:
    """Return the width of a character, in the fallback if the font lacks it; one em if both do."""
    regular, semibold, *_, fallback, bold_fallback = (font.path for font in font_files())
    first, second = (semibold, bold_fallback) if bold else (regular, fallback)
    width = read_character_widths(first).get(ord(character))
    return read_character_widths(second).get(ord(character), 1.0) if width is None else width


def _package_folder(package: str) -> Path:
    """Return the folder of the fonts in a package, without importing it."""
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise UsageError(
            f"The fonts of {package} are missing. To fix: install scorereport with its dependencies."
        )
    return Path(found.submodule_search_locations[0]) / "files"


def _matplotlib_folder() -> Path:
    """Return the folder of the fonts of Matplotlib, which is imported only if they are not beside it."""
    found = find_spec("matplotlib")
    for place in (found.submodule_search_locations or ()) if found is not None else ():
        folder = Path(place, "mpl-data", "fonts", "ttf")
        if folder.is_dir():
            return folder
    from matplotlib import get_data_path

    return Path(get_data_path(), "fonts", "ttf")


def _check_font(path: Path) -> Path:
    if not path.is_file():
        raise UsageError(f"The font {path} is missing. To fix: reinstall the package that contains it.")
    return path
