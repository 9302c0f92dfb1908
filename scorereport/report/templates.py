"""Rendering of templates to HTML; the only module that uses Jinja."""

from __future__ import annotations

import hashlib
import html as entities
import re
import sys
import traceback
from base64 import b64encode
from contextlib import suppress
from fnmatch import fnmatch
from functools import cache
from importlib.util import cache_from_source
from pathlib import Path
from pickle import PickleError
from typing import TYPE_CHECKING, Any

from scorereport._utils.files import find_package_folder
from scorereport._utils.version import package_version
from scorereport.errors import UsageError
from scorereport.plots.fonts import font_faces, replace_invisible
from scorereport.report.methods.glossary_terms import define_terms
from scorereport.report.tables.column_widths import count_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


#: Media types by file ending; those of the machine are not used, so that bytes are reproducible.
_MEDIA_TYPES = {
    ".csv": "text/csv",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".toml": "application/toml",
    ".txt": "text/plain",
    ".webp": "image/webp",
}


def media_type_of(name: str) -> str:
    """Return the media type of a file by the ending of its name."""
    return _MEDIA_TYPES.get(Path(name).suffix.lower(), "application/octet-stream")


#: Prefix under which templates of users find those that they replace: `scorereport/report.html`.
_PACKAGE_PREFIX = "scorereport"
#: Elements that browsers show in italics, and words of style sheets for it.
_ITALICS = re.compile(r"<(?:address|cite|dfn|em|i|var)\b|\b(?:italic|oblique)\b", re.IGNORECASE)
#: How templates are compiled.
_SYNTAX = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
#: Errors of a file of a compiled template that cannot be opened, or was not written completely.
_UNREADABLE = (OSError, EOFError, ValueError, TypeError, PickleError)
#: Features of the template language that give another page in every run.
_RANDOM_FILTER, _RANDOM_GLOBAL = "random", "lipsum"


def render_html(template: str, context: Mapping[str, Any], *, templates: Path | None = None) -> str:
    """Render a template; text is escaped, and a name that is not in the context is an error.

    A file in the folder `templates` replaces the one of the package with the same name, and may extend it as
    `scorereport/<name>`. Templates can use the context, `version`, `embed(name)`, a data address that
    contains an image beside them, `count_lines(text, millimetres, points)`, the lines of a text on paper, and
    `define_terms(pages)`, the terms of the glossary that pages use.
    """
    return open_templates(templates)(template, context)


def compile_templates(*patterns: str) -> None:
    """Compile the templates of the package whose names match a pattern, before they are rendered."""
    files, environment = _package_templates()
    for name in files:
        if any(fnmatch(name, pattern) for pattern in patterns):
            environment.get_template(name)


def open_templates(templates: Path | None = None) -> Callable[[str, Mapping[str, Any]], str]:
    """Return `render_html` for many pages, which compiles each template once."""
    files, environment = _package_templates() if templates is None else _open_files(templates)

    def render(template: str, context: Mapping[str, Any]) -> str:
        try:
            page = environment.get_template(template).render(context)
        except Exception as error:  # a template can fail in any way
            raise UsageError(_describe_failure(error, files)) from error
        return replace_invisible(page)

    return render


@cache
def _package_templates() -> tuple[dict[str, Path], Any]:
    return _open_files(None)


def _open_files(folder: Path | None) -> tuple[dict[str, Path], Any]:
    files = _template_files(folder)
    return files, _make_environment(files, keeps_code=folder is None)


def embed_fonts(html: str) -> str:
    """Embed the fonts of a page, reduced to the characters it uses, so that it requires no other file."""
    faces = font_faces(entities.unescape(html), has_italics=_ITALICS.search(html) is not None)
    style = f"<style>\n{faces}\n</style>\n"
    head, end, body = html.partition("</head>")
    return f"{head}{style}{end}{body}" if end else f"{html}{style}"


def hash_templates(folder: Path | None) -> str:
    """Return the SHA-256 of the names and bytes of all templates: those of the package and of the user."""
    digest = hashlib.sha256()
    for name, path in sorted(_template_files(folder).items()):
        content = path.read_bytes()
        digest.update(f"{len(name.encode())} {name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def _template_files(folder: Path | None) -> dict[str, Path]:
    """Return templates by name; those of the package also under the package prefix."""
    package = _list_files(find_package_folder("templates"))
    named = {f"{_PACKAGE_PREFIX}/{name}": path for name, path in package.items()}
    return package | ({} if folder is None else _list_files(folder)) | named


def _list_files(folder: Path) -> dict[str, Path]:
    """Return the files in a folder by relative name, without hidden ones such as those of version control."""
    if not folder.is_dir():
        raise UsageError(f"The template folder {folder} does not exist.")
    names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    seen = {name: path for name, path in names.items() if not re.search(r"(^|/)\.", name)}
    for path in seen.values():
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"The template {path} is a link to {path.resolve()}, outside its folder.")
    return seen


def _make_environment(files: Mapping[str, Path], *, keeps_code: bool) -> Any:
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def load(name: str) -> tuple[str, str, None] | None:
        return (files[name].read_text(encoding="utf-8"), str(files[name]), None) if name in files else None

    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        bytecode_cache=_open_kept_code() if keeps_code else None,
        autoescape=_SYNTAX["autoescape"],
        trim_blocks=_SYNTAX["trim_blocks"],
        lstrip_blocks=_SYNTAX["lstrip_blocks"],
        keep_trailing_newline=_SYNTAX["keep_trailing_newline"],
    )
    del environment.filters[_RANDOM_FILTER], environment.globals[_RANDOM_GLOBAL]
    environment.globals |= {
        "version": package_version(),
        "embed": lambda name: _embed(name, files),
        "count_lines": count_lines,
        "define_terms": define_terms,
    }
    return environment


def _open_kept_code() -> Any:
    """Compiled templates, which are kept where and when Python keeps compiled modules.

    To compile them takes a tenth of the time of a report on few rows.
    """
    import jinja2

    class KeptCode(jinja2.FileSystemBytecodeCache):
        def get_source_checksum(self, source: str) -> str:
            return super().get_source_checksum(f"{jinja2.__version__} {_SYNTAX} {source}")

        def load_bytecode(self, bucket: Any) -> None:
            try:
                super().load_bytecode(bucket)
            except _UNREADABLE:
                bucket.reset()

        def dump_bytecode(self, bucket: Any) -> None:
            if not sys.dont_write_bytecode:
                with suppress(OSError):  # others may have installed the package
                    folder.mkdir(exist_ok=True, parents=True)
                    super().dump_bytecode(bucket)

    folder = Path(cache_from_source(__file__)).parent
    return KeptCode(str(folder), f"template-%s.{sys.implementation.cache_tag}")


def _embed(name: str, files: Mapping[str, Path]) -> str:
    if name not in files:
        raise UsageError(f"There is no file {name!r} beside the templates.")
    content = b64encode(files[name].read_bytes()).decode()
    return f"data:{media_type_of(name)};base64,{content}"


def _describe_failure(error: Exception, files: Mapping[str, Path]) -> str:
    """Describe the error, with the template and the line in which it occurred."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    known = set(map(str, files.values()))
    steps = traceback.extract_tb(error.__traceback__)
    places = [(step.filename, step.lineno) for step in steps if step.filename in known]
    if isinstance(error, TemplateSyntaxError):
        places = [(error.filename or "", error.lineno)]
    where = f"Line {places[-1][1]} of the template {places[-1][0]} fails: " if places else ""
    if isinstance(error, TemplateNotFound):
        return f"{where or 'Rendering fails: '}there is no template {error.name!r}."
    message = error.message if isinstance(error, TemplateSyntaxError) else str(error)
    return f"{where}{type(error).__name__}: {(message or 'no further details').rstrip('.')}."
