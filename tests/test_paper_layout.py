"""Layout on paper: widths of columns from their texts, and page numbers set after the layout."""

from __future__ import annotations

import re
import subprocess
from types import SimpleNamespace

import pytest
from ink_tools import find_ink_outside, measure_pages
from report_tools import read_pages, squeeze

from scorereport._utils.files import find_package_folder
from scorereport.errors import UsageError
from scorereport.plots.fonts import measure_text
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.report import pdf
from scorereport.report.page_numbers import DIGITS, set_page_numbers
from scorereport.report.tables import column_widths
from scorereport.report.tables.column_widths import count_lines, set_widths
from scorereport.report.tables.reference_tables import expected_table
from scorereport.report.tables.table import Table, describe_table
from scorereport.report.templates import render_html

TIME = "2026-11-15T08:30:12+01:00"
STYLE = """
@page { size: A6; font-family: "Report Sans", "Report Fallback"; }
body { font-family: "Report Serif", "Report Fallback"; }
h2 { break-before: page; }
"""


def page_of(body, style):
    head = f'<meta charset="utf-8"><title>A page</title><style>{STYLE}{style}</style>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>'


def text_of(body, style, tmp_path):
    path = tmp_path / "text.pdf"
    path.write_bytes(pdf.render_pdf(page_of(body, style), created=TIME))
    return subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout


def describe(heads, rows, n_labels=1):
    return describe_table(Table(caption="c", heads=heads, rows=rows, n_labels=n_labels))


def test_only_labels_that_repeat_the_one_above_are_muted() -> None:
    table = Table(caption="c", heads=("model", "n"), rows=tuple((label, "1") for label in "xyxx"), n_labels=1)
    rows = describe_table(table)["bodies"][0]["rows"]
    assert [row["cells"][0]["tone"] for row in rows] == ["", "", "", "again"]


def widths_of(table):
    return [float(head["width"].removesuffix("%")) * column_widths._PAGE / 100 for head in table["heads"]]


# ---- Lines of labels ----

LABELS = (
    "Model",
    "Overfit-corrected MCB and DSC, with intervals",
    "Distances to a smooth curve (ICI, E50, E90, Emax)",
    "Software and versions",
    "Data fingerprint, SHA-256 of the file",
    "Uncertainty of a score",
    "Method of the calibration line and its test at slope 1, with clusters",
)


@pytest.mark.parametrize(
    ("width", "size", "bold"), [(44, 9, False), (26, 9, False), (24, 8.5, False), (40, 8, True)]
)
def test_labels_have_as_many_lines_as_on_paper(width, size, bold, tmp_path):
    weight = 600 if bold else 400
    style = f'p {{ margin: 0 0 6mm; width: {width}mm; font: {weight} {size}pt "Report Sans" }}'
    body = "§".join(f"<p>{label}</p>" for label in LABELS)
    found = text_of(body, f"@page {{ size: A4 }} {style}", tmp_path).split("§")
    counted = [count_lines(label, width, size, bold=bold) for label in LABELS]
    assert [len(text.strip().split("\n")) for text in found] == counted
    assert len(set(counted)) > 1


def test_labels_are_measured_at_the_widths_and_sizes_of_the_style():
    folder = find_package_folder("templates")
    style = (folder / "paper.css").read_text()
    calls = "".join((folder / name).read_text() for name in ("macros.html", "sections/methods.html"))
    widths = set(re.findall(r"count_lines\([\w.]+, (\d+),", calls)) | set(re.findall(r"width=(\d+)", calls))
    assert {"44", "24", "40"} <= widths
    for width in widths:
        assert re.search(rf"dt {{[^}}]*width: {width}mm", style), width


# ---- Widths of columns ----


def test_columns_fill_the_page_and_labels_take_what_numbers_leave():
    table = describe(("model", "score"), (("boost", "0.1"), ("a much longer label", "0.2")))
    assert table["look"].split()[-1] == "measured"
    label, number = widths_of(table)
    assert label + number == pytest.approx(column_widths._PAGE, abs=0.02)
    assert number == pytest.approx(21, abs=0.02)  # the least width of numbers in a roomy table


def test_quantities_of_a_certificate_take_what_other_columns_leave():
    quantity = "resampled confidence band, in distribution, 1,000 cases"
    line = Comparison(
        subject="logit",
        quantity=quantity,
        engine=0.9164,
        reference=0.9164,
        verdict=Verdict.EXPECTED,
        reason="r",
    )
    subject, widest, *numbers, verdict = widths_of(expected_table([line]))
    assert max(subject, *numbers) < 20 < widest / 2
    assert sum([subject, widest, *numbers, verdict]) == pytest.approx(column_widths._PAGE, abs=0.03)


def test_a_number_is_never_wider_than_its_column():
    wide = "−123,456,789.123456"
    _, number = widths_of(describe(("model", "x"), (("a", "1"), ("b", wide))))
    assert number >= measure_text(wide) * 8.5 * 25.4 / 72


def test_characters_without_a_glyph_are_measured_as_they_are_shown():
    assert measure_text("\N{SLIGHTLY SMILING FACE}") == measure_text("‹U+1F642›")
    assert measure_text("\u2028") == measure_text("‹U+2028›")
    assert measure_text("\u00ad") >= 0
    assert measure_text("ab", bold=True) > measure_text("ab") > measure_text("a") > 0


def test_long_words_leave_room_for_the_other_columns():
    rows = (("x" * 400, "y" * 400, "0.1234"),)
    first, second, number = widths_of(describe(("model", "map", "score"), rows, 2))
    assert first == pytest.approx(second, rel=0.2)
    assert number >= 16.9


def count_columns(table):
    """The numbers of columns of a table and of its further parts."""
    return [len(part["heads"]) for part in (table, *table.get("further", ()))]


def test_a_table_too_wide_for_its_type_gets_smaller_type():
    heads = ("model", *(f"number {place}" for place in range(6)))
    looks = [
        describe(heads, (("a", *(number,) * 6),))["look"].split()
        for number in ("0.123", "0.123456789012345", "0.12345678901234567")
    ]
    assert [look[1] for look in looks] == ["roomy", "tight", "dense"]
    assert all(look[-1] == "measured" for look in looks)


def test_columns_that_fit_on_no_page_are_divided_over_several_tables():
    heads = ("model", "map", *(f"n{place}" for place in range(40)))
    table = describe(heads, (("a", "b", *(f"0.12345678{place:02d}" for place in range(40))),), 2)
    parts = [table, *table["further"]]
    assert count_columns(table) == [len(part["bodies"][0]["rows"][0]["cells"]) for part in parts]
    assert [head["text"] for part in parts for head in part["heads"][2:]] == list(heads[2:])
    for part in parts:
        assert [cell["text"] for cell in part["bodies"][0]["rows"][0]["cells"][:2]] == ["a", "b"]
        assert sum(widths_of(part)) == pytest.approx(column_widths._PAGE, abs=0.05)
        assert min(widths_of(part)[2:]) >= measure_text("0.1234567800") * 7.25 * 25.4 / 72


def test_long_words_of_heads_are_broken_before_columns_are_divided():
    heads = ("model", *(f"quadratic_weighted_kappa_{place}" for place in range(8)))
    table = describe(heads, (("a", *("0.1",) * 8),))
    assert count_columns(table) == [9]
    assert table["look"].split()[1] == "dense"


@pytest.mark.parametrize(
    "table",
    [
        describe(("model", *(f"n{place}" for place in range(30))), (("a", *("0.1234",) * 30),) * 3),
        describe(
            ("model", *(f"quadratic_weighted_kappa_{place}" for place in range(12))), (("a", *("0.1",) * 12),)
        ),
        describe(("x" * 60, "y" * 60, "z" * 60), (("x" * 300, "y" * 300, "−123,456,789,012,345,678.1"),), 2),
        describe(tuple(f"text {place}" for place in range(9)), (("w" * 30,) * 9,), 9),
    ],
    ids=["many columns", "long heads", "long words", "many texts"],
)
def test_no_table_leaves_the_margins(table, tmp_path):
    (tmp_path / "table.html").write_text(
        '{% import "macros.html" as use with context %}<html lang="en"><head><title>A table</title><style>'
        '{% include "style.css" %}{% include "paper.css" %}</style></head><body><h1>A table</h1>'
        "{{ use.data_table(table) }}</body></html>"
    )
    made = pdf.render_pdf(render_html("table.html", {"table": table}, templates=tmp_path), created=TIME)
    assert find_ink_outside(measure_pages(made)) == {}
    text = squeeze(" ".join(read_pages(made)))
    assert [number for number in list_numbers(table) if number not in text] == []


def list_numbers(table):
    """The texts of the cells that are never broken."""
    parts = (table, *table.get("further", ()))
    rows = [row["cells"] for part in parts for body in part["bodies"] for row in body["rows"]]
    return [squeeze(cell["text"]) for row in rows for cell in row if cell["kind"] == "number"]


def test_widths_are_those_of_the_style_sheet():
    sheet = (find_package_folder("templates") / "paper.css").read_text(encoding="utf-8")
    margins = re.search(r"margin: 24mm (\d+)mm 21mm", sheet)
    assert 210 - 2 * float(margins[1]) == column_widths._PAGE
    for name, look in (column_widths._LOOKS | {"": column_widths._Look()}).items():
        prefix = rf"\.{name} " if name else "  "
        number = re.search(rf"{prefix}col\.number \{{ width: (\d+)mm", sheet)
        assert look.number == float(number[1])
        if name != "roomy":
            size = re.search(rf"{prefix.strip() or 'table'} \{{ font-size: ([\d.]+)pt", sheet)
            assert look.size == float(size[1])
    assert f"inline-block; width: {column_widths._DETAIL_WIDTH}em" in sheet
    assert f"calc({column_widths._DETAIL_HEAD_WIDTH}em + 2.5mm)" in sheet
    assert f"col.verdict {{ width: {column_widths._VERDICT:g}mm" in sheet


def test_widths_do_not_change_the_table_given():
    table = {"look": "summary", "heads": [{"text": "a", "kind": "text"}], "bodies": []}
    assert set_widths(table)["heads"] != table["heads"]
    assert "width" not in table["heads"][0]


# ---- Page numbers ----


def contents(*targets, zeros="00"):
    style = f'li::after {{ content: ", page " "{zeros}"; }} b::after {{ content: "{zeros}"; }}'
    items = "".join(f'<li data-target="#{target}">{target}</li>' for target in targets)
    return style, f"<ul>{items}</ul>"


def test_references_have_the_number_of_their_page(tmp_path):
    style, items = contents("two", "first", "three")
    body = f'{items}<h2 id="first">First</h2><h2 id="two">Second</h2><h2 id="three">Third</h2>'
    text = text_of(body, style, tmp_path)
    assert re.findall(r"\w+, page \d+", text) == ["two, page 3", "first, page 2", "three, page 4"]


def set_in(text, *, page=1, tag="li::after", digits=2):
    """Return the text of a box after page numbers are set, if its target is on a page."""
    box = SimpleNamespace(
        text=text,
        element_tag=tag,
        element={"data-target": "#here"},
        pango_layout=SimpleNamespace(text=text),
    )
    pages = [SimpleNamespace(anchors=(), _page_box=SimpleNamespace()) for _ in range(page)]
    pages[-1].anchors = {"here": (0, 0)}
    for number, each in enumerate(pages):
        each._page_box.descendants = lambda placeholders, boxes=[box] * (number == 0): (
            boxes if placeholders else []
        )
    set_page_numbers(SimpleNamespace(pages=pages), digits)
    assert box.text == box.pango_layout.text
    return box.text


def test_numbers_without_other_text_end_at_the_same_place():
    assert (set_in("00", page=5), set_in("00", page=12)) == ("\u20075", "12")
    assert set_in("000", page=12, digits=3) == "\u200712"
    assert set_in(", page 00", page=5) == ", page 5"


def test_other_zeros_stay():
    for text in ("100", "00 pages", "0", "page 12"):
        assert set_in(text, page=3) == text
    assert set_in("00", page=3, tag="li") == "00"


def test_more_pages_get_more_digits(monkeypatch, tmp_path):
    monkeypatch.setattr(pdf, "DIGITS", 1)
    rooms = []
    monkeypatch.setattr(
        pdf, "set_page_numbers", lambda document, n: rooms.append(n) or set_page_numbers(document, n)
    )
    style = "li::after { content: var(--page-number); } :root { --page-number: '0'; }"
    body = '<ul><li data-target="#last">last: </li></ul>' + "<h2>x</h2>" * 9 + '<p id="last">here</p>'
    text = text_of(body, style, tmp_path)
    assert "last: 10" in text
    assert rooms == [2]


def test_a_reference_to_nothing_is_refused():
    style, items = contents("nowhere")
    with pytest.raises(UsageError, match="refers to #nowhere, which it does not have"):
        pdf.render_pdf(page_of(items, style), created=TIME)


def test_the_style_sheet_leaves_room_for_as_many_digits():
    sheet = (find_package_folder("templates") / "paper.css").read_text(encoding="utf-8")
    assert f'--page-number: "{"0" * DIGITS}"' in sheet
