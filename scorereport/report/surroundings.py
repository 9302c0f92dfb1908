"""What the renderer sees and says: no fonts and no time of the machine, and no chatter."""

from __future__ import annotations

import logging
import os
import re
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING

from scorereport._utils.files import TemporaryFolder
from scorereport.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: Logs of the renderer, about which whoever reads a report can do nothing.
_RENDERER_LOGGERS = ("weasyprint", "fontTools")


#: Warnings of the renderer that mean a broken document; errors always do.
_BROKEN_DOCUMENT = (".notdef glyph", "Font-face")


_MESSAGES_SHOWN = 3
#: A machine without fonts, so that no other than ours are ever used.
_NO_SYSTEM_FONTS = """<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><cachedir>{folder}</cachedir></fontconfig>
"""
#: The time that fonts in a PDF carry where the library that cuts them writes one: the same in every run.
_EPOCH = "0"
#: What is hidden from the renderer is hidden from the whole process.
RENDERER_LOCK = threading.Lock()
#: Longer addresses are cut in messages: some contain a whole picture.
_ADDRESS_SHOWN = 80


class _Collector(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)


def shorten_addresses(text: str) -> str:
    """Text in which no address is so long that nobody would read on."""
    return re.sub(rf"(data:[^\s\"']{{{_ADDRESS_SHOWN}}})[^\s\"']+", r"\1…", text)


@contextmanager
def collect_renderer_messages() -> Iterator[list[logging.LogRecord]]:
    """Keep the logs of the renderer from the terminal, but gather what says that the document is broken."""
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
    """Refuse a document of which the renderer says that it is broken."""
    broken = dict.fromkeys(
        shorten_addresses(record.getMessage())
        for record in records
        if record.levelno >= logging.ERROR or record.getMessage().startswith(_BROKEN_DOCUMENT)
    )
    if broken:
        raise UsageError(f"The PDF would be broken: {'; '.join(list(broken)[:_MESSAGES_SHOWN])}.")


@contextmanager
def reproducible_environment() -> Iterator[None]:
    """Hide from the renderer what differs between machines: the time, and the fonts they have."""
    with TemporaryFolder() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of machines without fonts, and files that the renderer leaves open
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
