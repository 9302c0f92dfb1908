"""Sealed forecasts: hashes, Merkle root, `audit seal`, the check at the audit, and `verify`."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import pytest
from audit_tools import write_audit
from history_tools import tamper
from hypothesis import given, settings
from hypothesis import strategies as st
from postgres_tools import as_reader
from seal_tools import (
    AFTER,
    BEFORE,
    LABEL,
    count,
    find_claims,
    find_expected_root,
    hash_row,
    list_november,
    make_loans,
    merkle_root,
    read_records,
    run,
    seal,
    write_rows,
    write_sealed_audit,
)
from typer.testing import CliRunner

from scorereport._utils.clock import fixed_time
from scorereport.audit.annulment import annul_record
from scorereport.audit.plan import read_plan
from scorereport.audit.rows import row_hash_collector
from scorereport.audit.seal_rules import (
    check_seal_contents,
    check_seal_fields,
    check_sealed_rows,
    check_seals,
)
from scorereport.audit.signed_history import open_signed_history
from scorereport.cli.application import app
from scorereport.configuration.changed_keys import describe_changed_keys
from scorereport.errors import DataError, UsageError
from scorereport.history.audit_record import AuditStatus
from scorereport.history.merkle_tree import find_root, hash_leaf
from scorereport.history.row_hashes import (
    HEADER,
    build_salt,
    compare_rows,
    hash_rows,
    pack_text,
    read_hashes,
    sort_hashes,
)
from scorereport.history.seal_sentences import NOT_SEALED, describe_seal_check, describe_unproven
from scorereport.history.trend.seal_records import AnnulledSeal
from scorereport.report.report_record import read_report

if TYPE_CHECKING:
    from pathlib import Path

#: Leaves and roots of the tests of the certificate transparency log of Google, for trees of 1 to 8 leaves.
LOG_LEAVES = [
    "",
    "00",
    "10",
    "2021",
    "3031",
    "40414243",
    "5051525354555657",
    "606162636465666768696a6b6c6d6e6f",
]
LOG_ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]


@pytest.fixture
def loans() -> pd.DataFrame:
    return make_loans()


@pytest.fixture
def config(tmp_path, loans) -> Path:
    """An audit whose source has no column of outcomes yet."""
    write_rows(tmp_path, loans, outcomes=False)
    return write_sealed_audit(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """Records 1 and 2 seal parts of a period, record 3 is its audit."""
    folder = tmp_path_factory.mktemp("sealed")
    frame, config = make_loans(), write_sealed_audit(folder)
    write_rows(folder, frame[frame["day"] < "2026-11-20"], outcomes=False)
    seal(config)
    write_rows(folder, frame, outcomes=False)
    seal(config, at="2026-11-30T06:00:00+00:00")
    write_rows(folder, frame)
    run(config)
    return folder


@pytest.fixture
def sealed(made, tmp_path) -> Path:
    """A copy of this audit."""
    return shutil.copytree(made, tmp_path / "copy") / "loans.toml"


def call(*arguments, at: str = AFTER):
    with fixed_time(at):
        return CliRunner().invoke(app, ["audit", *map(str, arguments)])


def hash_frame(keys, forecasts):
    packed = [b"".join(map(pack_text, key)) for key in keys]
    return hash_rows(build_salt("loans", LABEL), packed, np.array(forecasts, dtype=float))


# ---- Hashes and the tree ----


@pytest.mark.parametrize("leaves", range(1, 9))
def test_the_root_is_that_of_certificate_transparency_logs(leaves) -> None:
    found = find_root([hash_leaf(bytes.fromhex(leaf)) for leaf in LOG_LEAVES[:leaves]])
    assert found == LOG_ROOTS[leaves - 1]


def test_the_root_is_that_of_the_recursive_definition() -> None:
    leaves = [hashlib.sha256(bytes([number])).digest() for number in range(70)]
    for size in range(1, 71):
        assert find_root(leaves[:size]) == merkle_root(leaves[:size]).hex()
    assert find_root([]) == hashlib.sha256().hexdigest()


def test_a_row_is_hashed_as_the_documentation_says() -> None:
    rows = hash_frame([("Ä 1", "b"), ("", "x")], [[0.25, 1e-300], [1.0, 0.0]])
    expected = [
        hash_row("loans", LABEL, ["Ä 1", "b"], [0.25, 1e-300]),
        hash_row("loans", LABEL, ["", "x"], [1, 0]),
    ]
    assert [(int(row["key"]).to_bytes(8, "big"), row["leaf"].tobytes()) for row in rows] == expected


def test_the_bounds_between_texts_are_part_of_the_hash() -> None:
    one, other = hash_frame([("ab", "c"), ("a", "bc")], [[0.5], [0.5]])
    assert one["key"] != other["key"]
    assert one["leaf"].tobytes() != other["leaf"].tobytes()


def test_zeros_and_missing_values_have_one_hash() -> None:
    other_nan = np.array([0x7FF8000000000123], dtype=np.uint64).view(np.float64)[0]
    rows = hash_frame([("a",)] * 4, [[0.0], [-0.0], [np.nan], [other_nan]])
    leaves = [row["leaf"].tobytes() for row in rows]
    assert leaves[0] == leaves[1] != leaves[2] == leaves[3]


@given(
    rows=st.lists(
        st.tuples(st.text(max_size=5), st.floats(0, 1)), min_size=1, max_size=30, unique_by=lambda row: row[0]
    ),
    data=st.data(),
)
@settings(deadline=None, max_examples=60)
def test_the_root_does_not_depend_on_the_order_of_rows_nor_on_parts(rows, data) -> None:
    shuffled = data.draw(st.permutations(rows))
    at = data.draw(st.integers(0, len(rows)))
    parts = [part for part in (shuffled[:at], shuffled[at:]) if part]
    found = sort_hashes([hash_frame([(key,) for key, _ in part], [[f] for _, f in part]) for part in parts])
    assert found.merkle_root == find_expected_root(rows)
    assert read_hashes(found.to_document()).merkle_root == found.merkle_root


@given(
    first=st.dictionaries(st.integers(0, 12), st.integers(0, 2)),
    second=st.dictionaries(st.integers(0, 12), st.integers(0, 2)),
    now=st.lists(st.tuples(st.integers(0, 14), st.integers(0, 2)), max_size=25),
)
@settings(deadline=None, max_examples=200)
def test_rows_are_counted_as_one_by_one(first, second, now) -> None:
    def hash_items(items):
        return sort_hashes(
            [hash_frame([(str(key),) for key, _ in items], [[value] for _, value in items])] if items else []
        )

    found = compare_rows([hash_items(list(first.items())), hash_items(list(second.items()))], hash_items(now))
    counted = {**second, **first}  # the first seal of a key counts
    values = {key: {value for other, value in now if other == key} for key in counted}
    unchanged = sum(counted[key] in values[key] for key in counted)
    missing = sum(not values[key] for key in counted)
    assert (found.sealed, found.unchanged, found.missing) == (len(counted), unchanged, missing)
    assert found.changed == len(counted) - unchanged - missing
    assert found.late == len(now) - (len(counted) - missing)


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (b"", "not a list of row hashes"),
        (HEADER + bytes(39), "not a list of row hashes"),
        (b"x" + bytes(40), "not a list of row hashes"),
        (HEADER + bytes(80), "not in their order"),
        (HEADER + b"\2" + bytes(40) + b"\1" + bytes(38), "not in their order"),
    ],
)
def test_a_document_of_other_bytes_is_refused(document, reason) -> None:
    with pytest.raises(ValueError, match=reason):
        read_hashes(document)


# ---- Sealing ----


def test_sealed_forecasts_are_proved_at_the_audit(config, loans, tmp_path) -> None:
    record = seal(config).record
    november = list_november(loans)
    assert (record.kind, record.seal.rows, record.seal.outcomes) == ("seal", 120, None)
    assert record.seal.merkle_root == find_expected_root(
        list(zip(november["loan"], november["logit"], strict=True))
    )
    write_rows(tmp_path, loans)
    audit = run(config)
    assert audit.status is AuditStatus.DONE
    assert count(audit) == (120, 120, 0, 0, 0)
    assert (audit.seal_check.seals, audit.seal_check.first, audit.seal_check.changes) == (
        (record.sha256,),
        BEFORE,
        (),
    )
    assert run(config).sha256 == audit.sha256
    assert find_claims(config) == []


@pytest.mark.parametrize("form", ["parquet", "sqlite", "query", "xlsx", "parquet folder", "duckdb file"])
def test_all_sources_have_the_same_root(form, config, loans, tmp_path) -> None:
    expected = seal(config).record.seal
    other = tmp_path / "other"
    other.mkdir()
    frame = loans.sample(frac=1, random_state=3)
    audit = {"source": {"file": "scores.parquet"}}
    if form == "parquet":
        frame.to_parquet(other / "scores.parquet")
    elif form == "parquet folder":
        (other / "scores").mkdir()
        frame[::2].to_parquet(other / "scores" / "a.parquet")
        frame[1::2].to_parquet(other / "scores" / "b.parquet")
        audit = {"source": {"file": "scores/"}}
    elif form == "xlsx":
        frame.to_excel(other / "scores.xlsx", index=False)
        audit = {"source": {"file": "scores.xlsx"}}
    elif form == "duckdb file":
        import duckdb

        with duckdb.connect(str(other / "scores.duckdb")) as connection:
            connection.execute("CREATE TABLE scores AS SELECT * FROM frame")
        audit = {"source": {"file": "scores.duckdb", "table": "scores"}}
    else:
        with sqlite3.connect(other / "scores.db") as connection:
            frame.to_sql("scores", connection, index=False)
        chosen = {"table": "scores"} if form == "sqlite" else {"query": "SELECT * FROM scores"}
        audit = {"source": {"database": "sqlite:///scores.db", **chosen}}
    second = write_sealed_audit(other, **audit)
    found = seal(second).record.seal
    assert (found.rows, found.merkle_root, found.outcomes) == (120, expected.merkle_root, 120)
    assert count(run(second)) == (120, 120, 0, 0, 0)


@pytest.mark.parametrize("column", ["day", ""])
@pytest.mark.parametrize("form", ["csv", "parquet", "sqlite"])
def test_an_engine_counts_as_memory_does(form, column, tmp_path) -> None:
    loans = list_november(make_loans())
    now = loans.drop(index=loans.index[:3]).assign(
        logit=lambda f: f["logit"].where(f["loan"] != "L00250", 0.5)
    )
    now = pd.concat([now, now.tail(2).assign(loan=["late 1", "L00300"])])
    counted, label = [], LABEL if column else "2026-12-14"
    for engine in ("memory", "duckdb"):
        place = tmp_path / engine
        place.mkdir()
        config = write_sealed_audit(
            place,
            window={"column": column, "period": "previous calendar month" if column else "all"},
            evaluation={"engine": engine},
            source={"database": "sqlite:///s.db", "table": "s"}
            if form == "sqlite"
            else {"file": f"s.{form}"},
        )
        for frame in (loans, now):
            if form == "sqlite":
                with sqlite3.connect(place / "s.db") as connection:
                    frame.to_sql("s", connection, index=False, if_exists="replace")
            else:
                write = frame.to_csv if form == "csv" else frame.to_parquet
                write(place / f"s.{form}", index=False)
            if frame is loans:
                seal(config, period=label)
        audit = run(config, period=label)
        assert audit.status is AuditStatus.WARN
        assert find_claims(config) == []
        counted.append((count(audit), read_records(config)[0].seal.merkle_root))
    assert counted[0] == counted[1]
    assert counted[0][0] == (120, 116, 1, 3, 2)


def test_a_row_whose_time_is_its_key_and_its_role(tmp_path, loans) -> None:
    """The column of the window is replaced by local times for the evaluation, and hashed as it was read."""
    frame = loans.assign(day=[f"{day}T{n % 24:02}:00" for n, day in enumerate(loans["day"])])
    for engine in ("memory", "duckdb"):
        place = tmp_path / engine
        place.mkdir()
        config = write_sealed_audit(
            place, seal={"key": ["day", "loan"]}, evaluation={"time": "day", "engine": engine}
        )
        write_rows(place, frame, outcomes=False)
        seal(config)
        write_rows(place, frame)
        assert count(run(config)) == (120, 120, 0, 0, 0)


@pytest.mark.parametrize(
    "keys",
    [
        pd.Series(range(10**16, 10**16 + 364)),
        pd.Series(np.arange(364, dtype=float)),
        pd.Series(pd.date_range("2020-01-01", periods=364, freq="h", tz="Europe/Berlin")),
        pd.Series(pd.date_range("2020-01-01", periods=364, freq="h")),
        pd.Series([f" {n}.0" for n in range(364)]),
        pd.Series([n.to_bytes(2, "big").hex() for n in range(364)], dtype="category"),
    ],
    ids=["large", "float", "zoned", "times", "texts", "categories"],
)
def test_keys_of_any_type_are_found_again(keys, tmp_path, loans) -> None:
    for engine in ("memory", "duckdb"):
        place = tmp_path / engine
        place.mkdir()
        loans.assign(loan=keys).to_parquet(place / "scores.parquet")
        config = write_sealed_audit(place, source={"file": "scores.parquet"}, evaluation={"engine": engine})
        seal(config)
        assert count(run(config)) == (120, 120, 0, 0, 0)


def test_times_with_a_zone_are_keys_in_postgresql(postgres_url, tmp_path, loans) -> None:
    import sqlalchemy as sa

    keys = pd.date_range("2026-10-25", periods=len(loans), freq="15min", tz="UTC")
    frame = loans.assign(loan=keys, day=pd.to_datetime(loans["day"]).dt.date)
    engine = sa.create_engine(
        postgres_url.replace("postgresql:", "postgresql+psycopg:"), poolclass=sa.NullPool
    )
    frame.to_sql("scores", engine, index=False)
    for name in ("memory", "duckdb"):
        place = tmp_path / name
        place.mkdir()
        config = write_sealed_audit(
            place,
            source={"database": "${SEALED_SOURCE}", "table": "scores"},
            time_zone="Europe/Berlin",
            evaluation={"engine": name},
        )
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SEALED_SOURCE", as_reader(postgres_url))
            seal(config)
            assert count(run(config)) == (120, 120, 0, 0, 0)


def test_classes_weights_and_several_models(tmp_path, loans) -> None:
    frame = loans.assign(
        y=np.resize(["a", "b", "c"], len(loans)), m_a=0.2, m_b=0.3, m_c=0.5, n_a=0.1, n_b=0.1, n_c=0.8, w=2.0
    )
    config = write_sealed_audit(
        tmp_path, evaluation={"forecasts": ["m", "n"], "classes": ["a", "b", "c"], "weight": "w"}
    )
    write_rows(tmp_path, frame, outcomes=False)
    record = seal(config).record
    assert record.seal.forecasts == ("m_a", "m_b", "m_c", "n_a", "n_b", "n_c")
    write_rows(tmp_path, frame.assign(w=3.0))  # weights are not sealed
    assert count(run(config)) == (120, 120, 0, 0, 0)
    write_rows(
        tmp_path,
        frame.assign(
            n_b=np.where(frame["loan"] == "L00250", 0.2, 0.1),
            n_c=np.where(frame["loan"] == "L00250", 0.7, 0.8),
        ),
    )
    assert count(run(config)) == (120, 119, 1, 0, 0)
    assert find_claims(config) == []


def test_an_evaluated_model_that_was_not_sealed_is_a_warning(tmp_path, config, loans) -> None:
    seal(config)
    write_rows(tmp_path, loans.assign(better=loans["logit"]))
    write_sealed_audit(tmp_path, evaluation={"forecasts": ["better"]})
    audit = run(config)
    assert (audit.status, count(audit), audit.seal_check.unsealed) == (
        AuditStatus.WARN,
        (120, 120, 0, 0, 0),
        ("better",),
    )
    assert audit.seal_check.changes == ('`evaluation.forecasts` changed from ["logit"] to ["better"].',)
    assert "The forecasts of better were evaluated, but not sealed" in " ".join(audit.summary.findings)
    assert find_claims(config) == []
    with pytest.raises(UsageError, match=r"Record 1 seals logit of 2026-11 by loan, but .* annul 1`"):
        seal(config)


def test_immature_rows_and_rows_without_an_outcome_are_compared(tmp_path, loans) -> None:
    for engine in ("memory", "duckdb"):
        place = tmp_path / engine
        place.mkdir()
        config = write_sealed_audit(
            place, outcomes={"mature_after": "30 days"}, evaluation={"missing": "drop", "engine": engine}
        )
        write_rows(place, loans, outcomes=False)
        seal(config)
        is_changed = loans["loan"].isin(["L00245", "L00363"])  # of the first days, and of the last one
        now = loans.assign(
            y=loans["y"].astype("Int64").where(loans["loan"] != "L00245"),
            logit=loans["logit"].where(~is_changed, 0.5),
        )
        write_rows(place, now)
        audit = run(config)
        assert audit.rows < 119
        assert count(audit) == (120, 118, 2, 0, 0)
        assert find_claims(config) == []


def test_the_first_seal_of_a_row_counts(tmp_path, config, loans) -> None:
    early = loans[loans["day"] < "2026-11-11"]
    write_rows(tmp_path, early, outcomes=False)
    first = seal(config).record
    changed = loans.assign(logit=loans["logit"].where(loans["loan"] != "L00250", 0.5))
    write_rows(tmp_path, changed, outcomes=False)
    second = seal(config, at="2026-11-12T06:00:00+00:00")
    assert (first.seal.rows, second.record.seal.rows) == (40, 80)
    assert second.notes == (
        "Of 40 rows sealed before, 1 has changed in the source since, and 0 are missing. The first seal of a "
        "row counts.",
    )
    write_rows(tmp_path, changed)
    audit = run(config)
    assert count(audit) == (120, 119, 1, 0, 0)
    assert (audit.seal_check.first, audit.seal_check.last) == (BEFORE, "2026-11-12T06:00:00+00:00")
    write_rows(tmp_path, loans)
    assert count(run(config)) == (120, 120, 0, 0, 0)
    assert find_claims(config) == []


def test_sealing_again_adds_no_record(config) -> None:
    assert seal(config).is_new
    again = call("seal", config, "--period", LABEL)
    assert again.exit_code == 0
    assert (
        "loans 2026-11: nothing new to seal; the last seal is record 1 of 2026-10-31 06:00 UTC"
        in again.output
    )
    assert len(read_records(config)) == 1


def test_an_annulled_seal_does_not_count(sealed) -> None:
    with fixed_time(AFTER):
        annul_record(sealed, 1, reason="wrong file")
    audit = run(sealed)  # the same rows, but another seal: a new record
    assert audit.id == 5
    assert count(audit) == (44, 44, 0, 0, 76)
    assert find_claims(sealed) == []
    with fixed_time(AFTER):
        annul_record(sealed, 2, reason="wrong file")
    assert run(sealed, again=True).seal_check is None
    assert seal(sealed, at=AFTER).record.seal.rows == 120
    assert count(run(sealed, again=True)) == (120, 120, 0, 0, 0)
    assert find_claims(sealed) == []


def test_a_seal_after_an_audit_does_not_pass_for_one_before(sealed, loans) -> None:
    """Seals are annulled once outcomes are known, and better forecasts are sealed without outcomes."""
    with fixed_time(AFTER):
        annul_record(sealed, 1, reason="wrong file")
        annul_record(sealed, 2, reason="wrong file.")
    better = loans.assign(logit=loans["logit"] * 0.5 + loans["y"] * 0.4)
    write_rows(sealed.parent, better, outcomes=False)
    seal(sealed, at=AFTER)
    write_rows(sealed.parent, better)
    audit = run(sealed)
    check = audit.seal_check
    assert count(audit) == (120, 120, 0, 0, 0)
    assert (check.outcomes, check.after_audit) == (0, 120)
    assert [(one.record, one.rows, one.reason) for one in check.annulled] == [
        (1, 76, "wrong file"),
        (2, 44, "wrong file."),
    ]
    assert describe_seal_check(check) == (
        "Sealed on 2026-12-15 06:00 UTC, after an audit had evaluated the period, so outcomes may have been "
        "known: all 120 sealed forecasts are unchanged."
    )
    assert list(describe_unproven(check)) == [
        "120 rows were sealed after an audit had evaluated the period: outcomes may have been known.",
        "Record 1, which sealed 76 rows on 2026-10-31 06:00 UTC, was annulled: wrong file.",
        "Record 2, which sealed 44 rows on 2026-11-30 06:00 UTC, was annulled: wrong file.",
    ]
    assert find_claims(sealed) == []
    with fixed_time(AFTER):
        annul_record(sealed, 3, reason="its forecasts were worse")  # the audit that had evaluated them
    again = run(sealed, again=True)
    assert again.seal_check == check
    assert find_claims(sealed) == []


def test_rows_that_are_sealed_late_are_counted(sealed, loans) -> None:
    more = pd.concat([loans, loans.tail(1).assign(loan="L99999")])
    write_rows(sealed.parent, more, outcomes=False)
    seal(sealed, at=AFTER)
    write_rows(sealed.parent, more)
    check = run(sealed).seal_check
    assert (check.sealed, check.after_audit, check.late) == (121, 1, 0)
    assert ", 1 of 121 rows after an audit had evaluated the period, so outcomes" in describe_seal_check(
        check
    )
    assert find_claims(sealed) == []


def test_outcomes_that_are_known_are_counted(tmp_path, config, loans) -> None:
    known = loans["loan"].isin(["L00250", "L00251", "L00252", "L00001"])
    write_rows(tmp_path, loans.assign(y=loans["y"].astype("Int64").where(known)))
    shown = call("seal", config, "--period", LABEL, at=BEFORE)
    assert "3 of 120 outcomes were in the source already." in shown.output
    write_rows(tmp_path, loans)
    audit = run(config)
    assert (audit.status, audit.seal_check.outcomes) == (AuditStatus.DONE, 3)
    shown = call("show", 2, config)
    assert (
        "Sealed on 2026-10-31 06:00 UTC, when 3 of 120 outcomes were in the source already, so not before "
        "outcomes were known: all 120 sealed forecasts are unchanged."
    ) in " ".join(shown.output.split())
    assert find_claims(config) == []


def test_changes_of_limits_and_plan_since_the_seal_are_named(tmp_path, config, loans) -> None:
    (tmp_path / "plan.md").write_text("Evaluate by the Brier score.")
    named = {"seal": {"key": ["loan"], "plan": "plan.md"}}
    write_sealed_audit(tmp_path, **named, limits={"brier": {"fail": 0.3}})
    seal(config)
    write_rows(tmp_path, loans)
    write_sealed_audit(tmp_path, **named, limits={"brier": {"fail": 0.4}})
    (tmp_path / "plan.md").write_text("Evaluate by the log score.")
    audit = run(config)
    changes = audit.seal_check.changes
    assert changes[0] == "`limits.brier.fail` changed from 0.3 to 0.4."
    assert changes[1].startswith("The analysis plan plan.md has changed: its SHA-256 began with ")
    findings = [" ".join(finding.split()) for finding in audit.summary.findings]
    assert findings[0] == "After the forecasts were sealed, limits.brier.fail changed from 0.3 to 0.4."
    assert any(
        finding.startswith("After the forecasts were sealed, the analysis plan plan.md has changed: its ")
        for finding in findings
    )
    assert "Find out why limits were changed after the forecasts were sealed." in audit.summary.actions
    (tmp_path / "plan.md").unlink()
    assert run(config).seal_check.changes[1] == "The analysis plan plan.md can no longer be read."
    with pytest.raises(
        UsageError, match=r"The analysis plan 'plan.md', which `audit.seal.plan` names, cannot be read"
    ):
        seal(config)
    assert find_claims(config) == []


def test_changed_keys_of_configurations_are_named() -> None:
    before = "[a]\nx = 1\ny = [1, 2]\n[a.b]\nz = 'q'\n"
    assert describe_changed_keys(before, before) == []
    assert describe_changed_keys(before, "[a]\nx = 1.0\nw = 2026-01-01\n[a.b]\nz = 'r'\n") == [
        "`a.x` changed from 1 to 1.0.",
        "`a.y` was removed; it was [1, 2].",
        '`a.b.z` changed from "q" to "r".',
        "`a.w` was added: 2026-01-01.",
    ]


# ---- Refusals ----


def test_a_seal_needs_a_key(tmp_path, loans) -> None:
    write_rows(tmp_path, loans)
    config = write_audit(tmp_path)
    shown = call("seal", config, "--period", LABEL)
    assert shown.exit_code != 0
    assert "`audit.seal.key` is missing" in str(shown.exception)
    assert "To fix:" in str(shown.exception)
    assert not (tmp_path / "audits").exists()
    for name in ("y", "logit"):
        with pytest.raises(UsageError, match="must not name a column of outcomes, forecasts or weights"):
            seal(write_sealed_audit(tmp_path, seal={"key": [name]}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"loan": "twice"},
            r"`loan` must identify each row of 2026-11, but 119 rows repeat .* twice\. To fix:",
        ),
        ({"loan": np.nan}, "`loan`, a column of `audit.seal.key`, must not be missing .* 120 rows"),
        ({"logit": 1.5}, r"`logit` must lie in \[0, 1\]"),
        ({"logit": "high"}, "`logit` must be numeric"),
        ({"day": "2026-10-02"}, "No row of scores.csv has a `day` of 2026-11-01 to 2026-11-30"),
        ({"day": "soon"}, "`day` must hold dates"),
    ],
)
def test_rows_that_cannot_be_sealed_are_refused(change, message, tmp_path, config, loans) -> None:
    write_rows(tmp_path, loans.assign(**change), outcomes=False)
    with pytest.raises(DataError, match=message):
        seal(config)
    assert read_records(config) == ()


def test_more_rows_than_a_document_holds_are_refused(config, monkeypatch) -> None:
    monkeypatch.setattr(row_hash_collector, "MOST_ROWS", 119)
    with pytest.raises(DataError, match=r"more than 119 rows cannot be sealed. To fix:"):
        seal(config)


def test_a_missing_column_is_named(tmp_path, config, loans) -> None:
    write_rows(tmp_path, loans.drop(columns="loan"))
    with pytest.raises(DataError, match="has no column `loan`"):
        seal(config)
    write_rows(tmp_path, loans)
    seal(config)
    write_rows(tmp_path, loans.drop(columns="loan"))
    failed = run(config)
    assert failed.status is AuditStatus.FAILED
    assert "Record 1 seals forecasts of 2026-11 by loan and logit. To fix: restore" in failed.reason
    assert find_claims(config) == []


def test_names_that_differ_in_case_only_are_refused(config) -> None:
    seal(config)
    other = config.with_name("Loans.toml")
    config.rename(other)
    with pytest.raises(UsageError, match="by more than upper and lower case"):
        seal(other)


def test_a_period_may_lie_ahead_and_a_day_chooses_it(config) -> None:
    with fixed_time("2026-10-02T06:00:00+00:00"):
        shown = call("seal", config, "--as-of", "2026-12-24", at="2026-10-02T06:00:00+00:00")
    assert "loans 2026-11: 120 rows sealed, record 1" in shown.output
    assert find_claims(config, at="2026-10-03T06:00:00+00:00") == []
    with pytest.raises(UsageError, match="is named by its label"):
        seal(config, period="november")


def test_rolling_windows_are_sealed_by_their_label(tmp_path, loans) -> None:
    write_rows(tmp_path, loans)
    config = write_sealed_audit(tmp_path, window={"column": "day", "period": "last 7 days"})
    label = "2026-11-20--2026-11-26"
    seal(config, period=label, at="2026-11-19T00:00:00+00:00")
    assert count(run(config, period=label)) == (28, 28, 0, 0, 0)
    assert run(config, period="2026-11-21--2026-11-27").seal_check is None
    assert find_claims(config) == []


# ---- Report and terminal ----


def test_a_report_says_whether_forecasts_were_sealed(tmp_path, config, loans) -> None:
    pages = {"report": {}, "output": {"formats": ["html", "json"]}}
    write_sealed_audit(tmp_path, **pages)
    seal(config)
    write_rows(tmp_path, loans.drop(index=loans.index[-1]))
    audit, shown = run(config), call("run", config, "--period", LABEL, "--quiet")
    sentence = (
        "Sealed on 2026-10-31 06:00 UTC, before outcomes were known: of 120 sealed forecasts, 119 are "
        "unchanged and 1 is missing."
    )
    html = (tmp_path / "audits/reports/loans/2026-11.html").read_text()
    text = " ".join(html.split())
    assert text.count(sentence) == 2  # in the section on earlier audits, and in the provenance
    finding = "The audit did not evaluate exactly the sealed forecasts: of 120 sealed rows, 1 is missing."
    assert finding in text
    assert "Find out why the forecasts are not those that were sealed" in text
    assert "The verdict is not of exactly the sealed forecasts" in audit.summary.fitness[-1]
    assert sentence in " ".join(shown.output.split())
    assert audit.status is AuditStatus.WARN
    document = tmp_path / "audits/reports/loans/2026-11.json"
    assert read_report(document).trend.seal_check == audit.seal_check


def test_a_report_says_that_forecasts_were_not_sealed(tmp_path, loans) -> None:
    write_rows(tmp_path, loans)
    config = write_sealed_audit(tmp_path, report={}, output={"formats": ["html", "json"]})
    audit, shown = run(config), call("run", config, "--period", LABEL, "--quiet")
    html = (tmp_path / "audits/reports/loans/2026-11.html").read_text()
    assert html.count(NOT_SEALED) == 3  # also in the summary
    assert NOT_SEALED in shown.output
    assert audit.seal_check is None
    assert b"seal_check" not in (tmp_path / "audits/reports/loans/2026-11.json").read_bytes()


def test_history_and_json_list_seals(sealed) -> None:
    assert "forecasts sealed: logit" in call("history", sealed).output
    shown = call("show", 1, sealed).output
    assert "Seals the forecasts logit of 76 rows, by loan" in shown
    assert f"Merkle root {read_records(sealed)[0].seal.merkle_root}" in shown
    again = call("seal", sealed, "--period", LABEL, "--json")
    assert json.loads(again.output)["seal"]["rows"] == 44


def test_the_site_says_when_forecasts_were_sealed(sealed, tmp_path) -> None:
    assert call("site", sealed, "-o", tmp_path / "site").exit_code == 0
    page = " ".join((tmp_path / "site/audits/loans.html").read_text().split())
    assert (
        "<p>Sealed from 2026-10-31 06:00 UTC to 2026-11-30 06:00 UTC, before outcomes were known: all 120"
        in page
    )


def test_an_archive_has_the_row_hashes(sealed, tmp_path) -> None:
    import zipfile

    assert call("export", sealed, "-o", tmp_path / "all.zip").exit_code == 0
    first = read_records(sealed)[0].seal
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert (
            hashlib.sha256(archive.read(f"documents/{first.hashes_sha256}.bin")).hexdigest()
            == first.hashes_sha256
        )


# ---- Verification ----


def append_forged(config, number: int, **changes):
    """Append a copy of a record with other values, signed by the key of the audit, with its documents."""
    plan = read_plan(config)
    with fixed_time(AFTER), open_signed_history(plan) as history:
        record = history.get(number)
        documents = {name: history.document(name) for name in record.documents}
        drafted = replace(record, attempt=0, finished="", documents=(), **changes)
        wanted = {drafted.configuration_sha256, drafted.results_sha256}
        wanted.add(drafted.seal.hashes_sha256 if drafted.seal else "")
        return history.append(
            drafted, {name: content for name, content in documents.items() if name in wanted}
        )


def change_seal(config, number: int, **changes):
    return {"seal": replace(read_records(config)[number - 1].seal, **changes)}


OTHER_SEAL = AnnulledSeal(record=1, rows=1, time=BEFORE, annulled=AFTER, reason="wrong file")


def change_check(config, **changes):
    return {"seal_check": replace(read_records(config)[2].seal_check, **changes)}


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"rows": 77}, "seals 77 rows, but its document has the hashes of 76"),
        ({"merkle_root": "0" * 64}, "has the Merkle root 0000"),
        (
            {"merkle_root": "x"},
            "seals forecasts, but its Merkle root and the hash of its row hashes are not both",
        ),
        ({"outcomes": 99}, "seals 76 rows, of which 99 cannot have had an outcome"),
        ({"keys": ("day",)}, "seals rows by day, but the key of its configuration is loan"),
        ({"forecasts": ("other",)}, "seals other columns of this period than record 1, which is valid"),
        ({"forecasts": ()}, "seals no rows, or names no columns"),
        ({"plan": "plan.md"}, "does not name both an analysis plan and its hash"),
        (
            {"plan": "plan.md", "plan_sha256": "0" * 64},
            "seals the plan plan.md, but its configuration names none",
        ),
    ],
)
def test_a_forged_seal_is_named(sealed, changes, claim) -> None:
    append_forged(sealed, 1, **change_seal(sealed, 1, **changes))
    found = find_claims(sealed)
    assert any(sentence.startswith(f"Record 4 {claim}") for sentence in found), found


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"seal": None}, "seals forecasts, but has no seal"),
        ({"rows": 3}, "seals forecasts, but has rows"),
        ({"source": ""}, "seals forecasts, but names no source"),
        ({"status": AuditStatus.WARN}, "seals forecasts, but its status is warn"),
        ({"kind": "baseline"}, "is of a baseline, but has seal"),
    ],
)
def test_a_seal_with_other_fields_is_named(sealed, changes, claim) -> None:
    append_forged(sealed, 1, **changes)
    found = find_claims(sealed)
    assert any(sentence.startswith(f"Record 4 {claim}") for sentence in found), found


@pytest.mark.parametrize(
    ("changes", "claim"),
    [
        ({"sealed": 121}, "counts 121 sealed rows, but 120 unchanged, 0 changed and 0 missing ones"),
        ({"unchanged": 119, "changed": 1}, "does not agree with its results document: `seal_check`"),
        ({"late": -1}, "counts 120 sealed rows"),
        ({"sealed": 60, "unchanged": 60}, "states 60 as `sealed` of the seals of its period, but it is 120"),
        ({"sealed": 60, "unchanged": 60}, "evaluates 120 rows, but compares only 60 with sealed forecasts"),
        ({"first": "2026-10-01T00:00:00+00:00"}, "states 2026-10-01T00:00:00+00:00 as `first` of the seals"),
        ({"last": BEFORE}, "states 2026-10-31T06:00:00+00:00 as `last` of the seals"),
        ({"outcomes": 7}, "states 7 as `outcomes` of the seals of its period, but it is 0"),
        ({"after_audit": 7}, "states 7 as `after_audit` of the seals of its period, but it is 0"),
        (
            {"annulled": (OTHER_SEAL,)},
            "states other facts of annulled seals of its period than those of the records: none",
        ),
        ({"seals": ()}, "compares its rows with other seals than those that were valid before it: 1, 2"),
        (None, "is of a period that record 1, 2 seals, but does not compare its rows with the seal"),
    ],
)
def test_a_forged_check_is_named(sealed, changes, claim) -> None:
    append_forged(sealed, 3, **({"seal_check": None} if changes is None else change_check(sealed, **changes)))
    found = find_claims(sealed)
    assert any(sentence.startswith(f"Record 4 {claim}") for sentence in found), found


def test_a_check_of_an_annulled_seal_is_named(sealed) -> None:
    with fixed_time(AFTER):
        annul_record(sealed, 2, reason="wrong file")
    append_forged(sealed, 3)
    found = find_claims(sealed)
    assert any("Record 5 compares its rows with other seals than those" in sentence for sentence in found), (
        found
    )


def test_a_failed_run_has_no_check(sealed) -> None:
    audit = read_records(sealed)[2]
    failed = replace(audit, status=AuditStatus.FAILED)
    assert "compares rows with sealed forecasts, but is not an audit with results" in list(
        check_seal_fields(failed)
    )


def test_changed_row_hashes_are_named(sealed) -> None:
    """Whoever changes the document in the database, with its hash or without, is found."""
    first = read_records(sealed)[0].seal
    place = sealed.parent / "audits"
    tamper(place, ("UPDATE documents SET content = x'00' WHERE sha256 = ?", (first.hashes_sha256,)))
    assert find_claims(sealed) == [
        f"The document {first.hashes_sha256} of record 1 was changed in the database.",
    ]
    tamper(place, ("DELETE FROM documents WHERE sha256 = ?", (first.hashes_sha256,)))
    assert find_claims(sealed) == [
        f"The document {first.hashes_sha256} of record 1 is missing in the database."
    ]
    with fixed_time(AFTER):
        assert "There is no document" in call("run", sealed, "--period", LABEL, "--again", "--quiet").output


def test_other_row_hashes_under_the_right_name_are_refused(sealed) -> None:
    record = read_records(sealed)[0]
    assert list(check_sealed_rows(record, b"x")) == [
        "seals forecasts by a document that cannot be used: it is not a list of row hashes"
    ]


def test_removed_seals_are_named(sealed) -> None:
    place = sealed.parent / "audits"
    tamper(place, "DELETE FROM audits WHERE id = 2")
    assert any("2" in sentence for sentence in find_claims(sealed))


def test_rules_accept_what_is_made(sealed) -> None:
    records = read_records(sealed)
    assert list(check_seals(records)) == []
    assert list(check_seal_contents(records[0])) == []


# ---- Killed while sealing ----


@pytest.mark.sweep
@pytest.mark.parametrize("step", ["insert_documents", "insert_record", "check_written", "advance_chain_head"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_killed_seal_is_whole_or_absent(step, when, config, loans, tmp_path) -> None:
    seal(config, period="2026-10", at="2026-09-15T06:00:00+00:00")
    program = (
        "import os, signal\n"
        "from scorereport.history import store\n"
        f"original = store.{step}\n"
        "def kill(*arguments, **options):\n"
        f"    {'original(*arguments, **options)' if when == 'after' else 'pass'}\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        f"store.{step} = kill\n"
        "from scorereport.audit.forecast_sealing import seal_forecasts\n"
        f"seal_forecasts({str(config)!r}, period={LABEL!r})\n"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, env=os.environ, capture_output=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert find_claims(config) == []
    kept = [record for record in read_records(config) if record.period.label == LABEL]
    assert len(kept) == (step == "advance_chain_head")
    again = seal(config, at=AFTER)
    assert again.is_new == (not kept)
    assert again.problems == ()  # its signature explains a record that the chain head file lacks
    write_rows(tmp_path, loans)
    assert count(run(config, at="2027-01-15T06:00:00+00:00"))[:2] == (120, 120)
    assert find_claims(config, at="2027-01-15T06:00:00+00:00") == []
