"""Fonts reduced to some characters, as WOFF; the characters of a font, and their widths."""

from __future__ import annotations

import re
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

#: Font features of a subset: accents, kerning, ligatures, and tabular figures.
_FEATURES = ("ccmp", "locl", "mark", "mkmk", "kern", "liga", "tnum", "lnum")
#: The tables of these features.
_LAYOUT = ("GDEF", "GPOS", "GSUB")
#: Ids of the names that a subset keeps: copyright, family, style and licence.
_NAMES = frozenset({0, 1, 2, 4, 6, 14})
#: Characters that are set one after the other, without marks to place or to combine: letters of Latin,
#: Greek and Cyrillic, punctuation, small figures, letters as symbols, arrows, mathematics and shapes.
_PLAIN = re.compile(
    r"[\x20-\x7e\xa0-\u024f\u037e-\u03ff\u0400-\u045f\u2000-\u200a\u2010-\u2027"
    r"\u202f-\u205e\u2070-\u209c\u20a0-\u20bf\u2100-\u218b\u2190-\u23ff\u2500-\u27bf]*"
)


@cache
def read_coverage(path: Path) -> frozenset[int]:
    """Return the characters of a font."""
    with _open(path) as font:
        return frozenset(font.getBestCmap())


@cache
def read_character_widths(path: Path) -> dict[int, float]:
    """Return the width of each character of a font in ems."""
    with _open(path) as font:
        widths, units = font["hmtx"], font["head"].unitsPerEm
        return {character: widths[glyph][0] / units for character, glyph in font.getBestCmap().items()}


def cut_font(path: Path, characters: frozenset[int], *, is_english: bool = True) -> bytes:
    """Return a font with only these characters, for text in English or in other languages.

    For plain English text it has no features: on a screen kerning is hardly seen, all figures have one width
    anyway, and fontTools takes five times as long to reduce the tables of features.
    """
    from fontTools import subset

    is_plain = is_english and _PLAIN.fullmatch("".join(map(chr, sorted(characters)))) is not None
    target = BytesIO()
    with _open(path) as font:
        for tag in _LAYOUT if is_plain else ():
            if tag in font:
                del font[tag]
        names = font["name"]
        names.names = [name for name in names.names if name.nameID in _NAMES and name.isUnicode()]
        del font["name"]  # otherwise all tables are searched for references to names
        features = [] if is_plain else list(_FEATURES)
        options = subset.Options(layout_features=features, hinting=False, notdef_outline=True)
        options.drop_tables += ["FFTM", "MATH"]
        subsetter = subset.Subsetter(options)
        subsetter.populate(unicodes=sorted(characters))
        subsetter.subset(font)
        font["name"] = names
        font.flavor = "woff"  # WOFF2 is a fifth smaller, and takes half as long again
        font.save(target)
    return target.getvalue()


def _open(path: Path) -> Any:
    from fontTools.ttLib import TTFont

    return TTFont(path, lazy=True, recalcTimestamp=False, recalcBBoxes=False)
