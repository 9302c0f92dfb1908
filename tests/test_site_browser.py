"""The web site in a browser."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser_tools import browser_fixture
from site_page_tools import SCRIPT, site_fixture, write
from site_tools import make_records
from test_browser import PALE_TEXTS

from scorereport.audit.site.audit_runs import (
    safe_name,
)

site = pytest.fixture(scope="module")(site_fixture)


# ---- In a browser ----


@contextmanager
def serving(folder):
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


browser = pytest.fixture(scope="module")(browser_fixture)


@pytest.fixture
def address(request, site):
    """Where the site is found: on disk, or on a server if a test asks for it."""
    if getattr(request, "param", "file") == "file":
        yield site.as_uri()
    else:
        with serving(site) as url:
            yield url


def is_left(request):
    """Whether the visitor left before the response arrived, which is not an error of the page."""
    return request.failure == "net::ERR_ABORTED"


@pytest.fixture
def visit(browser, address):
    """A page that must neither fail to load a file, request one from elsewhere, nor report an error."""
    window = browser.new_context(viewport={"width": 1280, "height": 800})
    page = window.new_page()
    problems = []

    def note(url, problem):
        if not url.endswith("/favicon.ico"):  # which a browser requests from every server
            problems.append((url, problem))

    page.on("console", lambda message: note(message.location["url"], message.text))
    page.on("pageerror", lambda error: note("", str(error)))
    page.on("requestfailed", lambda request: is_left(request) or note(request.url, request.failure))
    page.on("dialog", lambda dialog: (note("", dialog.message), dialog.dismiss()))
    page.on("response", lambda response: response.status < 400 or note(response.url, response.status))
    page.on(
        "request",
        lambda request: request.url.startswith((address, "data:")) or note(request.url, "elsewhere"),
    )
    yield page
    assert problems == []
    window.close()


@pytest.mark.sweep
def test_choices_filter_audits_and_runs_without_scripts(browser, site):
    window = browser.new_context(java_script_enabled=False, viewport={"width": 1280, "height": 800})
    page = window.new_page()
    page.goto((site / "index.html").as_uri())
    entries, links = page.locator("section.entry"), page.locator("nav li")
    statuses = [entries.nth(place).get_attribute("data-status") for place in range(entries.count())]
    assert len(set(statuses)) > 1
    for status in sorted(set(statuses)):
        page.locator(f"#show-{status}").check()
        shown = [entries.nth(place).is_visible() for place in range(entries.count())]
        assert shown == [own == status for own in statuses]
        assert sum(links.nth(place).is_visible() for place in range(links.count())) == sum(shown)
    page.get_by_role("radio", name="needs attention").check()
    shown = [entries.nth(place).is_visible() for place in range(entries.count())]
    needed = [entries.nth(place).get_attribute("data-attention") is not None for place in range(len(shown))]
    assert shown == needed
    page.keyboard.press("ArrowLeft")  # to the first choice
    assert page.get_by_role("radio", name="all", exact=False).first.is_checked()
    assert all(entries.nth(place).is_visible() for place in range(entries.count()))
    page.goto((site / "audits/credit.html").as_uri())
    rows = page.locator("table.runs tbody tr")
    page.locator("#show-failed").check()
    assert [rows.nth(place).get_attribute("id") for place in range(60) if rows.nth(place).is_visible()] == [
        "r21"
    ]
    window.close()


@pytest.mark.sweep
def test_parts_that_are_closed_open_with_the_keyboard_and_by_a_link(visit, address):
    visit.goto(f"{address}/index.html")
    part = visit.locator("section.entry details").first
    assert part.get_attribute("open") is not None
    part.locator("summary").focus()
    visit.keyboard.press("Enter")
    assert part.get_attribute("open") is None
    assert part.locator(".glance").is_visible()
    models = visit.locator("#models")
    models.locator("summary").click()
    models.get_by_role("link", name="credit").first.click()
    assert visit.url.endswith("#audit-credit")


@pytest.mark.sweep
def test_a_link_to_a_run_opens_its_year(browser, tmp_path):
    write(make_records(130, 1, forms=(), bins=2), tmp_path)
    page = browser.new_page()
    page.goto(f"{(tmp_path / 'site/audits/credit.html').as_uri()}#r5")
    assert page.locator("#r5").is_visible()
    assert page.evaluate("[...document.querySelectorAll('details.year')].map(e => e.open)") == [True, True]
    page.close()


PAGES = ("index.html", "audits/credit.html", f"audits/{safe_name(SCRIPT)}.html", "audits/new.html")


@pytest.mark.sweep
@pytest.mark.parametrize("address", ["file", "http"], indirect=True)
def test_the_way_from_the_board_to_a_report(visit, address):
    visit.goto(f"{address}/index.html")
    assert visit.evaluate("document.scripts.length") == 0
    assert visit.locator("h1").inner_text() == "Audits of a bank"
    visit.get_by_role("main").get_by_role("link", name="credit").click()
    assert visit.locator("h1").inner_text() == "credit"
    visit.locator("nav").get_by_role("link", name="All audits").click()
    row = visit.locator("table.runs tbody tr").first
    row.get_by_role("link", name="HTML").click()
    assert visit.locator("h1").inner_text() == "Report"
    assert visit.url == f"{address}/reports/credit/2025-12-30.html"
    visit.go_back()
    point = visit.locator("#chart-1 .points a").nth(30)
    point.dispatch_event("click")
    visit.wait_for_url("**/reports/**")
    assert visit.url == f"{address}/reports/credit/2025-12-02.html"
    visit.goto(f"{address}/audits/credit.html")
    visit.locator("header").get_by_role("link", name="Audits of a bank").click()
    assert visit.url == f"{address}/index.html"


@pytest.mark.sweep(after=1)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_whole_readable_and_fits(visit, address, name):
    visit.goto(f"{address}/{name}")
    visit.evaluate("document.fonts.ready")
    loaded = visit.evaluate("[...document.fonts].filter(f => f.status == 'loaded').map(f => f.family)")
    assert "Report Sans" in {family.strip("\"'") for family in loaded}
    assert_structured(visit)
    for scheme in ("light", "dark"):
        visit.emulate_media(color_scheme=scheme)
        assert visit.evaluate(PALE_TEXTS) == []
    for width in (320, 390, 640, 1280):
        visit.set_viewport_size({"width": width, "height": 800})
        assert_fits(visit)


def assert_structured(page):
    """Landmarks, one main heading, names for tables and drawings, links that lead somewhere."""
    assert (
        page.evaluate("['header', 'nav', 'main', 'footer'].map(n => document.querySelectorAll(n).length)")
        == [1] * 4
    )
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3')].map(h => +h.tagName[1])")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert page.evaluate("document.querySelectorAll('th:not([scope])').length") == 0
    assert page.evaluate("[...document.querySelectorAll('table')].every(t => t.caption.textContent.trim())")
    assert page.evaluate(
        "[...document.querySelectorAll('svg')].every(s => s.getAttribute('role') == 'img' && "
        "(s.getAttribute('aria-label') || s.getAttribute('aria-labelledby').split(' ')"
        ".every(i => document.getElementById(i).textContent.length > 2)))"
    )
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    lost = (
        "[...document.querySelectorAll('a')].map(a => a.getAttribute('href')).filter(h => h.startsWith('#'))"
    )
    assert {name[1:] for name in page.evaluate(lost)} <= set(ids)


def assert_fits(page):
    """No scrolling sideways, nothing outside but what scrolls in its box, no texts on each other."""
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
    cut = (
        "[...document.querySelectorAll('h1, h2, h3, p, li, dd, figure, figcaption, .plot span, .board td')]"
        ".filter(e => { const r = e.getBoundingClientRect(), s = e.closest('.scroll');"
        " const scrolls = s && s.scrollWidth > s.clientWidth;"
        " return r.width && !scrolls && (r.right > innerWidth + .5 || r.left < -.5) })"
        ".map(e => e.textContent.slice(0, 40))"
    )
    assert page.evaluate(cut) == []
    overlaps = (
        "[...document.querySelectorAll('.ticks, .labels, .days, .names')].flatMap(box => {"
        " const rects = [...box.children].map(e => e.getBoundingClientRect()).filter(r => r.width);"
        " return rects.flatMap((a, i) => rects.slice(i + 1).filter(b =>"
        "  a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2)"
        "  .map(() => box.className)) })"
    )
    assert page.evaluate(overlaps) == []


@pytest.mark.sweep
def test_charts_have_a_point_for_each_audit_with_its_numbers(visit, address):
    visit.goto(f"{address}/audits/credit.html")
    counts = visit.evaluate(
        "[...document.querySelectorAll('.plot')].map(p => p.querySelectorAll('.points a').length)"
    )
    assert counts == [59] * 8  # three of them are charts of evidence
    failed = visit.evaluate("[...document.querySelectorAll('.rail a title')].map(t => t.textContent)")
    assert len(failed) == 8
    assert failed[0].startswith("2025-11-21: run failed. The query of `audit.source` gave no rows")
    titles = visit.evaluate(
        "[...document.querySelectorAll('#chart-1 .points title')].map(t => t.textContent)"
    )
    number = r"0\.\d{4} \[0\.\d{4}, 0\.\d{4}\]"
    assert all(
        re.match(rf"2025-1[12]-\d\d: \w+\n(.+ {number}; so far {number}\n?){{5}}$", title) for title in titles
    )
    places = visit.evaluate(
        "[...document.querySelectorAll('#chart-1 .points rect')].map(r => r.getBoundingClientRect())"
        ".map(r => [r.left, r.width, r.height])"
    )
    assert all(width > 5 and height > 400 for _, width, height in places)
    assert [left for left, _, _ in places] == sorted(left for left, _, _ in places)


@pytest.mark.sweep
def test_dots_appear_where_one_points(visit, address):
    visit.goto(f"{address}/audits/credit.html")
    column = visit.locator("#chart-1 .points a").nth(10)
    width = "getComputedStyle(document.querySelectorAll('#chart-1 .points path')[10]).strokeWidth"
    assert visit.evaluate(width) == "0px"
    column.locator("rect").hover(position={"x": 3, "y": 60})
    assert visit.evaluate(width) == "8px"


@pytest.mark.sweep
def test_keys_reach_links_and_tables_but_not_every_point(visit, address):
    visit.goto(f"{address}/audits/new.html")
    seen = []
    for _ in range(30):
        visit.keyboard.press("Tab")
        seen.append(
            visit.evaluate(
                "(e => [e.tagName, getComputedStyle(e).outlineStyle, e.closest('svg') !== null])"
                "(document.activeElement)"
            )
        )
    assert {tag for tag, _, _ in seen} >= {"A", "DIV"}
    assert not any(inside for _, _, inside in seen)
    assert all(style != "none" for tag, style, _ in seen if tag != "BODY")


@pytest.mark.sweep
def test_a_page_without_scripts_and_on_paper(browser, site):
    window = browser.new_context(java_script_enabled=False)
    page = window.new_page()
    page.goto((site / "audits/credit.html").as_uri())
    assert page.locator("#chart-1 svg").first.is_visible()
    assert len(page.pdf(prefer_css_page_size=True)) > 20_000
    window.close()
