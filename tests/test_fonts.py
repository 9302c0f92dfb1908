"""Fonts: what comes with the package shows every character it claims to, and pages get only what they use."""

from __future__ import annotations

import re
import subprocess
import sys
from base64 import b64decode
from io import BytesIO

import pytest
from fontTools.pens.recordingPen import DecomposingRecordingPen
from fontTools.ttLib import TTFont
from matplotlib.ft2font import FT2Font, LoadFlags

from scorereport.errors import UsageError
from scorereport.plots.fonts import FALLBACK, covers, font_faces, font_files, measure_text, replace_missing

LETTERS = "Grüße Ωμέγα Жук ő ş ž ạ ✓ ✗ ○ ≈ ∞ − × ≤ ≥ ± ↑ α ‹ › – — … · “ ” ’ שלום مرحبا".replace(" ", "")
RULE = re.compile(
    r'@font-face \{ font-family: "([^"]+)"; font-weight: (\d+); font-style: (\w+); src: url\("([^"]+)"\)'
)


def characters_of(path_or_file):
    with TTFont(path_or_file) as font:
        return {chr(code) for code in font.getBestCmap()}


def cut_fonts(text):
    """The fonts that a page of this text carries, by family, weight and style."""
    return {
        (family, int(weight), style): TTFont(BytesIO(b64decode(address.partition(",")[2])))
        for family, weight, style, address in RULE.findall(font_faces(text))
    }


# ---- What there is ----


def test_families_are_ours_and_their_files_are_there():
    assert {(font.family, font.weight, font.style) for font in font_files()} == {
        ("Report Sans", 400, "normal"),
        ("Report Sans", 600, "normal"),
        ("Report Sans", 400, "italic"),
        ("Report Serif", 400, "normal"),
        ("Report Serif", 600, "normal"),
        ("Report Serif", 400, "italic"),
        ("Report Mono", 400, "normal"),
        ("Report Fallback", 400, "normal"),
        ("Report Fallback", 700, "normal"),
    }
    assert all(font.path.suffix == ".ttf" and font.path.is_file() for font in font_files())


def test_missing_fonts_are_reported(monkeypatch):
    monkeypatch.setattr("scorereport.plots.fonts.find_spec", lambda _: None)
    font_files.cache_clear()
    try:
        with pytest.raises(
            UsageError, match=r"^The fonts of font_source_sans_pro are missing\. To fix: install "
        ):
            font_files()
    finally:
        font_files.cache_clear()


@pytest.mark.parametrize("family", ["Report Sans", "Report Serif", "Report Mono"])
def test_every_face_with_the_fallback_shows_the_letters(family):
    behind = [characters_of(font.path) for font in font_files() if font.family == FALLBACK]
    for font in font_files():
        if font.family == family:
            lacking = set(LETTERS) - characters_of(font.path)
            assert all(lacking <= characters for characters in behind)


# ---- What cannot be shown ----


def test_available_letters_are_kept():
    assert all(map(covers, LETTERS))
    assert replace_missing(LETTERS) == LETTERS
    spaces = "a b\u00a0c\u2003d\u3000e\tf\ng\r\nh\u00adi\u200bj"
    assert replace_missing(spaces) == spaces


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("模型 A", "‹U+6A21›‹U+578B› A"),
        ("to the 🚀", "to the ‹U+1F680›"),
        ("a\x00b\x07c\x0cd\x7fe\x85f", "a‹U+0000›b‹U+0007›c‹U+000C›d‹U+007F›e‹U+0085›f"),
        ("model\u200d", "model‹U+200D›"),
        ("✓\ufe0f", "✓‹U+FE0F›"),
        ("\u202egnp.exe", "‹U+202E›gnp.exe"),
        ("a\u2060b\ufeffc\u034fd", "a‹U+2060›b‹U+FEFF›c‹U+034F›d"),
        ("a\u2028b\U000e0041", "a‹U+2028›b‹U+E0041›"),
        ("half\ud83d", "half‹U+D83D›"),
        ("\uf8ff\u0378", "‹U+F8FF›‹U+0378›"),
        ("𝖠", "‹U+1D5A0›"),
    ],
    ids=[
        "Chinese",
        "emoji",
        "controls",
        "joiner",
        "variation",
        "direction",
        "ignorable",
        "separator",
        "surrogate",
        "private and unassigned",
        "not in bold",
    ],
)
def test_missing_and_invisible_characters_are_shown_by_number(text, shown):
    assert replace_missing(text) == shown
    assert replace_missing(shown) == shown
    shown.encode()


def test_names_that_differ_look_different():
    names = ["model", "model\u200d", "model\u200c", "mod\u2060el", "\u200emodel", "model\ufe0e", "model\x01"]
    assert len(set(map(replace_missing, names))) == len(names)


# ---- What a page gets ----


def test_without_text_the_rules_name_the_whole_files():
    rules = RULE.findall(font_faces())
    assert [address for *_, address in rules] == [font.path.as_uri() for font in font_files()]
    assert font_faces().count("\n") == len(font_files()) - 1


def test_a_cut_font_has_the_letters_of_the_text_only():
    fonts = cut_fonts("Model é → 0.5\n")
    assert set(fonts) == {
        (f.family, f.weight, f.style) for f in font_files() if f.family != "Report Fallback"
    } | {("Report Fallback", 400, "normal"), ("Report Fallback", 700, "normal")}
    assert {chr(code) for code in fonts["Report Serif", 400, "normal"].getBestCmap()} == set("Model é→0.5")
    assert {chr(code) for code in fonts["Report Serif", 400, "italic"].getBestCmap()} == set("Model é0.5")
    assert {chr(code) for code in fonts["Report Fallback", 400, "normal"].getBestCmap()} == {"→"}


def test_fonts_of_which_nothing_is_used_are_left_out():
    assert FALLBACK not in {family for family, *_ in cut_fonts("Only plain letters")}
    assert set(cut_fonts("שלום")) == {(FALLBACK, 400, "normal"), (FALLBACK, 700, "normal")}
    assert font_faces("模") == font_faces("") == ""


def test_characters_that_a_style_sheet_names_by_number_count():
    assert 0x2192 in cut_fonts(r'p::before { content: "\2192 " }')["Report Sans", 400, "normal"].getBestCmap()


def test_a_cut_font_has_the_features_that_text_needs():
    """Kerning, ligatures, forms of other languages ("fi" is not joined in Turkish), and accents to place."""
    font = cut_fonts("AV To office e\u0301 0")["Report Serif", 400, "normal"]
    tables = [font[tag].table for tag in ("GSUB", "GPOS")]
    features = {record.FeatureTag for table in tables for record in table.FeatureList.FeatureRecord}
    assert {"kern", "liga", "locl", "mark"} <= features
    assert not features & {"smcp", "c2sc", "sups", "frac"}


def test_a_cut_font_is_a_font_with_the_same_tables_each_compressed():
    """The checksums of all tables are right, and FreeType reads what is in the file."""
    (address,) = (
        found
        for family, weight, _, found in RULE.findall(font_faces("Ag"))
        if (family, weight) == ("Report Sans", "600")
    )
    content = b64decode(address.partition(",")[2])
    font = TTFont(BytesIO(content), checkChecksums=2)
    assert {"glyf", "cmap", "head", "hhea", "hmtx", "maxp", "name", "post"} <= set(font.keys())
    for tag, entry in font.reader.tables.items():
        assert len(font.reader[tag]) == entry.origLength >= entry.length
    assert any(entry.length < entry.origLength for entry in font.reader.tables.values())
    assert int.from_bytes(content[8:12]) == len(content)
    assert len(content) % 4 == 0
    font.flavor = None
    font.save(whole := BytesIO(), reorderTables=None)
    assert int.from_bytes(content[16:20]) == len(whole.getvalue())
    whole.seek(0)
    assert sorted(FT2Font(whole).get_charmap()) == [ord("A"), ord("g")]


def test_cut_fonts_keep_outlines_licence_and_figures_of_one_width():
    whole = TTFont(next(face.path for face in font_files() if face.family == "Report Serif"))
    font = cut_fonts("0123456789")["Report Serif", 400, "normal"]
    names = {character: font.getBestCmap()[ord(character)] for character in "0123456789"}
    assert len({font["hmtx"][name][0] for name in names.values()}) == 1
    assert "Adobe" in font["name"].getDebugName(0)
    for character, name in names.items():
        assert draw_outline(font, name) == draw_outline(whole, whole.getBestCmap()[ord(character)])


def draw_outline(font, name):
    pen = DecomposingRecordingPen(font.getGlyphSet())
    font.getGlyphSet()[name].draw(pen)
    return pen.value


@pytest.mark.parametrize("bold", [False, True])
def test_widths_of_text_are_those_of_freetype(bold):
    """Without kerning; a character that the font lacks has its width in the fallback."""
    paths = [face.path for face in font_files()]
    fonts = [FT2Font(str(paths[place])) for place in ((1, -1) if bold else (0, -2))]

    def advance(character):
        font = next(font for font in fonts if ord(character) in font.get_charmap())
        return font.load_char(ord(character), flags=LoadFlags.NO_SCALE).horiAdvance / font.units_per_EM

    for text in ("Brier score", "0.123", "Łódź", "∛○"):
        assert measure_text(text, bold=bold) == pytest.approx(sum(map(advance, text)), rel=1e-12)


@pytest.mark.sweep
def test_a_page_full_of_letters_carries_little():
    text = "".join(map(chr, range(32, 127))) + LETTERS
    assert len(font_faces(text)) < 150_000
    assert font_faces(text) == font_faces("".join(reversed(text)))


CUT = "from scorereport.plots.fonts import font_faces; print(font_faces('A0→'))"


@pytest.mark.sweep
def test_cut_fonts_are_the_same_bytes_in_every_process():
    found = {
        subprocess.run(
            [sys.executable, "-c", CUT],
            env={"PYTHONHASHSEED": seed, "TZ": zone, "SOURCE_DATE_EPOCH": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed, zone in (("1", "UTC"), ("2", "Asia/Tokyo"))
    }
    assert len(found) == 1


def test_text_is_measured_in_the_fonts_of_the_package_before_any_figure_is_drawn():
    """Matplotlib remembers a family that it did not find, so that no later figure would have it."""
    code = (
        "import logging, sys; logging.basicConfig(level='WARNING', stream=sys.stdout);"
        "from scorereport.plots.text import text_width; print(text_width('Wide', size=10))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "findfont" not in done.stdout
