"""Audits and their sources that two test files share."""

from __future__ import annotations

import re
from pathlib import Path
from zoneinfo import ZoneInfo

import sqlalchemy as sa
from postgres_tools import as_reader

from scorereport.audit.rows.loaded_rows import load_rows
from scorereport.configuration.audit_tables import SourceTable, WindowTable
from scorereport.configuration.periods import Period

OCTOBER = Period(label="2026-10", start="2026-10-01", end="2026-11-01")


ALL = Period(label="all", start=None, end="2026-11-15")


BERLIN = ZoneInfo("Europe/Berlin")


COLUMNS = {"outcome": "y", "forecasts": ["m"]}


def exactly(sentence):
    return f"^{re.escape(sentence)}$"


def take(folder, *, period=OCTOBER, column="t", zone=BERLIN, expand=lambda text, _: text, work=None, **given):
    source = {key: given.pop(key) for key in list(given) if key in SourceTable.__dataclass_fields__}
    return load_rows(
        SourceTable(**source),
        WindowTable(column=column),
        period,
        COLUMNS | given,
        folder=folder,
        zone=zone,
        expand=expand,
        work=work,
    )


def sqlite_url_fixture(tmp_path):
    """The address of a file of SQLite, in a folder with an odd name."""
    folder = tmp_path / "a private #folder%"
    folder.mkdir()
    return sa.URL.create("sqlite", database=f"{folder}/scores.db").render_as_string()


def url_fixture(request):
    """The address of an empty database of each kind."""
    return request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")


def read(url, **given):
    """What a database gives, whose address is a secret of the environment."""

    def expand(text, key):
        assert (text, key) == ("${ADDRESS}", "audit.source.database")
        return as_reader(url)

    return take(given.pop("folder", Path("/nowhere")), database="${ADDRESS}", expand=expand, **given)
