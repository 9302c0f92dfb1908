"""Figures in a PDF: drawn from the small part of SVG that they use, and by WeasyPrint if there is more."""

from __future__ import annotations

import shutil
import subprocess
from base64 import b64encode

import numpy as np
import pikepdf
import pytest
from matplotlib.figure import Figure
from report_tools import list_figures, list_tags, open_pdf

from scorereport._utils.files import find_package_folder
from scorereport.plots.canvas import Canvas, render_svg
from scorereport.plots.style import report_style
from scorereport.report import page_figures, pdf
from scorereport.report.figure_drawing import read_drawing

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" {}>{}</svg>'
SIZE = 'width="30pt" height="15pt" viewBox="0 0 30 15"'
LINE = '<path d="M0 0L30 15" style="fill: none; stroke: #ff0000; stroke-width: 2"/>'


def svg_of(body, size=SIZE):
    return HEAD.format(size, body).encode()


def operators_of(body):
    drawing = read_drawing(svg_of(body), {})
    return None if drawing is None else b" ".join(o for o in drawing.operators if isinstance(o, bytes))


def draw_example():
    """A figure with lines, dashes, markers, a clipped and translucent area, and text in two directions."""
    with report_style():
        figure = Figure(figsize=(3, 2), dpi=100)
        axes = figure.add_axes((0.2, 0.25, 0.7, 0.6))
        x = np.linspace(0, 1, 30)
        axes.plot(x, x**2, color="#1f5f99", linestyle=(0, (5, 1.6)))
        axes.plot(x[::6], x[::6], marker="o", color="#d57a12", linewidth=0)
        axes.fill_between(x, x - 0.1, x + 0.1, color="#802945", alpha=0.2, linewidth=0)
        axes.set(xlabel="Forecast", ylabel="Frequency", ylim=(0, 0.5))
    return render_svg(figure)


def page_of(*figures):
    images = "".join(
        f'<img alt="x" src="data:image/svg+xml;base64,{b64encode(svg.encode()).decode()}">' for svg in figures
    )
    style = "<style>@page { size: A5; } img { display: block; width: 76mm; }</style>"
    return f'<html lang="en"><title>x</title>{style}<body>{images}</html>'


def test_the_size_is_in_css_pixels():
    drawing = read_drawing(svg_of(LINE), {})
    assert drawing.get_intrinsic_size(1, 16) == (40, 20, 2)


def test_a_line_has_its_colour_its_width_and_the_common_join():
    assert operators_of(LINE) == b"q 1 0 0 RG 2 w 0 J 1 j 4 M [] 0 d 0 0 m 30 15 l S Q"


def test_a_quadratic_curve_becomes_the_cubic_one_of_the_same_shape():
    assert b"0 0 m 2 4 4 4 6 0 c h f" in operators_of('<path d="M0 0Q3 6 6 0z" style="fill: #000000"/>')


def test_a_translucent_line_keeps_its_opacity():
    body = LINE.replace("stroke-width: 2", "stroke-opacity: 0.5; opacity: 0.5")
    (found,) = (o for o in read_drawing(svg_of(body), {}).operators if not isinstance(o, bytes))
    assert (found.value, found.is_stroke) == (0.25, True)


@pytest.mark.parametrize(
    "body",
    [
        "<text>x</text>",
        '<image width="1" height="1"/>',
        '<path d="M0 0A1 1 0 0 0 3 3" style="fill: #000000"/>',
        '<path d="m0 0l3 3" style="fill: #000000"/>',
        '<path d="M0 0L3 3" style="fill: url(#a)"/>',
        '<path d="M0 0L3 3" style="fill: red"/>',
        '<path d="M0 0L3 3" style="fill-rule: evenodd"/>',
        '<path d="M0 0L3 3" onclick="x"/>',
        '<path d="M0 0L3 3" style="fill: #000000; stroke: #000000; opacity: 0.5"/>',
        f'<g style="opacity: 0.5">{LINE}</g>',
        f'<g transform="skewX(3)">{LINE}</g>',
        f"<defs><style>path {{ fill: red }}</style></defs>{LINE}",
        '<use xlink:href="#nowhere"/>',
        LINE.replace("/>", ' clip-path="url(#nowhere)"/>'),
    ],
)
def test_a_picture_with_anything_else_is_left_to_weasyprint(body):
    assert operators_of(body) is None


@pytest.mark.parametrize(
    "size", ['width="1pt" height="1pt"', SIZE.replace("0 0", "5 5"), SIZE.replace("pt", "em")]
)
def test_a_picture_of_unknown_size_is_left_to_weasyprint(size):
    assert read_drawing(svg_of(LINE, size), {}) is None


def test_something_that_is_not_svg_is_left_to_weasyprint():
    assert read_drawing(b"<svg", {}) is None


def test_a_glyph_is_one_object_however_often_it_is_drawn():
    figure = draw_example()
    once, twice = (open_pdf(pdf.render_pdf(page_of(*[figure] * times))) for times in (1, 2))
    names = [set(found.pages[0].Resources.XObject.keys()) for found in (once, twice)]
    assert names[0] == names[1]
    assert len(names[0]) >= len(set("ForecastFrequency"))


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="poppler-utils is not installed")
def test_a_figure_looks_as_weasyprint_draws_it(tmp_path, monkeypatch):
    page = page_of(draw_example())
    short, drawings = page_figures.take_out_figures(page)
    assert list(drawings) == ["figure:1"]
    assert 'src="figure:1"' in short
    (tmp_path / "ours.pdf").write_bytes(pdf.render_pdf(page))
    monkeypatch.setattr(page_figures, "read_drawing", lambda *_: None)
    (tmp_path / "theirs.pdf").write_bytes(pdf.render_pdf(page))
    ours, theirs = (_read_pixels(tmp_path / name) for name in ("ours.pdf", "theirs.pdf"))
    assert theirs.std() > 5  # something is drawn
    assert (abs(ours - theirs) > 60).mean() < 1e-4


# ---- Figures that pages may divide ----


def draw_rows(*, divided):
    """A figure with two rows of panels, 60 mm by 80 mm."""
    with report_style():
        canvas = Canvas.of(60.0, 80.0)
        for top in (2.0, 42.0):
            canvas.panel(10.0, top, 45.0, 28.0).plot([0, 1], [0, top], color="#1f5f99")
        if divided:
            canvas.divide([0.0, 40.0])
    return render_svg(canvas.figure)


def test_a_figure_is_divided_into_its_rows():
    drawing = read_drawing(svg_of(LINE, f'{SIZE} data-breaks="5 9"'), {})
    rows = drawing.divide()
    assert [(row.top, row.view) for row in rows] == [(0, (30, 5)), (5, (30, 4)), (9, (30, 6))]
    assert [row.height for row in rows] == pytest.approx([20 / 3, 16 / 3, 8])
    assert all(row.width == 40 and not row.breaks for row in rows)


def test_a_figure_without_breaks_is_not_divided():
    (row,) = read_drawing(svg_of(LINE), {}).divide()
    assert row.get_intrinsic_size(1, 16) == (40, 20, 2)
    assert "data-breaks" not in draw_rows(divided=False)


def test_rows_have_alternative_texts():
    made = pdf.render_pdf(page_of(draw_rows(divided=True), draw_example()))
    assert list_figures(made) == ["x", "Row 2 of 2 of the figure that is described before.", "x"]


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="poppler-utils is not installed")
def test_rows_together_look_as_the_figure(tmp_path):
    pixels = []
    for divided in (False, True):
        path = tmp_path / f"{divided}.pdf"
        path.write_bytes(pdf.render_pdf(page_of(draw_rows(divided=divided))))
        pixels.append(_read_pixels(path))
    assert pixels[0].std() > 5
    assert (abs(pixels[0] - pixels[1]) > 60).mean() < 1e-4


@pytest.mark.parametrize(
    ("room", "first"), [(30, []), (60, ["x"]), (87, ["x"]), (105, ["x", "Row", "Caption"])]
)
def test_a_page_ends_between_rows_and_the_caption_stays_with_the_last(room, first):
    folder = find_package_folder("templates")
    style = "".join((folder / name).read_text(encoding="utf-8") for name in ("style.css", "paper.css"))
    address = f"data:image/svg+xml;base64,{b64encode(draw_rows(divided=True).encode()).decode()}"
    figure = f'<figure><img src="{address}" alt="x" style="--width: 60mm; aspect-ratio: 60 / 80">'
    filled = f'<h1 style="height: {252 - room}mm; margin: 0">Filled</h1>'
    body = f"{filled}{figure}<figcaption>Caption</figcaption></figure>"
    made = pdf.render_pdf(f'<html lang="en"><title>x</title><style>{style}</style><body>{body}</html>')
    with open_pdf(made) as document:
        tags = [tag for tag in list_tags(document) if tag.S in ("/Figure", "/Caption")]
        page = document.pages[0].objgen
        found = [
            str(tag.get("/Alt", "Caption")).split()[0] for tag in tags if page_of_tag(tag).objgen == page
        ]
    assert found == first


def page_of_tag(tag):
    """The page of an element of the structure, or of the first element inside it."""
    while "/Pg" not in tag:
        kids = tag.K if isinstance(tag.K, pikepdf.Array) else [tag.K]
        tag = next(kid for kid in kids if isinstance(kid, pikepdf.Dictionary))
    return tag.Pg


def _read_pixels(path):
    command = ["pdftoppm", "-r", "60", path]
    image = subprocess.run(command, capture_output=True, check=True).stdout
    _, size, _, pixels = image.split(b"\n", 3)
    width, height = map(int, size.split())
    return np.frombuffer(pixels, dtype=np.uint8).reshape(height, width, 3).astype(int)
