"""The documentation: its code runs with the wheel alone, the site is complete and needs no network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path
from urllib.parse import unquote

import pytest
from artefact_tools import make_once, shared_folder
from browser_tools import browser_fixture
from tinyhtml5 import parse as parse_html

import scorereport as sr
from scorereport._utils.documentation import Documentation, find_documentation
from scorereport.cli import documentation_command
from scorereport.errors import UsageError
from validation.documentation.page_runner import list_blocks, list_commands, list_needs
from validation.documentation.site_build import SITE, build_site
from validation.documentation.source_digest import DIGEST_FILE, digest_sources, is_current

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
RUNNER = ROOT / "validation" / "documentation" / "page_runner.py"
browser = pytest.fixture(scope="module", name="browser")(browser_fixture)

# ---- Pages that run ----


def run_page(text, folder, *arguments):
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, str(RUNNER), str(page), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_blocks_of_a_page_share_names_and_a_folder(tmp_path):
    text = "```python\n>>> x = 'one'\n```\n\n```console\n$ echo two > file\n```\n\n"
    done = run_page(text + "```python\n>>> x, open('file').read()\n('one', 'two\\n')\n```\n", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("```python\n>>> 1 + 1\n3\n```\n", "Got:\n    2"),
        ("```python\n>>> 1 / 0\n```\n", "ZeroDivisionError"),
        ("```python\nx = 1\n```\n", "without >>> does not run"),
        ("```console\n$ echo one\ntwo\n```\n", "'echo one' printed\none\ninstead of\ntwo"),
        ("```console\n$ true\n$ false\n```\n", "exit code 1 of 'false'"),
        ("```console\n$ cat <<END\na\nEND\nb\n```\n", "printed\na\ninstead of\nb"),
    ],
)
def test_what_differs_from_a_page_is_found(text, problem, tmp_path):
    done = run_page(text, tmp_path)
    assert done.returncode == 1
    assert problem in done.stderr


def test_output_may_be_shortened_on_a_page(tmp_path):
    assert run_page("```console\n$ echo one two three\none ... three\n```\n", tmp_path).returncode == 0


def test_figures_of_a_block_are_saved_and_closed(tmp_path):
    text = "```python\n>>> import matplotlib.pyplot as plt\n>>> a, b = plt.figure(), plt.figure()\n```\n"
    more = "```python\n>>> plt.get_fignums()\n[]\n>>> c = plt.figure()\n```\n"
    assert run_page(text + more, tmp_path, "--figures", str(tmp_path)).returncode == 0
    assert sorted(path.name for path in tmp_path.glob("*.svg")) == ["0-1.svg", "0-2.svg", "1-1.svg"]


def list_extra_names():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return set(project["optional-dependencies"]) - {"dev"}


def list_running_pages():
    folders = [DOCS / name for name in ("guide", "how-to", "tutorials")]
    pages = [page for folder in folders for page in sorted(folder.glob("*.md"))]
    return [ROOT / "README.md", DOCS / "gallery.md", *pages]


def name_page(path):
    return path.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", list_running_pages(), ids=name_page)
def test_every_command_of_a_page_is_one_that_runs(page):
    """No prompt stands in a block that the runner does not run."""
    text = page.read_text(encoding="utf-8")
    fences = re.findall(r"^```(\S*)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    others = [code for language, code in fences if language not in ("python", "console")]
    assert [code for code in others if re.search(r"^(>>>|\$) ", code, re.MULTILINE)] == []
    for block in list_blocks(text):
        assert block.language == "python" or list_commands(block.code), block
    assert set(list_needs(text)) <= {*list_extra_names(), "alembic", "pytest"}


def test_pages_name_the_wheel_of_this_version():
    texts = [
        path.read_text(encoding="utf-8")
        for path in (ROOT / "README.md", *DOCS.rglob("*.md"), *DOCS.rglob("*.yml"))
    ]
    named = {
        version for text in texts for version in re.findall(r"scorereport-(.+?)-py3-none-any\.whl", text)
    }
    assert named == {sr.__version__}


# ---- Topics ----


def test_a_topic_is_a_page_a_public_name_or_a_term():
    topics = {
        "limits": "limits.html",
        "net benefit": "glossary.html#net-benefit",
        "sr.corp": "api/c.html#corp",
    }
    documentation = Documentation(folder=Path("/site"), topics=topics, is_site=True)
    assert documentation.find("limits") == (Path("/site/limits.html"), "")
    assert documentation.find("Net Benefit") == (Path("/site/glossary.html"), "net-benefit")
    assert documentation.find("corp") == (Path("/site/api/c.html"), "corp")
    with pytest.raises(UsageError, match=r"no topic 'limts'\. Near topics: limits\."):
        documentation.find("limts")
    with pytest.raises(UsageError, match=r"no topic 'spline'\. `scorereport docs` opens its first page\."):
        documentation.find("spline")


def test_without_the_site_the_pages_in_markdown_are_found(monkeypatch):
    monkeypatch.setattr("scorereport._utils.documentation.TOPICS", "absent.json")
    documentation = find_documentation()
    assert not documentation.is_site
    assert documentation.find("limits") == (DOCS / "limits.md", "")
    assert documentation.find() == (DOCS / "index.md", "")
    assert documentation.find("bank") == (DOCS / "tutorials" / "bank.md", "")


def test_docs_prints_where_a_page_lies(monkeypatch, capsys):
    monkeypatch.setattr("scorereport._utils.documentation.TOPICS", "absent.json")
    documentation_command.docs("limits")
    printed = capsys.readouterr()
    assert printed.out == f"{DOCS / 'limits.md'}\n"
    assert "has the pages as Markdown" in printed.err


@pytest.mark.parametrize(("at_a_screen", "path_only"), [(True, False), (True, True), (False, False)])
def test_docs_opens_a_page_for_a_person_at_a_screen(at_a_screen, path_only, monkeypatch, tmp_path, capsys):
    (tmp_path / "topics.json").write_text(json.dumps({"skill": "glossary.html#skill"}))
    monkeypatch.setattr("scorereport._utils.documentation.find_package_folder", lambda _: tmp_path)
    monkeypatch.setattr(documentation_command, "_has_browser", lambda: at_a_screen)
    opened = []
    monkeypatch.setattr(documentation_command.webbrowser, "open", opened.append)
    documentation_command.docs("skill", path_only)
    assert capsys.readouterr().out == f"{tmp_path / 'glossary.html'}\n"
    expected = [f"{(tmp_path / 'glossary.html').as_uri()}#skill"] if at_a_screen and not path_only else []
    assert opened == expected


# ---- The site ----


def test_a_site_of_other_sources_is_not_current(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "page.md").write_text("one")
    site = tmp_path / "build" / "site"
    site.mkdir(parents=True)
    assert not is_current(tmp_path)
    (site / DIGEST_FILE).write_text(digest_sources(tmp_path))
    assert is_current(tmp_path)
    (tmp_path / "docs" / "page.md").write_text("two")
    assert not is_current(tmp_path)


def list_public_names():
    modules = ("curves", "inference", "plots", "scores", "testing")
    names = {f"scorereport.{name}" for name in sr.__all__ if name not in (*modules, "__version__")}
    return names | {
        f"scorereport.{module}.{name}" for module in modules for name in getattr(sr, module).__all__
    }


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built once in a run, with warnings as errors; the code of all its pages runs."""
    assert make_once(shared_folder(tmp_path_factory, "site"), build_site) == 0
    return SITE


def read_site_page(path):
    return parse_html(path.read_bytes(), namespace_html_elements=False)


def list_references(page):
    """The address of everything that a page loads, and of its links."""
    root = read_site_page(page)
    tags = ("script", "img", "source", "iframe")
    loaded = [element.get("src") for tag in tags for element in root.iter(tag)]
    loaded += [element.get("href") for element in root.iter("link")]
    return [one for one in loaded if one], [one.get("href") for one in root.iter("a") if one.get("href")]


@pytest.mark.sweep
def test_every_public_name_is_in_the_reference(site):
    topics = json.loads((site / "topics.json").read_text(encoding="utf-8"))
    assert list_public_names() - topics.keys() == set()


@pytest.mark.sweep
def test_the_site_needs_no_network_and_its_links_lead_somewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 40
    anchors = {page: {element.get("id") for element in read_site_page(page).iter()} for page in pages}
    for page in pages:
        loaded, links = list_references(page)
        assert [one for one in loaded if re.match(r"(https?:)?//", one)] == [], page
        for link in links:
            if re.match(r"[a-z]+:", link):
                continue
            place, _, anchor = unquote(link).partition("#")
            target = (page.parent / place).resolve() if place else page
            assert target.exists(), (page, link)
            if anchor and target in anchors:
                assert anchor in anchors[target], (page, link)


@pytest.mark.sweep
def test_topics_lead_to_pages_and_anchors(site):
    topics = json.loads((site / "topics.json").read_text(encoding="utf-8"))
    for topic in (
        "index",
        "limits",
        "evaluate",
        "skill",
        "sr.scores.brier",
        "bank",
        "messages",
        "overfit-corrected",
    ):
        assert topic in topics, topic
    anchors = {}
    for topic, address in topics.items():
        place, _, anchor = address.partition("#")
        if place not in anchors:
            anchors[place] = {element.get("id") for element in read_site_page(site / place).iter()}
        assert not anchor or anchor in anchors[place], topic


@pytest.mark.sweep
@pytest.mark.parametrize("width", [390, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_fit_the_screen_and_load_everything(site, browser, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
    page, failed = context.new_page(), []
    page.on("requestfailed", lambda request: failed.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    for path in sorted(site.rglob("*.html")):
        page.goto(path.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, re.findall(r"\d+", ground)[:3])) < 200) is (scheme == "dark"), path
    context.close()
    assert failed == []


@pytest.mark.sweep
def test_the_search_finds_pages_without_a_server(site, browser):
    page = browser.new_page()
    page.goto(f"{(site / 'search.html').as_uri()}?q=miscalibration")
    page.wait_for_selector("ul.search li a")
    assert page.locator("ul.search li a").count() > 5
    page.close()


# ---- The wheel ----


def run(*command, **options):
    return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)


def install_wheel(folder):
    """Make an environment that holds the wheel and what it requires; return its interpreter."""
    done = run(sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", folder, ROOT)
    if done.returncode:
        return "", f"no wheel can be built here: {done.stderr.strip()[-300:]}"
    (wheel,) = folder.glob("*.whl")
    run(sys.executable, "-m", "venv", folder / "environment").check_returncode()
    python = folder / "environment" / Path(sysconfig.get_path("scripts")).name / "python"
    limits = {**os.environ, "PIP_CONSTRAINT": str(ROOT / "requirements.lock"), "PYTHONPATH": ""}
    done = run(python, "-m", "pip", "install", "-q", wheel, env=limits)
    if done.returncode:
        return "", f"the wheel cannot be installed here: {done.stderr.strip()[-300:]}"
    return str(python), str(wheel)


@pytest.fixture(scope="module")
def wheel_environment(tmp_path_factory, site):  # noqa: ARG001  # the wheel carries the site
    """The interpreter of an environment with the wheel alone."""
    folder = shared_folder(tmp_path_factory, "wheel")
    python, wheel = make_once(folder, lambda: install_wheel(folder))
    if not python:
        pytest.skip(wheel)
    return python


def find_interpreter(page, python, factory):
    """The interpreter for a page: that of the wheel alone, or one with what the page states as needed."""
    needs = list_needs(page.read_text(encoding="utf-8"))
    if not needs:
        return python
    folder = shared_folder(factory, f"wheel-{'-'.join(sorted(needs))}")
    return make_once(folder, lambda: add_needs(folder, python, needs))


def add_needs(folder, python, needs):
    """Make an environment on top of the one with the wheel, with extras and other packages."""
    run(python, "-m", "venv", folder / "environment").check_returncode()
    made = folder / "environment" / "bin" / "python"
    (below,) = Path(python).parents[1].glob("lib/python*/site-packages")
    (above,) = (folder / "environment").glob("lib/python*/site-packages")
    (above / "below.pth").write_text(f"{below}\n")
    limits = {**os.environ, "PIP_CONSTRAINT": str(ROOT / "requirements.lock"), "PYTHONPATH": ""}
    (wheel,) = Path(python).parents[2].glob("*.whl")
    extras = ",".join(name for name in needs if name in list_extra_names())
    packages = [name for name in needs if name not in list_extra_names()]
    pip = (made, "-m", "pip", "install", "-q")
    run(*pip, f"{wheel}[{extras}]", *packages, env=limits).check_returncode()
    run(*pip, "--no-deps", "--force-reinstall", wheel, env=limits).check_returncode()  # for its commands
    return str(made)


@pytest.mark.sweep
@pytest.mark.parametrize("page", list_running_pages(), ids=name_page)
def test_pages_run_with_the_wheel_alone(page, wheel_environment, tmp_path_factory, tmp_path):
    python = find_interpreter(page, wheel_environment, tmp_path_factory)
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SCOREREPORT"))
    }
    done = run(python, RUNNER, page, cwd=tmp_path, env=clean)
    assert done.returncode == 0, done.stderr


@pytest.mark.sweep
def test_the_wheel_carries_the_site(wheel_environment, tmp_path):
    scripts = Path(wheel_environment).parent
    done = run(scripts / "scorereport", "docs", "sr.evaluate", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    place = Path(done.stdout.strip())
    assert (
        place.relative_to(scripts.parent).as_posix().endswith("scorereport/documentation/api/evaluation.html")
    )
    assert place.is_file()
