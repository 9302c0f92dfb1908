"""Templates to HTML and HTML to PDF: the only place that knows Jinja and WeasyPrint."""

from __future__ import annotations

import hashlib
import html as entities
import logging
import os
import re
import threading
import traceback
import warnings
from base64 import b64encode
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Literal

from scorereport import __version__
from scorereport.errors import UsageError
from scorereport.fonts import font_faces, font_files, replace_invisible, replace_missing
from scorereport.resources import find_folder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Under this name templates of a user find those that they replace: `scorereport/report.html`.
_OURS = "scorereport"
#: For archives, with files inside and tags for those who cannot see; what makes it PDF/UA is added.
_VARIANT = "pdf/a-3a"
#: What of a template's language gives another page in every run.
_RANDOM_FILTER, _RANDOM_GLOBAL = "random", "lipsum"
#: Logs of the renderer, about which whoever reads a report can do nothing.
_CHATTER = ("weasyprint", "fontTools")
#: Warnings of the renderer that mean a broken document; errors always do.
_BROKEN = (".notdef glyph", "Font-face")
_MESSAGES_SHOWN = 3
#: Longer addresses are cut in messages: some contain a whole picture.
_ADDRESS_SHOWN = 80
_LIBRARIES = "libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0"
#: A machine without fonts, so that no other than ours are ever used.
_NO_SYSTEM_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><cachedir>{folder}</cachedir></fontconfig>
"""
#: The time that fonts in a PDF carry where the library that cuts them writes one: the same in every run.
_EPOCH = "0"
#: Kinds of files by their endings; what a machine knows of others must not change the bytes.
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
#: What is hidden from the renderer is hidden from the whole process.
_ONE_AT_A_TIME = threading.Lock()
#: What says that a document follows PDF/UA-1, and explains these words to readers of PDF/A.
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
    """A file inside a PDF; `relationship` says whether the document shows it or was made from it."""

    name: str
    content: bytes
    description: str
    relationship: Literal["Data", "Source"] = "Data"


# ---- Templates ----


def render_html(template: str, context: Mapping[str, Any], *, templates: Path | None = None) -> str:
    """Fill a template; text is escaped, and a name that the context lacks is an error.

    A file of the folder `templates` takes the place of ours of the same name; it may extend that one, which
    it finds under `scorereport/`. Templates know the context, `version`, and `embed(name)`, the address of a
    picture beside them that carries the picture in itself.
    """
    files = _template_files(templates)
    environment = _make_environment(files)
    try:
        page = environment.get_template(template).render(context)
    except Exception as error:  # a template can fail in any way
        raise UsageError(_describe_failure(error, files)) from error
    return replace_invisible(page)


def embed_fonts(html: str) -> str:
    """A page that carries its fonts, cut to the characters it uses, so that it needs no other file."""
    style = f"<style>\n{font_faces(entities.unescape(html))}\n</style>\n"
    head, end, body = html.partition("</head>")
    return f"{head}{style}{end}{body}" if end else f"{html}{style}"


def hash_templates(folder: Path | None) -> str:
    """SHA-256 of the names and bytes of all templates: ours, and those of a user before them."""
    digest = hashlib.sha256()
    for name, path in sorted(_template_files(folder).items()):
        content = path.read_bytes()
        digest.update(f"{len(name.encode())} {name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def _template_files(folder: Path | None) -> dict[str, Path]:
    """Templates by the names under which others find them: ours also, and always, under our name."""
    ours = _list_files(find_folder("templates"))
    named = {f"{_OURS}/{name}": path for name, path in ours.items()}
    return ours | ({} if folder is None else _list_files(folder)) | named


def _list_files(folder: Path) -> dict[str, Path]:
    """Files of a folder and below it by their names; hidden ones, as of version control, do not count."""
    if not folder.is_dir():
        raise UsageError(f"The folder of templates {folder} does not exist.")
    names = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    seen = {name: path for name, path in names.items() if not re.search(r"(^|/)\.", name)}
    for path in seen.values():
        if not path.resolve().is_relative_to(folder.resolve()):
            raise UsageError(f"The template {path} is a link to {path.resolve()}, outside of its folder.")
    return seen


def _make_environment(files: Mapping[str, Path]) -> Any:
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    def load(name: str) -> tuple[str, str, None] | None:
        return (files[name].read_text(encoding="utf-8"), str(files[name]), None) if name in files else None

    environment = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    del environment.filters[_RANDOM_FILTER], environment.globals[_RANDOM_GLOBAL]
    environment.globals |= {"version": __version__, "embed": lambda name: _embed(name, files)}
    return environment


def _embed(name: str, files: Mapping[str, Path]) -> str:
    if name not in files:
        raise UsageError(f"There is no file {name!r} beside the templates.")
    content = b64encode(files[name].read_bytes()).decode()
    return f"data:{_media_type(name)};base64,{content}"


def _media_type(name: str) -> str:
    return _MEDIA_TYPES.get(Path(name).suffix.lower(), "application/octet-stream")


def _describe_failure(error: Exception, files: Mapping[str, Path]) -> str:
    """What went wrong in which line of which template."""
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    known = set(map(str, files.values()))
    steps = traceback.extract_tb(error.__traceback__)
    places = [(step.filename, step.lineno) for step in steps if step.filename in known]
    if isinstance(error, TemplateSyntaxError):
        places = [(error.filename or "", error.lineno)]
    where = f"Line {places[-1][1]} of the template {places[-1][0]} fails: " if places else ""
    if isinstance(error, TemplateNotFound):
        return f"{where or 'Rendering fails: '}there is no template {error.name!r}."
    told = error.message if isinstance(error, TemplateSyntaxError) else str(error)
    return f"{where}{type(error).__name__}: {(told or 'no more is known').rstrip('.')}."


# ---- PDF ----


def render_pdf(html: str, *, attachments: Sequence[Attachment] = (), created: str = "") -> bytes:
    """Set a page as a PDF that is both PDF/A-3a and PDF/UA-1; the same page gives the same bytes.

    Nothing is fetched but what the page carries in itself, and our fonts; those of the machine are not used.
    The time `created`, else that of the page, is the time of the document and of its attachments.
    """
    _check_attachments(attachments)
    pdf, refused = b"", list[str]()
    with _ONE_AT_A_TIME, _same_machine(), _collect_complaints() as complaints:
        weasyprint = _import_weasyprint()
        with suppress(weasyprint.urls.FatalURLFetchingError):  # which some parts of the renderer swallow
            document = _lay_out(weasyprint, _replace_all_missing(html), refused)
            _check_document(document)
            time = _set_time(document, created)
            pdf = document.write_pdf(
                pdf_variant=_VARIANT,
                attachments=[_attach(weasyprint, attachment, time) for attachment in _in_order(attachments)],
                finisher=lambda _, pdf: _finish(pdf, attachments),
            )
    _check_fetched(refused)
    _check_complaints(complaints)
    return pdf


def _import_weasyprint() -> Any:
    try:
        import weasyprint
    except OSError as error:
        raise UsageError(
            f"A PDF cannot be made, for libraries of the system are missing ({error}). "
            f"On Debian or Ubuntu: apt install {_LIBRARIES}"
        ) from error
    return weasyprint


def _replace_all_missing(html: str) -> str:
    """A page whose characters can all be shown, also those that it names instead of containing them."""

    def resolve(reference: re.Match[str]) -> str:
        letters = entities.unescape(reference[0])
        return reference[0] if letters.isascii() else letters

    return replace_missing(re.sub(r"&#?\w+;", resolve, html))


def _lay_out(weasyprint: Any, html: str, refused: list[str]) -> Any:
    """The pages of a document, with our fonts; addresses that are not fetched are added to `refused`."""
    fetcher = _make_fetcher(weasyprint, refused)
    fonts = weasyprint.text.fonts.FontConfiguration()
    faces = weasyprint.CSS(string=font_faces(), font_config=fonts, url_fetcher=fetcher)
    page = weasyprint.HTML(string=html, url_fetcher=fetcher)
    return page.render(font_config=fonts, stylesheets=[faces], pdf_variant=_VARIANT)


def _make_fetcher(weasyprint: Any, refused: list[str]) -> Any:
    allowed = {font.path.resolve() for font in font_files()}

    class Fetcher(weasyprint.urls.URLFetcher):  # type: ignore[misc]  # of a package without types
        """Reads our fonts, and data inside the page; anything else stops the rendering."""

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
            f"The address {_shorten(refused[0])} {reason}: a report must carry in itself all that it shows. "
            "In a template, embed('name') makes an address that contains a file beside it."
        )


def _shorten(text: str) -> str:
    """Text in which no address is so long that nobody would read on."""
    return re.sub(rf"(data:[^\s\"']{{{_ADDRESS_SHOWN}}})[^\s\"']+", r"\1…", text)


def _check_document(document: Any) -> None:
    """What PDF/UA demands of a page, and what would read the clock."""
    if not document.metadata.title:
        raise UsageError("The page has no title; PDF/UA demands a <title>.")
    links = [link[0] for page in document.pages for link in page.links]
    if document.metadata.attachments or "attachment" in links:
        raise UsageError('A page cannot attach files by rel="attachment"; give them to render_pdf.')


def _set_time(document: Any, created: str) -> datetime | None:
    """Give a document one time, in UTC, if any is known."""
    told = created or document.metadata.created
    if not told:
        return None
    try:
        time = datetime.fromisoformat(told)
    except ValueError as error:
        raise UsageError(
            f"The time of a document must be like 2026-11-15T07:30:12+00:00; got {told!r}."
        ) from error
    time = (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    document.metadata.created = document.metadata.modified = time.strftime("%Y-%m-%dT%H:%M:%SZ")
    return time


def _check_attachments(attachments: Sequence[Attachment]) -> None:
    names = [attachment.name for attachment in attachments]
    if len(set(names)) < len(names):
        raise UsageError(f"Attachments must have different names; got {', '.join(names)}.")


def _in_order(attachments: Sequence[Attachment]) -> list[Attachment]:
    """Attachments by name, as readers of a PDF search them."""
    return sorted(attachments, key=lambda attachment: attachment.name)


def _attach(weasyprint: Any, attachment: Attachment, time: datetime | None) -> Any:
    if time is None:
        raise UsageError("A document with attachments needs a time: give `created`.")
    return weasyprint.Attachment(
        string=attachment.content,
        name=attachment.name,
        description=attachment.description,
        created=time,
        modified=time,
        relationship=attachment.relationship,
    )


def _finish(pdf: Any, attachments: Sequence[Attachment]) -> None:
    """What makes the document conform to both norms, and the same on every machine."""
    stream = _find_object(pdf, pdf.catalog["Metadata"]).stream
    stream[:] = [part.replace(b"</rdf:RDF>", _ACCESSIBLE + b"</rdf:RDF>") for part in stream]
    for item in pdf.objects:
        if "Interpolate" in getattr(item, "extra", {}):  # which archives forbid
            item.extra["Interpolate"] = "false"
    if attachments:
        _describe_attachments(pdf, attachments)


def _describe_attachments(pdf: Any, attachments: Sequence[Attachment]) -> None:
    """Name each attachment once, as what it is."""
    pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])
    for reference, attachment in zip(pdf.catalog["AF"], _in_order(attachments), strict=True):
        entry = _find_object(pdf, reference)
        entry["AFRelationship"] = f"/{attachment.relationship}"
        media_type = _media_type(attachment.name).replace("/", "#2f")
        _find_object(pdf, entry["EF"]["F"]).extra["Subtype"] = f"/{media_type}"


def _find_object(pdf: Any, reference: bytes) -> Any:
    return pdf.objects[int(reference.split()[0])]


class _Collector(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


@contextmanager
def _collect_complaints() -> Iterator[list[logging.LogRecord]]:
    """Keep the logs of the renderer from the terminal, but gather what says that the document is broken."""
    handler = _Collector()
    loggers = [logging.getLogger(name) for name in _CHATTER]
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


def _check_complaints(records: Sequence[logging.LogRecord]) -> None:
    broken = dict.fromkeys(
        _shorten(record.getMessage())
        for record in records
        if record.levelno >= logging.ERROR or record.getMessage().startswith(_BROKEN)
    )
    if broken:
        raise UsageError(f"The PDF would be broken: {'; '.join(list(broken)[:_MESSAGES_SHOWN])}.")


@contextmanager
def _same_machine() -> Iterator[None]:
    """Hide from the renderer what differs between machines: the time, and the fonts they have."""
    with TemporaryDirectory(prefix="scorereport-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of machines without fonts, and files that the renderer leaves open
        settings = Path(folder, "fonts.conf")
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
