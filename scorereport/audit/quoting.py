"""Names, paths and commands as the files of systemd need them."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_MAX_NAME_LENGTH = 200


def name_unit(name: str) -> str:
    """A name of a unit that no other audit has: what systemd does not allow is written as its bytes."""
    allowed = re.compile(rb"[A-Za-z0-9_.-]")
    data = name.encode()
    bytewise = (data[place : place + 1] for place in range(len(data)))
    escaped = "".join(byte.decode() if allowed.match(byte) else f"\\x{byte.hex()}" for byte in bytewise)
    if len(escaped) > _MAX_NAME_LENGTH:
        escaped = hashlib.sha256(data).hexdigest()[:16]
    return f"scorereport-{escaped}"


def escape_percents(text: str) -> str:
    """A text in which a percent sign means nothing else."""
    return text.replace("%", "%%")


def escape_path_end(path: str) -> str:
    """A backslash at the end would join the next line, a blank would get lost."""
    return "/" if path.endswith(("\\", " ")) else ""


def quote_word(text: str) -> str:
    """A text as one word, whatever it holds."""
    escaped = escape_percents(text).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_command(parts: Sequence[str]) -> str:
    """A command; in the path of its program systemd allows no quotes and looks for no variables."""
    program, *rest = ["/usr/bin/env", *parts] if re.search(r"[\"'\\]", parts[0]) else parts
    return " ".join([quote_word(program), *(quote_word(part.replace("$", "$$")) for part in rest)])
