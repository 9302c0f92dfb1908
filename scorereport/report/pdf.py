"""Rendering of HTML to PDF, identical on every machine; the only module that uses WeasyPrint."""

from __future__ import annotations

import html as entities
import logging
import os
import re
import threading
import warnings
import zlib
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from scorereport._utils.files import TemporaryFolder
from scorereport._utils.machine import collector_paused
from scorereport.errors import UsageError
from scorereport.plots.fonts import font_faces, font_files, replace_missing
from scorereport.report.page_figures import take_out_figures
from scorereport.report.page_numbers import DIGITS, more_room, set_page_numbers
from scorereport.report.system_libraries import libraries_not_searched
from scorereport.report.templates import media_type_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence


#: Loggers of the renderer, whose messages do not help a reader of the report.
_RENDERER_LOGGERS = ("weasyprint", "fontTools")


#: Warnings of the renderer that mean a broken document, as errors always do.
_BROKEN_DOCUMENT = (".notdef glyph", "Font-face")


_MESSAGES_SHOWN = 3
#: Font configuration without system fonts, so that only the fonts of the package are used.
_NO_SYSTEM_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><cachedir>{folder}</cachedir></fontconfig>
"""
#: Time of the fonts in a PDF, which the font library would otherwise set: the same in every run.
_EPOCH = "0"
#: Held while rendering, because the environment is changed for the whole process.
RENDERER_LOCK = threading.Lock()
#: Most characters of an address in messages; some addresses contain a whole image.
_ADDRESS_SHOWN = 80


class _Collector(logging.Handler):
    """Keeps log records."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def shorten_addresses(text: str) -> str:
    """Shorten long data addresses in a text."""
    return re.sub(rf"(data:[^\s\"']{{{_ADDRESS_SHOWN}}})[^\s\"']+", r"\1…", text)


@contextmanager
def collect_renderer_messages() -> Iterator[list[logging.LogRecord]]:
    """Collect the log records of the renderer and keep them from the terminal."""
    handler = _Collector()
    loggers = [logging.getLogger(name) for name in _RENDERER_LOGGERS]
    before = [(logger.propagate, logger.level) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(logging.WARNING)
    try:
        yield handler.records
    finally:
        for logger, (propagates, level) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.propagate = propagates
            logger.setLevel(level)


def check_renderer_messages(records: Sequence[logging.LogRecord]) -> None:
    """Refuse a document that is broken according to the messages of the renderer."""
    broken = dict.fromkeys(
        shorten_addresses(record.getMessage())
        for record in records
        if record.levelno >= logging.ERROR or record.getMessage().startswith(_BROKEN_DOCUMENT)
    )
    if broken:
        raise UsageError(f"The PDF would be broken: {'; '.join(list(broken)[:_MESSAGES_SHOWN])}.")


@contextmanager
def reproducible_environment() -> Iterator[None]:
    """Hide the time and the system fonts, which differ between machines, from the renderer."""
    with TemporaryFolder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about missing fonts, and files that the renderer leaves open
        settings = folder / "fonts.conf"
        settings.write_text(_NO_SYSTEM_FONTS.format(folder=folder), encoding="utf-8")
        hidden = {"SOURCE_DATE_EPOCH": _EPOCH, "FONTCONFIG_FILE": str(settings)}
        before = {name: os.environ.get(name) for name in hidden}
        os.environ.update(hidden)
        try:
            yield
        finally:
            for name, value in before.items():
                os.environ.pop(name)
                os.environ.update({name: value} if value is not None else {})


#: PDF/A-3a: an archive format with attachments and accessibility tags; PDF/UA metadata is added.
_VARIANT = "pdf/a-3a"
#: Effort of compression, as zlib counts it.
_EFFORT = 6
_LIBRARIES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
#: Metadata that declare PDF/UA-1, with the extension schema that PDF/A requires for them.
_ACCESSIBLE = b"""
<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/">
<pdfuaid:part>1</pdfuaid:part>
</rdf:Description>
<rdf:Description rdf:about=""
 xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#"
 xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:schema>Accessible documents</pdfaSchema:schema>
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI>
<pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:name>part</pdfaProperty:name>
<pdfaProperty:valueType>Integer</pdfaProperty:valueType>
<pdfaProperty:category>internal</pdfaProperty:category>
<pdfaProperty:description>Part of ISO 14289 that the document follows</pdfaProperty:description>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas>
</rdf:Description>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file attached to a PDF; `relationship`: "Data" that the document shows, or its "Source"."""

    name: str
    content: bytes
    description: str
    relationship: Literal["Data", "Source"] = "Data"


def render_pdf(html: str, *, attachments: Sequence[Attachment] = (), created: str = "") -> bytes:
    """Render a page as a PDF that is both PDF/A-3a and PDF/UA-1; the same page gives the same bytes.

    Only data inside the page and the fonts of the package are read; system fonts are not used. The time
    `created`, or else that of the page, is the time of the document and of its attachments.
    """
    _check_attachments(attachments)
    pdf, refused = b"", list[str]()
    with (
        RENDERER_LOCK,
        reproducible_environment(),
        collector_paused(),
        collect_renderer_messages() as messages,
    ):
        weasyprint = _import_weasyprint()
        with suppress(
            weasyprint.urls.FatalURLFetchingError
        ):  # some parts of the renderer suppress it; `refused` records it
            document = _lay_out(weasyprint, _replace_all_missing(html), refused)
            _check_document(document)
            time = _set_time(document, created)
            pdf = document.write_pdf(
                pdf_variant=_VARIANT,
                attachments=[_attach(weasyprint, attachment, time) for attachment in _in_order(attachments)],
                finisher=lambda _, pdf: _finish(pdf, attachments),
            )
    _check_fetched(refused)
    check_renderer_messages(messages)
    return pdf


def _import_weasyprint() -> Any:
    try:
        with libraries_not_searched():
            import weasyprint
    except OSError as error:
        raise UsageError(
            f"A PDF cannot be rendered because system libraries are missing ({error}). "
            f"On Debian or Ubuntu: apt install {_LIBRARIES}"
        ) from error
    return weasyprint


def _replace_all_missing(html: str) -> str:
    """Replace characters without a glyph, including those written as character references."""

    def resolve(reference: re.Match[str]) -> str:
        characters = entities.unescape(reference[0])
        return reference[0] if characters.isascii() else characters

    return replace_missing(re.sub(r"&#?\w+;", resolve, html))


def _lay_out(weasyprint: Any, html: str, refused: list[str]) -> Any:
    """Lay out the pages of a document; addresses that are not fetched are added to `refused`."""
    fetcher = _make_fetcher(weasyprint, refused)
    fonts = weasyprint.text.fonts.FontConfiguration()
    faces = weasyprint.CSS(string=font_faces(), font_config=fonts, url_fetcher=fetcher)
    short, drawings = take_out_figures(html)
    page = weasyprint.HTML(string=short, url_fetcher=fetcher)

    def render(*more: Any) -> Any:
        return page.render(
            font_config=fonts, stylesheets=[faces, *more], pdf_variant=_VARIANT, cache=drawings
        )

    document, digits = render(), DIGITS
    while len(document.pages) >= 10**digits:
        digits += 1
        document = render(weasyprint.CSS(string=more_room(digits)))
    set_page_numbers(document, digits)
    return document


def _make_fetcher(weasyprint: Any, refused: list[str]) -> Any:
    allowed = {font.path.resolve() for font in font_files()}

    class Fetcher(weasyprint.urls.URLFetcher):  # type: ignore[misc]  # of a package without types
        """Reads the fonts of the package, and data inside the page; anything else stops the rendering."""

        def fetch(self, url: str, headers: Mapping[str, str] | None = None) -> Any:
            refused.append(url)
            response = super().fetch(url, headers)
            if response.path and Path(response.path).resolve() not in allowed:
                response.close()
                raise PermissionError(response.path)
            refused.pop()
            return response

    return Fetcher(allowed_protocols={"data", "file"}, allow_redirects=False, fail_on_errors=True)


def _check_fetched(refused: Sequence[str]) -> None:
    if refused:
        reason = "cannot be read" if refused[0].startswith("data:") else "is not fetched"
        raise UsageError(
            f"The address {shorten_addresses(refused[0])} {reason}: a report must contain everything that "
            "it shows. To fix: in a template, embed('name') gives an address that contains a file beside it."
        )


def _check_document(document: Any) -> None:
    """Refuse a page without a title, which PDF/UA requires, or with attachments that depend on the clock."""
    if not document.metadata.title:
        raise UsageError("The page has no title; PDF/UA requires a <title>.")
    links = [link[0] for page in document.pages for link in page.links]
    if document.metadata.attachments or "attachment" in links:
        raise UsageError('A page cannot attach files by rel="attachment"; give them to render_pdf.')


def _set_time(document: Any, created: str) -> datetime | None:
    """Set the time of a document, in UTC, if one is known."""
    stated = created or document.metadata.created
    if not stated:
        return None
    try:
        time = datetime.fromisoformat(stated)
    except ValueError as error:
        raise UsageError(
            f"The time of a document must be like 2026-11-15T07:30:12+00:00; got {stated!r}."
        ) from error
    time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    document.metadata.created = document.metadata.modified = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return time


def _check_attachments(attachments: Sequence[Attachment]) -> None:
    names = [attachment.name for attachment in attachments]
    if len(set(names)) < len(names):
        raise UsageError(f"Attachments must have different names; got {', '.join(names)}.")


def _in_order(attachments: Sequence[Attachment]) -> list[Attachment]:
    """Sort attachments by name, as a PDF requires."""
    return sorted(attachments, key=lambda attachment: attachment.name)


def _attach(weasyprint: Any, attachment: Attachment, time: datetime | None) -> Any:
    if time is None:
        raise UsageError("A document with attachments requires a time: set `created`.")
    return weasyprint.Attachment(
        string=attachment.content,
        name=attachment.name,
        description=attachment.description,
        created=time,
        modified=time,
        relationship=attachment.relationship,
    )


def _finish(pdf: Any, attachments: Sequence[Attachment]) -> None:
    """Make the document conform to both standards, and identical on every machine."""
    stream = _find_object(pdf, pdf.catalog["Metadata"]).stream
    stream[:] = [part.replace(b"</rdf:RDF>", _ACCESSIBLE + b"</rdf:RDF>") for part in stream]
    for item in pdf.objects:
        if "Interpolate" in getattr(item, "extra", {}):  # PDF/A forbids it
            item.extra["Interpolate"] = "false"
    if attachments:
        _describe_attachments(pdf, attachments)
    _serialize_objects(pdf)


def _serialize_objects(pdf: Any) -> None:
    """Replace the objects of a document by their bytes.

    The bytes are needed twice, in the file and for its identifier, and would be compressed both times, with
    the greatest effort, which saves one percent and takes three times as long.
    """
    from weasyprint.pdf import pydyf

    class Serialized(pydyf.Object):  # type: ignore[misc]  # of a package without types
        """An object with the bytes and the number of another one."""

        data = b""
        compressible = False

    for position, item in enumerate(pdf.objects):
        if item.free == "f":  # has no bytes
            continue
        if getattr(item, "compress", False):
            _compress(item)
        serialized = Serialized()
        for name in ("number", "generation", "free", "compressible", "data"):
            setattr(serialized, name, getattr(item, name))
        pdf.objects[position] = serialized


def _compress(item: Any) -> None:
    """Compress a stream of a document."""
    item.compress = False
    _, _, content = item.data.partition(b"\nstream\n")
    item.stream = [zlib.compress(content.removesuffix(b"\nendstream"), _EFFORT)]
    item.extra["Filter"] = "/FlateDecode"


def _describe_attachments(pdf: Any, attachments: Sequence[Attachment]) -> None:
    """List each attachment once, with its relationship and media type."""
    pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])
    for reference, attachment in zip(pdf.catalog["AF"], _in_order(attachments), strict=True):
        entry = _find_object(pdf, reference)
        entry["AFRelationship"] = f"/{attachment.relationship}"
        media_type = media_type_of(attachment.name).replace("/", "#2f")
        _find_object(pdf, entry["EF"]["F"]).extra["Subtype"] = f"/{media_type}"


def _find_object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]
