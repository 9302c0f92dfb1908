"""The pages in a real browser: what loads, what can be read, and what fits a phone."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pikepdf
import pytest
from artefact_tools import make_once, shared_folder
from browser_tools import browser_fixture

import scorereport as sr
from scorereport.reference.comparison_records import Comparison, Verdict
from scorereport.reference.reference_documents import Study, StudySection
from scorereport.report.document_context import describe_study
from scorereport.report.page_policy import add_policy
from scorereport.report.templates import embed_fonts, render_html

pytestmark = pytest.mark.sweep

HOSTILE = "<script>alert(1)</script>"
BRACES = "{{ 7*7 }}"
LONG = "a_name_without_any_place_to_break_it_" * 3

#: Texts whose contrast with their background is too low, as WCAG computes it.
PALE_TEXTS = """() => {
  const parse = (colour) => {
    const [r, g, b, a = 1] = colour.match(/[\\d.]+/g).map(Number);
    return {rgb: [r, g, b], a};
  };
  const over = (front, back) => front.rgb.map((v, i) => front.a * v + (1 - front.a) * back[i]);
  const behind = (element) => {
    if (!element) return parse(getComputedStyle(document.documentElement).backgroundColor).a
      ? parse(getComputedStyle(document.documentElement).backgroundColor).rgb : [255, 255, 255];
    return over(parse(getComputedStyle(element).backgroundColor), behind(element.parentElement));
  };
  const luminance = (rgb) => {
    const linear = (v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.map((v) => linear(v / 255));
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (one, two) => {
    const [low, high] = [luminance(one), luminance(two)].sort((a, b) => a - b);
    return (high + .05) / (low + .05);
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const pale = [];
  for (let node; (node = walker.nextNode());) {
    const element = node.parentElement, style = getComputedStyle(element), size = parseFloat(style.fontSize);
    if (!node.data.trim() || !element.getClientRects().length) continue;
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const background = behind(element), found = ratio(over(parse(style.color), background), background);
    if (found < (large ? 3 : 4.5)) pale.push([node.data.trim().slice(0, 40), style.color, found.toFixed(2)]);
  }
  return pale;
}"""


@dataclass
class Visit:
    """An open page, with its requests and its error messages."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    dialogs: list[str] = field(default_factory=list)

    def ask(self, script: str) -> Any:
        return self.page.evaluate(script)


browser = pytest.fixture(scope="module")(browser_fixture)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = shared_folder(tmp_path_factory, "pages")
    return make_once(folder, lambda: _write_pages(folder))


def _write_pages(folder):
    study = folder / "study.html"
    page = add_policy(render_html("validation.html", describe_study(_make_study())))
    study.write_text(embed_fonts(page), encoding="utf-8")
    written = sr.write_report(_evaluate(), folder / "report.html", date="2026-11-15", profile="full")
    return {"report": written, "study": study}


def _evaluate():
    rng = np.random.default_rng(8)
    forecast = rng.random(200).round(2)
    frame = pd.DataFrame(
        {
            "y": (rng.random(200) < forecast).astype(int),
            HOSTILE: forecast,
            LONG: forecast**2,
            "region": rng.choice(["north", BRACES], 200),
        }
    )
    return sr.evaluate(
        frame, outcome="y", forecasts=[HOSTILE, LONG], groups="region", cost_interval=(0.1, 0.3), resamples=99
    )


def _make_study():
    lines = [
        Comparison(
            subject=HOSTILE,
            quantity=quantity,
            verdict=verdict,
            reason=reason,
            engine=0.5,
            reference=0.25,
            difference=0.25,
            tolerance=1e-12,
        )
        for quantity, verdict, reason in (
            ("MCB", Verdict.AGREES, ""),
            (BRACES, Verdict.EXPECTED, "The reference orders ties otherwise, so that a group is split."),
            (LONG, Verdict.DIFFERS, ""),
        )
    ]
    section = StudySection(key="1", title="Part", text="How it was `done`.", comparisons=tuple(lines))
    return Study(
        time="2026-11-15T00:00:00+00:00", seed=7, cases=9, software={"R": "4.2.2"}, sections=(section,)
    )


def open_page(browser, path, **options):
    """Open a file in a window of its own, where nothing but the file itself is served."""
    window = browser.new_context(viewport={"width": 1280, "height": 800}, **options)
    visit = Visit(page=window.new_page())
    address = path.as_uri()

    def serve(route):
        if route.request.url.partition("#")[0] == address:
            route.continue_()
        else:
            visit.requests.append(route.request.url)
            route.abort()

    visit.page.route(lambda url: not url.startswith("data:"), serve)
    visit.page.on("console", lambda message: visit.complaints.append(message.text))
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.on("requestfailed", lambda request: visit.complaints.append(request.url))
    visit.page.on("dialog", lambda dialog: (visit.dialogs.append(dialog.message), dialog.dismiss()))
    visit.page.goto(address)
    visit.page.evaluate("document.fonts.ready")
    return visit


@pytest.fixture(scope="module", params=["report", "study"])
def visit(browser, files, request):
    opened = open_page(browser, files[request.param])
    yield opened
    opened.page.context.close()


@pytest.fixture(scope="module")
def report(browser, files):
    opened = open_page(browser, files["report"])
    yield opened
    opened.page.context.close()


# ---- What loads ----


def test_a_page_makes_no_requests_and_has_no_errors(visit):
    assert visit.requests == []
    assert visit.complaints == []
    assert visit.dialogs == []
    assert visit.ask("document.scripts.length") == 0


def test_the_fonts_of_the_page_are_used(visit):
    loaded = visit.ask("[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)")
    assert {"Report Sans", "Report Serif"} <= {name.strip("\"'") for name in loaded}
    for family in ("Report Sans", "Report Serif"):
        assert visit.ask(f"""document.fonts.check('16px "{family}"', 'Brier')""")
    assert visit.ask("getComputedStyle(document.querySelector('h1')).fontFamily").startswith('"Report Sans"')


def test_every_image_is_drawn_and_described(report):
    images = report.ask("[...document.images].map(i => [i.alt, i.naturalWidth, i.complete])")
    assert len(images) == report.ask("document.querySelectorAll('figure').length") >= 8
    for alt, width, complete in images:
        assert len(alt) > 40
        assert width > 0
        assert complete


def test_a_report_is_small(files):
    assert files["report"].stat().st_size < 2_000_000


# ---- Structure ----


def test_every_link_leads_somewhere(visit):
    links = visit.ask("[...document.links].map(a => a.getAttribute('href'))")
    lost = visit.ask(
        "[...document.links].map(a => a.getAttribute('href'))"
        ".filter(h => !(h.startsWith('#') && document.getElementById(h.slice(1))))"
    )
    assert links
    assert lost == []


def test_no_identifier_is_used_twice(visit):
    names = visit.ask("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(names) == len(set(names))


def test_headings_go_down_by_single_steps(visit):
    levels = visit.ask("[...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(h => +h.tagName[1])")
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_contents_list_every_section(visit):
    listed = visit.ask("[...document.querySelectorAll('nav a')].map(a => a.getAttribute('href').slice(1))")
    assert listed == visit.ask("[...document.querySelectorAll('main section')].map(s => s.id)")


def test_tables_and_their_cells_are_labelled(visit):
    tables = visit.ask(
        "[...document.querySelectorAll('table')].map(t => ({"
        "name: (t.caption?.innerText || t.getAttribute('aria-label') || '').trim(),"
        "heads: t.querySelectorAll('thead th[scope=col]').length,"
        "bare: t.querySelectorAll('th:not([scope])').length,"
        "box: t.closest('[role=region][tabindex=\"0\"][aria-label]') !== null}))"
    )
    assert tables
    for table in tables:
        assert table["name"]
        assert table["heads"] >= 2
        assert table["bare"] == 0
        assert table["box"]


# ---- What a reader sees ----


@pytest.mark.parametrize("width", [380, 700, 1280, 1400])
def test_no_page_scrolls_sideways(visit, width):
    visit.page.set_viewport_size({"width": width, "height": 800})
    assert visit.ask("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    cut = visit.ask(
        "[...document.querySelectorAll('h1, h2, h3, p, li, dd, figure, figcaption, img')]"
        ".filter(e => !e.closest('.scroll') && e.getBoundingClientRect().right > innerWidth)"
        ".map(e => e.textContent.slice(0, 40))"
    )
    assert cut == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_contrasts_with_its_background(visit, scheme):
    visit.page.emulate_media(color_scheme=scheme)
    background = visit.ask("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    assert visit.ask(PALE_TEXTS) == []
    visit.page.emulate_media(color_scheme="light")


def test_pale_text_is_found(browser, tmp_path):
    page = tmp_path / "pale.html"
    page.write_text(
        '<html lang="en"><title>x</title><body style="background: #fff">'
        '<p style="color: #999">pale</p><p style="color: #999; font-size: 30px">pale, though large</p>'
        '<p style="color: #888">too pale for small</p><p style="color: #888; font-size: 30px">large</p>'
        '<p style="color: #767676">dark</p>'
        '<div style="background: #333"><b style="color: #444">lost</b></div>',
        encoding="utf-8",
    )
    opened = open_page(browser, page)
    found = [text for text, *_ in opened.ask(PALE_TEXTS)]
    assert found == ["pale", "pale, though large", "too pale for small", "lost"]
    opened.page.context.close()


def test_figures_fill_a_phone(report):
    report.page.set_viewport_size({"width": 380, "height": 800})
    widths = report.ask("[...document.images].map(i => i.getBoundingClientRect().width)")
    assert min(widths) > 330


def test_contents_stay_in_view_on_a_wide_screen(report):
    report.page.set_viewport_size({"width": 1400, "height": 800})
    for place in (0, 0.5, 1):
        report.ask(f"scrollTo({{top: {place} * document.body.scrollHeight, behavior: 'instant'}})")
        top, bottom = report.ask(
            "(box => [box.top, box.bottom])(document.querySelector('nav').getBoundingClientRect())"
        )
        assert 0 <= top < 100
        assert bottom <= 801


def test_the_target_of_a_link_is_marked(report):
    report.page.set_viewport_size({"width": 1280, "height": 800})
    before = report.ask("getComputedStyle(document.querySelector('figure')).backgroundColor")
    report.ask("location.hash = document.querySelector('figure').id")
    after = report.ask("getComputedStyle(document.querySelector('figure')).backgroundColor")
    report.ask("location.hash = ''")
    assert before != after


@pytest.mark.parametrize("name", [HOSTILE, BRACES, LONG])
def test_hostile_names_are_text(visit, name):
    assert name in visit.ask("document.body.textContent")
    assert "49" not in visit.ask("[...document.querySelectorAll('.text, tbody th')].map(e => e.textContent)")
    assert visit.dialogs == []


# ---- Other readers ----


def test_a_page_needs_no_script(browser, files):
    opened = open_page(browser, files["report"], java_script_enabled=False)
    assert opened.page.locator("h1").inner_text().startswith("Evaluation of")
    opened.page.locator("nav a").last.click()
    assert opened.page.url.endswith("#glossary")
    assert opened.page.locator("#glossary h2").is_visible()
    opened.page.context.close()


@pytest.mark.sweep
def test_a_browser_prints_all_figures(report):
    printed = report.page.pdf(prefer_css_page_size=True, print_background=True, tagged=True)
    with pikepdf.open(io.BytesIO(printed)) as pdf:
        described = [
            item
            for item in pdf.objects
            if isinstance(item, pikepdf.Dictionary) and item.get("/S") == "/Figure" and "/Alt" in item
        ]
        assert len(described) == report.ask("document.images.length")
        assert 5 < len(pdf.pages) < 40
