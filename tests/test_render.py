"""Rendering: templates in a sandbox, self-contained pages, PDF that archives accept."""

from __future__ import annotations

import io
import logging
import os
import re
import shutil
import subprocess
import sys
from base64 import b64encode
from pathlib import Path

import pikepdf
import pytest

from scorereport import __version__
from scorereport._utils.files import find_package_folder
from scorereport.errors import UsageError
from scorereport.report import templates
from scorereport.report.pdf import Attachment, render_pdf
from scorereport.report.templates import embed_fonts, hash_templates, render_html

TIME = "2026-11-15T08:30:12+01:00"
CONFORMANCE = Path(__file__).parents[2] / "shared" / "tools" / "pdf-conformance"
STYLE = """
body { font-family: "Report Serif", "Report Fallback"; }
h1, h2, table { font-family: "Report Sans", "Report Fallback"; }
code { font-family: "Report Mono", "Report Fallback"; }
h1 { string-set: title content(); }
nav ol { list-style: none; }
nav a::after { content: leader(".") target-counter(attr(href), page); }
h2 { break-before: page; counter-increment: part; }
h2::before { content: counter(part) " "; }
@page { size: A5; font-family: "Report Sans", "Report Fallback";
  @top-left { content: string(title); } @bottom-right { content: counter(page) " of " counter(pages); } }
"""
RESULTS = Attachment(name="results.json", content=b'{"score": 0.25}\n', description="All results")
SETTINGS = Attachment(
    name="report.toml", content=b"# \xce\xa9\n", description="Configuration", relationship="Source"
)


def page_of(body, *, style="", head="", title="A page"):
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>{head}'
        f"<style>{STYLE}{style}</style></head><body><h1>{title}</h1>{body}</body></html>"
    )


def data_uri(content, media_type):
    return f"data:{media_type};base64,{b64encode(content).decode()}"


def write_templates(folder, **files):
    """Write templates by name; two underscores in a name separate folder and file."""
    for name, text in files.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".html")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def fill(tmp_path, text, **context):
    return render_html("page.html", context, templates=write_templates(tmp_path, page=text))


# ---- Templates ----


def test_text_is_escaped_and_never_run(tmp_path):
    page = fill(tmp_path, "{{ name }}|{{ other }}", name="<script>alert('x')</script>", other="{{ 7*7 }}")
    assert page == "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;|{{ 7*7 }}"


def test_a_template_can_show_the_version(tmp_path):
    assert fill(tmp_path, "{{ version }}") == __version__


def test_invisible_characters_are_shown_by_number(tmp_path):
    page = fill(tmp_path, "{{ name }}", name="a\ud83d\u202e\x00\u00ad模")
    assert page == "a‹U+D83D›‹U+202E›‹U+0000›\u00ad模"
    page.encode()


def test_a_template_of_the_user_replaces_ours_or_extends_it(tmp_path, monkeypatch):
    ours = write_templates(
        tmp_path / "ours",
        page='<p>{% include "sections/one.html" %}{% include "sections/two.html" %}</p>',
        sections__one="{% block head %}our head{% endblock %}, our body",
        sections__two="; our second",
    )
    monkeypatch.setattr(templates, "find_package_folder", lambda _: ours)
    monkeypatch.setattr(templates, "_package_templates", lambda: templates._open_files(None))
    assert render_html("page.html", {}) == "<p>our head, our body; our second</p>"
    theirs = write_templates(
        tmp_path / "theirs",
        sections__one='{% extends "scorereport/sections/one.html" %}{% block head %}their head{% endblock %}',
        sections__two="; their {{ 'second' }}",
    )
    assert render_html("page.html", {}, templates=theirs) == "<p>their head, our body; their second</p>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("one\n{{ nothing }}", r"^Line 2 of the template \S+page\.html fails: UndefinedError: 'nothing' is "),
        (
            "\n\n{% if %}",
            r"^Line 3 of the template \S+page\.html fails: TemplateSyntaxError: Expected an exp",
        ),
        ("{{ name.__class__.__mro__ }}", r"^Line 1 of the template \S+ fails: SecurityError: access to attr"),
        ("\n{{ items.append(1) }}", r"^Line 2 of the template \S+ fails: SecurityError: "),
        ("\n{{ name|round }}", r"^Line 2 of the template \S+ fails: TypeError: "),
        ("{{ 1 / 0 }}", r"^Line 1 of the template \S+ fails: ZeroDivisionError: division by zero\.$"),
        ("\n{% include 'other.html' %}", r"^Line 2 of .* fails: there is no template 'other\.html'\.$"),
        ("{% include '../secret.html' %}", r"fails: there is no template '\.\./secret\.html'\.$"),
        ("{% include 'page.html' %}", r"^Line 1 of the template .* fails: RecursionError: "),
        ("{{ items|random }}", r"^Line 1 of .* TemplateAssertionError: No filter named 'random'\.$"),
        (
            "{{ embed('no.png') }}",
            r"^Line 1 of .* UsageError: There is no file 'no\.png' beside the templates",
        ),
    ],
    ids=lambda text: text.strip()[:24],
)
def test_a_template_that_fails_is_named_with_its_line(tmp_path, text, message):
    (tmp_path / "secret.html").write_text("secret", encoding="utf-8")
    with pytest.raises(UsageError, match=message):
        fill(tmp_path / "mine", text, name="model", items=[])


def test_a_failing_part_is_named_instead_of_its_parent(tmp_path):
    write_templates(tmp_path, part="\n{{ nothing }}", broken="\n\n{% endif %}")
    with pytest.raises(UsageError, match=r"^Line 2 of the template \S+part\.html fails"):
        fill(tmp_path, "{% include 'part.html' %}")
    with pytest.raises(UsageError, match=r"^Line 3 of the template \S+broken\.html fails"):
        fill(tmp_path, "{% include 'broken.html' %}")


def test_a_missing_template_is_named():
    with pytest.raises(UsageError, match=r"^Rendering fails: there is no template 'none\.html'\.$"):
        render_html("none.html", {})


def test_a_folder_of_templates_must_exist(tmp_path):
    for use in (lambda folder: render_html("report.html", {}, templates=folder), hash_templates):
        with pytest.raises(UsageError, match=r"^The template folder \S+none does not exist\.$"):
            use(tmp_path / "none")


def test_a_template_cannot_leave_its_folder(tmp_path):
    (tmp_path / "secret.txt").write_text("secret", encoding="utf-8")
    folder = write_templates(tmp_path / "mine", page="{% include 'secret.html' %}")
    (folder / "secret.html").symlink_to(tmp_path / "secret.txt")
    for use in (lambda: render_html("page.html", {}, templates=folder), lambda: hash_templates(folder)):
        with pytest.raises(
            UsageError, match=r"^The template \S+secret\.html is a link to \S+secret\.txt, out"
        ):
            use()


def test_a_picture_beside_a_template_is_embedded(tmp_path):
    (tmp_path / "logo.png").write_bytes(b"\x89PNG")
    assert (
        fill(tmp_path, '<img src="{{ embed("logo.png") }}">') == '<img src="data:image/png;base64,iVBORw==">'
    )


def test_the_hash_is_of_names_and_bytes_only(tmp_path):
    first = write_templates(tmp_path / "first", page="one", sections__two="two")
    second = write_templates(tmp_path / "second", sections__two="two", page="one")
    os.utime(second / "page.html", (0, 0))
    assert re.fullmatch("[0-9a-f]{64}", hash_templates(None))
    assert hash_templates(first) == hash_templates(second)
    write_templates(second / ".git", index="hidden")
    assert hash_templates(first) == hash_templates(second)
    seen = {hash_templates(None), hash_templates(first)}
    (second / "page.html").write_text("onf", encoding="utf-8")
    seen.add(hash_templates(second))
    (second / "page.html").rename(second / "pagf.html")
    seen.add(hash_templates(second))
    assert len(seen) == 4


def test_the_hash_is_also_of_our_templates(tmp_path, monkeypatch):
    before = hash_templates(None)
    copy = shutil.copytree(find_package_folder("templates"), tmp_path / "ours")
    monkeypatch.setattr("scorereport.report.templates.find_package_folder", lambda _: copy)
    assert hash_templates(None) == before
    (copy / "style.css").write_text("", encoding="utf-8")
    assert hash_templates(None) != before


# ---- Pages with embedded fonts ----


@pytest.mark.sweep
def test_a_page_embeds_its_fonts():
    page = embed_fonts(page_of("<p>Ω &#x2713;</p>"))
    head = page[: page.index("</head>")]
    assert head.count("data:font/woff;base64,") == 7
    assert "url(" not in page.replace('url("data:font/woff;base64,', "")
    assert page == embed_fonts(page_of("<p>Ω &#x2713;</p>"))
    assert embed_fonts("<p>x").startswith("<p>x<style>\n@font-face")


@pytest.mark.parametrize(
    "body", ["<p><em>x</em>", "<p><I>x</I>", '<p style="font-style: italic">x', "<p><var >x"]
)
def test_italic_fonts_are_embedded_where_something_is_in_italics(body):
    assert "font-style: italic; src" in embed_fonts(body)
    assert "font-style: italic; src" not in embed_fonts("<p><img>x</p><p>emphasis")


# ---- PDF ----


@pytest.fixture(scope="module")
def figures():
    """A figure with a transparent area and a rasterised part, as SVG and as PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3, 2))
    axes = figure.add_subplot()
    axes.fill_between([0, 1], [0, 1], [1, 2], alpha=0.3)
    axes.scatter([0.2, 0.5], [0.2, 0.5], rasterized=True)
    files = []
    for form, media_type in (("svg", "image/svg+xml"), ("png", "image/png")):
        file = io.BytesIO()
        figure.savefig(file, format=form, dpi=60, transparent=True)
        files.append(data_uri(file.getvalue(), media_type))
    return files


@pytest.fixture(scope="module")
def report(figures):
    """A page with everything that is known to cause problems."""
    drawn, dots = figures
    spaces = "".join(map(chr, [*range(0x2000, 0x2010), 0x1680, 0x202F, 0x205F, 0x3000, 0xFEFF, 0x2028]))
    signs = " ".join(map(chr, range(0x20A0, 0x2100)))
    names = "Ωμέγα, <em>Ελληνικά</em>, <strong><em>Жук</em></strong>, Grüße, q̃, שלום, مرحبا, 模型, 🚀"
    body = f"""
<nav aria-label="Contents"><ol><li><a href="#first">First</a></li>
<li><a href="#second">Second</a></li></ol></nav><main><section><h2 id="first">First</h2>
<p>{names} a\u200db \x01 <code>x → y</code> ✓ ✗ ○ ≈ ∞ − × ≤ ≥ ± ↑ α ‹ › &#x6a21; a\u2003b
super\u00adcali\u200bfragilistic.</p><p>{spaces}</p><p>{signs}</p>
<figure><img src="{drawn}" alt="A band, 模"><figcaption>Figure 1. A band</figcaption></figure>
<p style="background: url({dots})"><img src="{dots}" alt="Dots">
and <a href="https://example.org">{"a link over lines " * 9}</a></p>
<ul><li>one<ul><li>two<ol><li>three</li></ol></li></ul></li></ul>
<dl><div><dt>Model</dt><dd><p>logit</p></dd></div></dl></section>
<section><h2 id="second">Second</h2>
<table><caption>Table 1. Scores, <a href="#first">see there</a></caption><thead>
<tr><th scope="col" rowspan="2">model</th><th scope="colgroup" colspan="2">score</th></tr>
<tr><th scope="col">Brier</th><th scope="col">log</th></tr></thead>
<tbody><tr><th scope="rowgroup" colspan="3">group</th></tr>
{'<tr><th scope="row">logit</th><td>0.25</td><td></td></tr>' * 40}
<tr><td colspan="3">A note.</td></tr></tbody></table></section></main>"""
    head = '<meta name="author" content="Ж 模"><meta name="dcterms.created" content="2001-01-01">'
    page = page_of(body, head=head, title="Report on 模型 & Ω")
    return render_pdf(page, attachments=[RESULTS, SETTINGS], created=TIME)


def open_pdf(content):
    return pikepdf.open(io.BytesIO(content))


def tags_of(pdf):
    """All elements of the structure of a document."""
    waiting, found = [pdf.Root.StructTreeRoot.K], []
    while waiting:
        item = waiting.pop()
        if isinstance(item, pikepdf.Array):
            waiting.extend(item)
        elif isinstance(item, pikepdf.Dictionary) and "/S" in item:
            found.append(item)
            waiting.append(item.get("/K", pikepdf.Array()))
    return found


def text_of(content, tmp_path):
    path = tmp_path / "text.pdf"
    path.write_bytes(content)
    return subprocess.run(["pdftotext", path, "-"], capture_output=True, text=True, check=True).stdout


def assert_conformance(path):
    """Assert that veraPDF confirms both norms."""
    if not CONFORMANCE.exists() or shutil.which("java") is None:
        pytest.skip(f"Conformance needs {CONFORMANCE} and java.")
    for profile in ("3a", "ua1"):
        done = subprocess.run([CONFORMANCE, profile, path], capture_output=True, text=True, check=False)
        if "profile=" not in done.stdout:
            pytest.skip(f"{CONFORMANCE} does not run here: {done.stderr.strip()[-200:]}")
        assert done.returncode == 0, done.stdout
        assert "compliant=true" in done.stdout


@pytest.mark.sweep
def test_a_document_conforms_to_both_norms(report, tmp_path):
    (tmp_path / "report.pdf").write_bytes(report)
    assert_conformance(tmp_path / "report.pdf")


def test_a_document_has_its_metadata(report):
    pdf = open_pdf(report)
    metadata = pdf.Root.Metadata.read_bytes().decode()
    assert 'pdfaid:part="3"' in metadata
    assert 'pdfaid:conformance="A"' in metadata
    assert metadata.count("<pdfuaid:part>1</pdfuaid:part>") == 1
    assert metadata.count("<rdf:RDF") == 1
    assert str(pdf.Root.Lang) == "en"
    assert str(pdf.docinfo.Title) == "Report on ‹U+6A21›‹U+578B› & Ω"
    assert str(pdf.docinfo.Author) == "Ж ‹U+6A21›"


def test_figures_keep_their_texts(report):
    pdf = open_pdf(report)
    found = [str(tag.Alt) for tag in tags_of(pdf) if tag.S == "/Figure"]
    assert sorted(found) == ["A band, ‹U+6A21›", "Dots"]


def test_characters_are_shown_or_replaced(report, tmp_path):
    text = text_of(report, tmp_path)
    for expected in (
        "Ωμέγα",
        "Ελληνικά",
        "Жук",
        "Grüße",
        "‹U+6A21›‹U+578B›",
        "‹U+1F680›",
        "a‹U+200D›b",
        "‹U+0001›",
    ):
        assert expected in text
    assert "✓ ✗ ○ ≈ ∞ − × ≤ ≥ ± ↑ α ‹ › ‹U+6A21›" in text


def test_only_our_fonts_are_used(report):
    pdf = open_pdf(report)
    fonts = {str(font.BaseFont) for page in pdf.pages for font in page.Resources.Font.values()}
    assert len(fonts) > 4
    assert all(re.match(r"/[A-Z]{6}\+Report-(Sans|Serif|Mono|Fallback)", font) for font in fonts)


def test_bookmarks_and_pages(report, tmp_path):
    pdf = open_pdf(report)
    with pdf.open_outline() as outline:
        (top,) = outline.root
        assert [item.title for item in top.children] == ["First", "Second"]
    text = text_of(report, tmp_path)
    assert f"1 of {len(pdf.pages)}" in text
    assert re.search(r"First\W+2\s", text)


# ---- Attachments and times ----


def test_attachments_are_unchanged(report):
    pdf = open_pdf(report)
    assert {name: spec.get_file().read_bytes() for name, spec in pdf.attachments.items()} == {
        "results.json": RESULTS.content,
        "report.toml": SETTINGS.content,
    }
    described = {str(spec.UF): (str(spec.AFRelationship), str(spec.Desc)) for spec in pdf.Root.AF}
    assert described == {
        "report.toml": ("/Source", "Configuration"),
        "results.json": ("/Data", "All results"),
    }
    assert len(pdf.Root.AF) == 2
    kinds = [str(spec.EF.F.Subtype) for spec in pdf.Root.AF]
    assert kinds == ["/application/toml", "/application/json"]


def test_every_stream_is_compressed_once(monkeypatch):
    from weasyprint.pdf import pydyf

    contents = []

    def serialize(stream):
        if stream.extra.get("Type") != "/ObjStm":  # made while the file is written
            contents.append(b"\n".join(map(pydyf._to_bytes, stream.stream)))
        return original.fget(stream)

    original = pydyf.Stream.data
    monkeypatch.setattr(pydyf.Stream, "data", property(serialize))
    render_pdf(page_of("<p>Text</p>"), attachments=[RESULTS], created=TIME)
    assert RESULTS.content in contents
    assert len(contents) == len(set(contents))


def test_attachments_of_the_same_bytes_keep_their_metadata():
    same = [
        Attachment(name="b.json", content=b"{}", description="b", relationship="Source"),
        Attachment(name="a.odd", content=b"{}", description="a", relationship="Data"),
    ]
    pdf = open_pdf(render_pdf(page_of(""), attachments=same, created=TIME))
    assert [(str(spec.UF), str(spec.AFRelationship), str(spec.EF.F.Subtype)) for spec in pdf.Root.AF] == [
        ("a.odd", "/Data", "/application/octet-stream"),
        ("b.json", "/Source", "/application/json"),
    ]


def test_all_times_are_the_given_one(report):
    pdf = open_pdf(report)
    times = {str(spec.EF.F.Params[name]) for spec in pdf.Root.AF for name in ("/CreationDate", "/ModDate")}
    times |= {str(pdf.docinfo.CreationDate), str(pdf.docinfo.ModDate)}
    assert times == {"D:20261115073012Z"}
    metadata = pdf.Root.Metadata.read_bytes().decode()
    assert re.findall(r"<xmp:(\w+Date)>(.*?)<", metadata) == [
        ("CreateDate", "2026-11-15T07:30:12Z"),
        ("ModifyDate", "2026-11-15T07:30:12Z"),
    ]


def test_the_page_may_contain_the_time():
    head = '<meta name="dcterms.created" content="2026-11-15T07:30:12+00:00">'
    pdf = open_pdf(render_pdf(page_of("", head=head), attachments=[RESULTS]))
    assert str(pdf.docinfo.ModDate) == str(pdf.Root.AF[0].EF.F.Params.ModDate) == "D:20261115073012Z"
    assert "/CreationDate" not in open_pdf(render_pdf(page_of(""))).docinfo


def test_times_and_names_of_attachments_are_checked():
    with pytest.raises(UsageError, match=r"^A document with attachments requires a time: set `created`\.$"):
        render_pdf(page_of(""), attachments=[RESULTS])
    with pytest.raises(UsageError, match=r"^The time of a document must be like .*; got 'soon'\.$"):
        render_pdf(page_of(""), created="soon")
    with pytest.raises(
        UsageError, match=r"^Attachments must have different names; got results\.json, results"
    ):
        render_pdf(page_of(""), attachments=[RESULTS, RESULTS], created=TIME)


# ---- The same on every machine ----


RENDER = """
import hashlib, sys
from pathlib import Path
from scorereport.report.pdf import Attachment, render_pdf
page = Path(sys.argv[1]).read_text(encoding="utf-8")
files = [Attachment(name="results.json", content=b"{}", description="x")]
print(hashlib.sha256(render_pdf(page, attachments=files, created="2026-11-15T07:30:12Z")).hexdigest())
"""


@pytest.mark.sweep
def test_the_same_page_gives_the_same_bytes_on_every_machine(tmp_path, figures):
    page = tmp_path / "page.html"
    page.write_text(page_of(f'<p>Ω ✗ 模</p><img alt="x" src="{figures[0]}">'), encoding="utf-8")
    no_fonts = tmp_path / "fonts.conf"
    no_fonts.write_text('<?xml version="1.0"?><fontconfig></fontconfig>', encoding="utf-8")
    machines = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C.UTF-8"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "1700000000"}
        | {"FONTCONFIG_FILE": str(no_fonts), "PYTHONWARNINGS": "error::UserWarning"},
    ]
    done = [
        subprocess.run(
            [sys.executable, "-c", RENDER, page],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(__file__).parents[1])} | machine,
            capture_output=True,
            text=True,
            check=False,
        )
        for machine in machines
    ]
    assert [(run.returncode, run.stderr) for run in done] == [(0, "")] * len(machines)
    assert len({run.stdout for run in done}) == 1


def test_rendering_is_silent_and_leaves_the_process_as_it_was(capfd, caplog, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "17")
    monkeypatch.delenv("FONTCONFIG_FILE", raising=False)
    caplog.set_level(logging.DEBUG)
    logger = logging.getLogger("weasyprint")
    before = dict(os.environ), logger.level, logger.propagate
    render_pdf(page_of("", style="h1 { no-such: thing }"))
    handlers = logger.handlers[:]
    render_pdf(page_of(""))
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.name.startswith(("weasyprint", "fontTools"))] == []
    assert (dict(os.environ), logger.level, logger.propagate) == before
    assert logger.handlers == handlers


# ---- What is refused ----


@pytest.mark.sweep(after=14)
@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/x.png",
        "http://127.0.0.1:9/x.png",
        "ftp://example.org/x.png",
        "file:///etc/hostname",
        "file://localhost/etc/hostname",
        Path(__file__).as_uri(),
        f"{(find_package_folder('templates') / 'style.css').resolve().as_uri()}",
    ],
)
@pytest.mark.parametrize(
    "way",
    [
        '<img alt="x" src="{}">',
        '<p style="background: url({})">x</p>',
        '<style>@import url("{}");</style>',
        '<link rel="stylesheet" href="{}">',
        '<svg><title>x</title><image href="{}" width="9" height="9"/></svg>',
    ],
    ids=["img", "style", "import", "link", "svg"],
)
def test_nothing_is_fetched(way, address):
    with pytest.raises(
        UsageError, match=rf"^The address {re.escape(address)} is not fetched: a report must "
    ):
        render_pdf(page_of(way.format(address)))


@pytest.mark.parametrize(
    "way", ['@font-face {{ font-family: "x"; src: url({}) }}', "@page {{ background: url({}) }}"]
)
def test_nothing_is_fetched_by_rules(way):
    with pytest.raises(UsageError, match=r"^The address file:///etc/hostname is not fetched"):
        render_pdf(page_of("", style=way.format("file:///etc/hostname") + ' p { font-family: "x" }'))


def test_pictures_inside_pictures_are_not_fetched():
    inner = '<image href="file:///etc/hostname" width="9" height="9"/>'
    outer = f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9">{inner}</svg>'
    picture = data_uri(outer.encode(), "image/svg+xml")
    with pytest.raises(UsageError, match=r"^The address file:///etc/hostname is not fetched"):
        render_pdf(page_of(f'<img alt="x" src="{picture}">'))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('<img alt="x" src="logo.png">', "Relative URI reference without a base URI"),
        (
            '<img src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">',
            "no required alt",
        ),
        (
            f'<img alt="x" src="{data_uri(b"no picture" * 99, "image/png")}">',
            "Failed to load image at 'data:image",
        ),
        ('<p><a href="#nowhere">x</a></p>', "No anchor #nowhere for internal URI reference"),
        (
            '<p style=\'content: "x"\' class="odd">x</p><style>.odd::after { content: "\\6a21" }</style>',
            r"U\+6A21",
        ),
    ],
    ids=["relative", "alt", "picture", "anchor", "glyph"],
)
def test_a_broken_document_is_refused(body, message):
    with pytest.raises(UsageError, match=rf"^The PDF would be broken: .*{message}") as caught:
        render_pdf(page_of(body))
    assert len(str(caught.value)) < 400


def test_a_page_needs_a_language_and_a_title():
    with pytest.raises(UsageError, match=r'^The PDF would be broken: Missing required "lang" attribute'):
        render_pdf("<title>x</title><h1>x</h1>")
    with pytest.raises(UsageError, match=r"^The page has no title; PDF/UA requires a <title>\.$"):
        render_pdf('<html lang="en"><h1>x</h1></html>')


@pytest.mark.parametrize("tag", ["link", "a"])
def test_a_page_attaches_nothing_by_itself(tag):
    with pytest.raises(UsageError, match=r'^A page cannot attach files by rel="attachment"; give them to '):
        render_pdf(page_of(f'<{tag} rel="attachment" href="data:text/plain,x">x</{tag}>'))


def test_libraries_that_are_missing_are_named(monkeypatch):
    class Refusing:
        def find_spec(self, name, *_):
            if name == "weasyprint":
                raise OSError("cannot load library 'libgobject-2.0-0'")

    monkeypatch.delitem(sys.modules, "weasyprint", raising=False)
    monkeypatch.setattr(sys, "meta_path", [Refusing(), *sys.meta_path])
    with pytest.raises(
        UsageError, match=r"libgobject.* apt install libpango-1\.0-0 libpangoft2-1\.0-0 libharfbuzz-subset0$"
    ):
        render_pdf(page_of(""))
