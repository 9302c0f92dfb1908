"""Pages that run nothing and fetch nothing, whatever a template of a user holds."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pandas as pd
import pytest
from browser_tools import browser_fixture
from site_tools import make_records, write_reports

import scorereport as sr
from scorereport.audit.site.publication import write_site
from scorereport.errors import UsageError
from scorereport.reference.reference_documents import Study
from scorereport.report import page_policy, renderer
from scorereport.report.page_policy import PAGE_POLICY, SITE_POLICY, add_policy, check_self_contained
from scorereport.report.study_output import write_study

TIME = "2026-11-15T16:00:00+00:00"
AWAY = "http://away.example/x"
#: What a payload does to be noticed.
RUN = "console.log(1337)"
CODED = "".join(f"&#{ord(letter)};" for letter in RUN)

PAYLOADS = [
    # scripts
    f"<script>{RUN}</script>",
    f"<SCRIPT >{RUN}</SCRIPT >",
    f"<script src={AWAY}></script>",
    f"<script type=module>import '{AWAY}'</script>",
    f'<script type=importmap>{{"imports": {{"a": "{AWAY}"}}}}</script>',
    f'<script type=speculationrules>{{"prefetch": [{{"urls": ["{AWAY}"]}}]}}</script>',
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><script href={AWAY}></script></svg>",
    f"<math><mtext><script>{RUN}</script></mtext></math>",
    f"<script src='data:text/javascript,{RUN}'></script>",
    # handlers
    f"<img src=data:, onerror={RUN}>",
    f"<img src=data:, OnErRoR={RUN}>",
    f"<img src=data:, onerror={CODED}>",
    f"<img/src='data:,'/onerror={RUN}>",
    f"<svg onload={RUN}></svg>",
    f"<svg/onload={RUN}>",
    f"<body onload={RUN}>",
    f"<details open ontoggle={RUN}>x</details>",
    f"<p tabindex=0 autofocus onfocus={RUN}>x</p>",
    f"<style onload={RUN}></style>",
    f"<math><mi onclick={RUN}>x</mi></math>",
    f"<video onloadstart={RUN}><source src=data:,></video>",
    f"<marquee onstart={RUN}>x</marquee>",
    f"<style>@keyframes a {{ to {{ top: 0 }} }}</style><p style='animation: a 1s' onanimationstart={RUN}>x",
    # links
    f"<a href='javascript:{RUN}'>x</a>",
    f"<a href=' \x01java\tscript:{RUN}'>x</a>",
    f"<a href='jav&#x0A;ascript:{RUN}'>x</a>",
    f"<a href='&#106;avascript&colon;{RUN}'>x</a>",
    f"<svg><a href='javascript:{RUN}'><text y=20>x</text></a></svg>",
    f"<svg><a xlink:href='javascript:{RUN}'><text y=20>x</text></a></svg>",
    f"<svg><a><animate attributeName=href values='javascript:{RUN}' /><text y=20>x</text></a></svg>",
    f"<svg><a><set attributeName=href to='javascript:{RUN}' /><text y=20>x</text></a></svg>",
    f"<math href='javascript:{RUN}'><mi>x</mi></math>",
    f"<a href='data:text/html,<script>{RUN}</script>'>x</a>",
    "<a href='blob:null/x'>x</a>",
    f"<a href='#' ping={AWAY}>x</a>",
    f"<map name=m><area href='javascript:{RUN}' coords=0,0,9,9 shape=rect></map>",
    # pages inside the page
    f"<iframe srcdoc='<script>{RUN}</script>'></iframe>",
    f"<iframe src={AWAY}></iframe>",
    f"<iframe src='javascript:{RUN}'></iframe>",
    f"<object data={AWAY}></object>",
    f"<object data='data:text/html,<script>{RUN}</script>'></object>",
    f"<embed src={AWAY}>",
    f"<fencedframe src={AWAY}></fencedframe>",
    f"<portal src={AWAY}></portal>",
    f"<applet codebase={AWAY} code=a></applet>",
    # instructions to the browser
    f"<meta http-equiv=refresh content='0; url={AWAY}'>",
    f"<meta http-equiv=refresh content='0; url=javascript:{RUN}'>",
    "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
    "<meta charset=iso-2022-jp>",
    f"<base href={AWAY}>",
    f"<link rel=stylesheet href={AWAY}>",
    f"<link rel=preload as=image href={AWAY}>",
    f"<link rel=prefetch href={AWAY}>",
    f"<link rel=modulepreload href={AWAY}>",
    f"<link rel=icon href={AWAY}>",
    "<link rel=dns-prefetch href=//away.example>",
    "<link rel=preconnect href=//away.example>",
    f"<link rel=manifest href={AWAY}>",
    f"<link rel=preload as=image imagesrcset={AWAY}>",
    # pictures and sounds
    f"<img src={AWAY}>",
    f"<img src=data:, srcset='{AWAY} 1x'>",
    "<img src='//away.example/x'>",
    "<img src='x.png'>",
    f"<picture><source srcset={AWAY}><img src=data:, alt=x></picture>",
    f"<video poster={AWAY}></video>",
    f"<video><track default src={AWAY}></video>",
    f"<audio autoplay src={AWAY}></audio>",
    f"<input type=image src={AWAY}>",
    f"<table background={AWAY}><tr><td>x</table>",
    f"<svg><image href={AWAY} width=9 height=9 /></svg>",
    f"<svg><image xlink:href={AWAY} width=9 height=9 /></svg>",
    f"<svg><use href='{AWAY}#a' /></svg>",
    f"<svg><filter id=f><feImage href={AWAY} /></filter><rect filter=url(#f) width=9 height=9 /></svg>",
    f"<svg><rect fill='url({AWAY}#a)' width=9 height=9 /></svg>",
    f"<svg><rect mask='u\\72l({AWAY}#a)' width=9 height=9 /></svg>",
    # styles
    f"<style>@import '{AWAY}';</style>",
    f"<style>@import url({AWAY});</style>",
    f"<style>@\\69mport '{AWAY}';</style>",
    f"<style>body {{ background: url({AWAY}) }}</style>",
    f"<style>body {{ background: u\\72l('{AWAY}') }}</style>",
    f"<style>body {{ background: url/**/({AWAY}); list-style: url( '{AWAY}' ) }}</style>",
    f"<style>body {{ background: image-set('{AWAY}' 1x) }}</style>",
    f"<style>body {{ background: -webkit-image-set('{AWAY}' 1x) }}</style>",
    f"<style>@font-face {{ font-family: f; src: url({AWAY}) }} body {{ font-family: f }}</style>",
    f"<style>p {{ cursor: url({AWAY}), auto; content: url({AWAY}) }}</style><p>x</p>",
    f"<p style='background: url({AWAY})'>x</p>",
    f"<p style='background: url(&quot;{AWAY}&quot;)'>x</p>",
    f"<svg><style>svg {{ background: url({AWAY}) }}</style></svg>",
    f"<style><!--</style><style>body {{ background: url({AWAY}) }}</style>",
    # forms
    f"<form action={AWAY}><button>x</button></form>",
    f"<button formaction='javascript:{RUN}'>x</button>",
    # what parsers read in different ways
    f"<noscript><p title='</noscript><img src=data:, onerror={RUN}>'></noscript>",
    f"<!--><img src=data:, onerror={RUN}>-->",
    f"<!-- --!><img src=data:, onerror={RUN}> -->",
    f"<![CDATA[><img src=data:, onerror={RUN}>]]>",
    f"<svg><![CDATA[</svg><img src=data:, onerror={RUN}>]]><p><img src=data:, onerror={RUN}></p></svg>",
    f"<svg><style><img src=data:, onerror={RUN}></style></svg>",
    f"<math><mtext><table><mglyph><style><img src=data:, onerror={RUN}></style></table></mtext></math>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src=data:, onerror={RUN}></style>",
    f"<title>x</title><xmp><p title='</xmp><img src=data:, onerror={RUN}>'></xmp>",
    f"<noembed><p title='</noembed><img src=data:, onerror={RUN}>'></noembed>",
    f"<svg><foreignObject><img src=data:, onerror={RUN}></foreignObject></svg>",
    f"<math><annotation-xml encoding=text/html><img src=data:, onerror={RUN}></annotation-xml></math>",
    f"<div><template shadowrootmode=open><img src=data:, onerror={RUN}></template></div>",
    f"<template><script>{RUN}</script></template>",
    f"<select><option><img src=data:, onerror={RUN}></option></select>",
    f"<textarea><p title='</textarea><img src=data:, onerror={RUN}>'></textarea>",
    f"<p title='\"><img src=data:, onerror={RUN}>' \"><img src=data:, onerror={RUN}>",
    f"<plaintext><img src={AWAY}>",
    f"<x-own onclick={RUN}>x</x-own>",
    f"<?xml-stylesheet href='{AWAY}'?><?php ?><img src=data:, onerror={RUN}>",
]
#: Payloads that only the guard can stop: policies do not cover them.
BEYOND_POLICY = ("http-equiv=refresh", "rel=dns-prefetch", "rel=preconnect")


def make_page(markup):
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>x</title>\n</head>\n'
        f"<body>\n{markup}\n</body>\n</html>\n"
    )


# ---- The guard ----


@pytest.mark.parametrize("payload", PAYLOADS)
def test_the_guard_refuses(payload):
    with pytest.raises(UsageError, match=r"^A report must contain everything that it shows; this page has "):
        check_self_contained(make_page(payload))


@pytest.mark.parametrize(
    "markup",
    [
        "<img alt=x src='data:image/png;base64,R0' style='width: 3em'>",
        "<p style='background: url(data:image/gif;base64,R0); --a: calc(1px + var(--b))'>x</p>",
        "<a href='https://x.example/?q=1'>web</a><a href='#x'>here</a><a href='mailto:a@x.example'>mail</a>",
        "<a href='../other.html' target=_blank rel=noopener>beside</a>",
        "<svg viewBox='0 0 9 9'><defs><linearGradient id=g><stop offset=0 stop-color=red /></linearGradient>"
        "</defs><rect fill='url(#g)' width=9 height=9 transform='rotate(9)' /><use href='#g' /></svg>",
        "<math><mfrac><mi>x</mi><mn>2</mn></mfrac></math>",
        "<table class=x aria-label=x><caption>x</caption><tr><th scope=row colspan=2>x<td data-a=1>y</table>",
        "<!-- <script>said</script> --><p>&lt;script&gt; url(http://x.example) javascript: onclick=</p>",
        "<style>@media print { p::after { content: 'url(http://x.example)' } } @page { margin: 1cm }</style>",
        "<details open><summary>More</summary><pre><code>x</code></pre></details>",
    ],
)
def test_the_guard_lets_harmless_markup_pass(markup):
    check_self_contained(make_page(markup))


def test_an_unknown_attribute_is_named():
    with pytest.raises(UsageError) as refusal:
        check_self_contained(make_page("<img src=data:, alt=x lowsrc=y>"))
    assert str(refusal.value) == (
        "A report must contain everything that it shows; this page has the attribute lowsrc of <img>."
    )


# ---- The policy ----


@pytest.mark.parametrize(
    "begin",
    [
        "<!-- <!DOCTYPE html><html><head>",
        '<!DOCTYPE html><html title="><head>',
        "<!DOCTYPE html><html title='><head>",
        "<!DOCTYPE html><html><body>",
        "<!DOCTYPE html><html><!-- <head> -->",
        "<!DOCTYPE html><html><head><script>1</script>",
        '<!DOCTYPE html><html><head><meta charset="utf-16">',
        "<p>x</p>",
        "",
    ],
)
def test_a_page_in_which_the_policy_would_not_come_first_is_refused(begin):
    with pytest.raises(UsageError) as refusal:
        add_policy(f"{begin}\n")
    assert str(refusal.value) == (
        'A page must begin with `<!DOCTYPE html>`, `<html lang="en">`, `<head>` and '
        '`<meta charset="utf-8">`, so that its security policy is first; '
        f"got {f'{begin}{chr(10)}'.lstrip()[:80]!r}."
    )


@pytest.fixture(scope="module")
def evaluation():
    frame = pd.DataFrame({"y": [0, 1, 1, 0, 1, 0], "p": [0.2, 0.7, 0.6, 0.4, 0.9, 0.1]})
    return sr.evaluate(frame, outcome="y", forecasts=["p"], resamples=0)


@pytest.fixture(scope="module")
def written(evaluation, tmp_path_factory):
    """All kinds of pages that are written, with the policies that they should have."""
    folder = tmp_path_factory.mktemp("pages")
    records = make_records(2, 1)
    write_reports(records, folder / "reports")
    site = write_site(
        records, folder / "site", find_folder=lambda _: folder / "reports", title="Audits", time=TIME
    )
    pages = {path: SITE_POLICY for path in site if path.suffix == ".html" and "reports" not in path.parts}
    study = write_study(Study(time=TIME, seed=7, cases=9, software={}, sections=()), folder)
    report = sr.write_report(evaluation, folder / "report.html", date="2026-11-15")
    return pages | {study[1]: PAGE_POLICY, report: PAGE_POLICY}


def test_every_page_has_its_policy_first_and_once(written):
    assert {path.name for path in written} == {
        "index.html",
        "credit.html",
        "validation-report.html",
        "report.html",
    }
    for path, policy in written.items():
        page = path.read_text(encoding="utf-8")
        first = re.match(r'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta ([^>]*)>\n<meta charset', page)
        assert first[1] == f'http-equiv="Content-Security-Policy" content="{policy}"'
        assert page.count("http-equiv") == 1
        assert page.index("charset") < 1024  # as far as a browser looks for it


def test_a_template_cannot_leave_the_policy_out(evaluation, tmp_path):
    (tmp_path / "report.html").write_text("<p>{{ title }}</p>")
    with pytest.raises(UsageError, match=r"^A page must begin with `<!DOCTYPE html>`, .*; got '<p>"):
        sr.write_report(evaluation, tmp_path / "r.html", templates=tmp_path)
    assert not (tmp_path / "r.html").exists()


@pytest.mark.sweep
def test_the_policy_is_not_part_of_a_pdf(evaluation, tmp_path, monkeypatch):
    """The policy is for browsers; documents that were filed before stay equal to the last byte."""
    seen = []
    monkeypatch.setattr(renderer, "render_pdf", lambda page, **_: seen.append(page) or b"%PDF")
    sr.write_report(evaluation, tmp_path / "r.pdf", date="2026-11-15")
    assert "http-equiv" not in seen[0]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "site/index.html",
            '{% extends "scorereport/site/index.html" %}{% block header %}<script>1</script>{% endblock %}',
            "A report must contain everything that it shows; this page has a <script> element.",
        ),
        (
            "site/style.css",
            "@import 'http://x.example/a.css';",
            "A page must contain everything that it shows; its style sheet has the address "
            "'http://x.example/a.css' in <style>.",
        ),
    ],
)
def test_templates_of_a_site_are_guarded_too(tmp_path, name, content, message):
    (tmp_path / "own" / "site").mkdir(parents=True)
    (tmp_path / "own" / name).write_text(content)
    with pytest.raises(UsageError) as refusal:
        write_site(
            make_records(1, 1),
            tmp_path / "site",
            find_folder=lambda _: tmp_path,
            title="Audits",
            time=TIME,
            templates=tmp_path / "own",
        )
    assert str(refusal.value) == message
    assert not (tmp_path / "site").exists()


# ---- In a browser ----

PLACE = "http://page.example"
CLICK = """() => { for (const frame of document.querySelectorAll('iframe')) try {
  for (const e of frame.contentDocument.querySelectorAll('a, button, area, summary, mi, math, x-own'))
    e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
} catch {} }"""


browser = pytest.fixture(scope="module")(browser_fixture)


def watch(browser, payloads, finish):
    """Open a page with each of these payloads, side by side in frames, and list those that did something."""
    pages = {
        f"/{n}": finish(
            make_page(payload.replace("1337", f"{n}e9").replace("away.example/x", f"away.example/{n}"))
        )
        for n, payload in enumerate(payloads)
    }
    pages["/"] = "".join(f"<iframe src='{place}'></iframe>" for place in pages)
    seen = set()

    def answer(route):
        url = urlsplit(route.request.url)
        if url.netloc == urlsplit(PLACE).netloc and url.path in pages:
            route.fulfill(body=pages[url.path], content_type="text/html; charset=utf-8")
            return
        seen.add(url.netloc + url.path)
        route.abort()

    window = browser.new_context()
    page = window.new_page()
    page.route("**/*", answer)
    page.on("console", lambda message: re.fullmatch(r"\d+", message.text) and seen.add(message.text))
    page.goto(f"{PLACE}/", wait_until="load")
    page.evaluate(CLICK)
    page.evaluate("() => new Promise(done => setTimeout(done, 300))")
    window.close()
    return seen - {f"{urlsplit(PLACE).netloc}/favicon.ico"}


@pytest.mark.sweep
def test_the_policy_stops_what_would_pass_the_guard(browser):
    """Even without the guard, nothing runs and nothing is requested; without the policy, much happens."""
    payloads = [payload for payload in PAYLOADS if not any(part in payload for part in BEYOND_POLICY)]
    assert watch(browser, payloads, add_policy) == set()
    assert len(watch(browser, payloads, str)) > 60


def test_the_parser_finds_its_character_classes_again_and_reads_the_same(monkeypatch):
    """The cache of tinyhtml5 is replaced, because its own is never hit."""
    from xml.etree.ElementTree import tostring

    import tinyhtml5.inputstream

    text = "<b>x</b> &lt; y " * 50
    page = f"<!DOCTYPE html><p title='a&amp;b \u00e9'>{text}<svg><path d='M0 0'/></svg><!-- c -->"
    parser = page_policy._open_parser()
    ours = tostring(parser.parse(page), encoding="unicode")
    classes = tinyhtml5.inputstream.characters_until_regex
    known = len(classes)
    assert known > 0
    assert tostring(parser.parse(page), encoding="unicode") == ours
    assert len(classes) == known
    monkeypatch.setattr(tinyhtml5.inputstream, "characters_until_regex", {})
    assert tostring(tinyhtml5.parse(page), encoding="unicode") == ours
