"""Templates to HTML and HTML to PDF: the only place that knows Jinja and WeasyPrint."""

from __future__ import annotations

import logging
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorereport import __version__
from scorereport.resources import find_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TEMPLATES = "templates"
#: Accessible PDF: tagged, with a title and a language.
_VARIANT = "pdf/ua-1"
#: Logs of the renderer, about which whoever reads a report can do nothing.
_CHATTER = ("weasyprint", "fontTools")
#: The time that fonts in a PDF carry where the library that cuts them writes one: the same in every run.
_EPOCH = "0"


def render_html(template: str, context: Mapping[str, Any]) -> str:
    """Fill a template; text is escaped, and a name that the context lacks is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(find_folder(_TEMPLATES)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.get_template(template).render(context, version=__version__)


def render_pdf(html: str) -> bytes:
    """Set an HTML page as a tagged PDF; the same page gives the same bytes.

    Nothing is fetched but what the page carries in itself or the templates bring along.
    """
    with _quiet(), _same_time():
        from weasyprint import HTML, urls  # type: ignore[import-untyped]

        try:
            pdf = HTML(string=html, url_fetcher=_make_fetcher()).write_pdf(pdf_variant=_VARIANT)
        except urls.FatalURLFetchingError as error:  # of no class that callers catch
            raise ValueError(f"{error}: a report must carry in itself all that it shows.") from error
    return bytes(pdf)


def _make_fetcher() -> Any:
    from weasyprint import urls

    folder = find_folder(_TEMPLATES).resolve()

    class Fetcher(urls.URLFetcher):  # type: ignore[misc]  # of a package without types
        """Reads files of the templates, and data inside the page; anything else stops the rendering."""

        def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Any:
            response = super().fetch(url, headers)
            if response.path and not Path(response.path).resolve().is_relative_to(folder):
                response.close()
                raise PermissionError(f"{response.path} is no file of the templates.")
            return response

    return Fetcher(allowed_protocols={"data", "file"}, allow_redirects=False, fail_on_errors=True)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep the logs of the renderer from the terminal."""
    loggers = [logging.getLogger(name) for name in _CHATTER]
    before = [logger.propagate for logger in loggers]
    silent = logging.NullHandler()
    for logger in loggers:
        logger.addHandler(silent)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, propagates in zip(loggers, before, strict=True):
            logger.removeHandler(silent)
            logger.propagate = propagates


@contextmanager
def _same_time() -> Iterator[None]:
    """Give every run the same time, unless the caller has chosen one."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        yield
        return
    os.environ["SOURCE_DATE_EPOCH"] = _EPOCH
    try:
        yield
    finally:
        del os.environ["SOURCE_DATE_EPOCH"]
