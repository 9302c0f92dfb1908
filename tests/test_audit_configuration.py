"""The tables of an audit: documented, checked key by key, free of secrets."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args, get_type_hints

import jsonschema
import pytest

from scorereport.audit.plan import read_plan
from scorereport.audit.run import run_audit
from scorereport.channels import CHANNELS
from scorereport.channels.channel import STRICT
from scorereport.configuration import configuration_schema, parse_configuration
from scorereport.configuration.audit_tables import AuditTable
from scorereport.configuration.toml_reader import parse_toml
from scorereport.errors import UsageError

DOCUMENTATION = (Path(__file__).parents[1] / "docs" / "audits.md").read_text(encoding="utf-8")
EXAMPLE = re.search(r"```toml\n(.*?)```", DOCUMENTATION, re.DOTALL)[1]
NEEDED = """
[evaluation]
outcome = "y"
forecasts = ["p"]
[audit.source]
file = "a.csv"
"""


def list_keys(kind, path=()):
    for name, hint in get_type_hints(kind).items():
        if name == "__pydantic_config__":
            continue
        record = next((kind for kind in (hint, *get_args(hint)) if is_dataclass(kind)), None)
        yield name
        if record is not None:
            yield from list_keys(record, (*path, name))


def test_every_key_is_documented():
    documented = set(re.findall(r"`(\w+)`", DOCUMENTATION)) | set(
        re.findall(r"\[audit\.(\w+)\]", DOCUMENTATION)
    )
    missing = set(list_keys(AuditTable)) - documented
    assert len(set(list_keys(AuditTable))) > 30
    assert not missing


def test_the_rows_on_channels_are_current():
    rows = [f"| `{name}` | {channel.help} |" for name, channel in CHANNELS.items()]
    assert DOCUMENTATION.count("\n".join(rows) + "\n<!-- end audit keys -->\n") == 1, "run `make docs`"


#: Keys of `[audit.notify]` that are not channels.
OTHER_KEYS = ("on", "digest", "site")


@pytest.mark.parametrize("channel", CHANNELS.values(), ids=CHANNELS)
def test_a_channel_is_strict_and_its_options_are_keys(channel):
    keys = [key.name for key in fields(channel.table)] if is_dataclass(channel.table) else []
    assert getattr(channel.table, "__pydantic_config__", STRICT) == STRICT
    assert channel.options.keys() <= set(keys)
    properties = configuration_schema()["$defs"]["NotifyTable"]["properties"]
    assert list(properties) == [*OTHER_KEYS, *CHANNELS]
    with pytest.raises(UsageError, match=rf"`audit\.notify\.{channel.name}` must be a (table|list); got 1\."):
        parse_configuration(f"[audit.notify]\n{channel.name} = 1")


def test_an_unknown_channel_is_refused_with_the_known_ones():
    with pytest.raises(UsageError) as refused:
        parse_configuration("[audit.notify.pigeon]", "audit.toml")
    known = ", ".join(f"`{name}`" for name in (*OTHER_KEYS, *CHANNELS))
    assert known.startswith("`on`, `digest`, `site`, `command`, `webhook`, `email`")
    assert str(refused.value) == f"audit.toml: `audit.notify.pigeon` is not known; its keys are {known}."
    with pytest.raises(UsageError, match=r"`audit\.notify\.emial` is not known; did you mean `email`\?"):
        parse_configuration("[audit.notify.emial]")


def test_variables_in_any_text_of_a_channel_are_redacted(tmp_path, monkeypatch):
    for name in ("HOST", "FROM", "TEAM", "HOOK", "KEY"):
        monkeypatch.setenv(f"{name}_VALUE", f"value-of-{name}")
    path = tmp_path / "audit.toml"
    path.write_text(
        NEEDED
        + '[audit.notify.webhook]\nurl = "${HOOK_VALUE}"\nheaders = {Key = "${KEY_VALUE}"}\n'
        + '[audit.notify.email]\nhost = "${HOST_VALUE}"\nsender = "${FROM_VALUE}"\n'
        + 'recipients = ["a@b", "${TEAM_VALUE}"]\n'
    )
    text = "value-of-HOST value-of-FROM value-of-TEAM value-of-HOOK value-of-KEY"
    assert read_plan(path).redactor.redact(text) == "*** *** *** *** ***"


def test_the_example_is_accepted_by_us_and_by_the_schema():
    audit = parse_configuration(EXAMPLE).audit
    assert audit.name == "retail-default"
    assert audit.source.query.startswith("\nselect") or audit.source.query.startswith("select")
    assert audit.notify.email.recipients == ("model-risk@example.com",)
    schema = configuration_schema()
    jsonschema.validate(parse_toml(EXAMPLE, "example"), schema)
    for wrong in ('certify = "maybe"', 'output.formats = ["doc"]', "output.formats = 3", "nothing = 1"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(parse_toml(f"[audit]\n{wrong}", "wrong"), schema)


def test_a_configuration_without_an_audit_has_the_defaults():
    assert parse_configuration("").audit == AuditTable()
    assert {field.name for field in fields(AuditTable)} >= {"source", "window", "schedule", "notify"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[audit]\nnam = 1", "`audit.nam` is not known; did you mean `name`?"),
        ("[audit.source]\nfil = 1", "`audit.source.fil` is not known; did you mean `file`?"),
        (
            '[audit]\nname = "a/b"',
            "`audit.name` must have only letters, digits, hyphens, dots and underscores, at most 64, and "
            "begin with a letter or a digit; got 'a/b'.",
        ),
        (
            '[audit]\ncertify = "yes"',
            '`audit.certify` must be one of "required", "optional", "off"; got \'yes\'.',
        ),
        (
            '[audit]\ntime_zone = "Berlin"',
            "`audit.time_zone` must be the name of a time zone such as `UTC` or `Europe/Berlin`; got "
            "'Berlin'. Did you mean `Europe/Berlin`?",
        ),
        (
            '[audit.source]\nfile = "a.csv"\ntable = "t"\ndatabase = "sqlite:///a.db"',
            "`audit.source` must have one of `file`, `query` and `table`; got `file` and `table`.",
        ),
        (
            '[audit.source]\nquery = "select 1"',
            "`audit.source.query` needs a `database`.",
        ),
        (
            '[audit.source]\ndatabase = "sqlite:///a.db"',
            "`audit.source.database` needs a `query` or a `table`.",
        ),
        (
            '[audit.output]\nformats = ["doc"]',
            '`audit.output.formats` must be one of "pdf", "html", "json"; got \'doc\'.',
        ),
        (
            "[audit.output]\nformats = []",
            '`audit.output.formats` must name a format of the report, such as "pdf"; got an empty list.',
        ),
        (
            '[audit.output]\nformats = ["pdf", "pdf"]',
            "`audit.output.formats` must differ; got 'pdf', 'pdf'.",
        ),
        ("[audit.comparison]\nalpha = 1.0", "`audit.comparison.alpha` must lie in (0, 1); got 1."),
        (
            "[audit.comparison]\naudits = 0",
            "`audit.comparison.audits` must be a whole number of at least 1; got 0.",
        ),
        (
            "[audit.retention]\ndays = 0",
            "`audit.retention.days` must be a whole number of at least 1; got 0.",
        ),
        (
            '[audit.schedule]\ncatch_up = "some"',
            '`audit.schedule.catch_up` must be one of "latest", "all", "none"; got \'some\'.',
        ),
        (
            '[audit.notify]\non = ["broken"]',
            '`audit.notify.on` must be one of "pass", "warn", "inconclusive", "fail", "done", '
            '"certificate failed", "failed"; got \'broken\'.',
        ),
        (
            '[audit.notify.webhook]\nurl = "ftp://x"',
            "`audit.notify.webhook.url` must begin with https:// or http://; got 'ftp://x'.",
        ),
        (
            '[audit.notify.email]\nhost = "h"\nsender = "s"\nrecipients = []',
            "`audit.notify.email.recipients` must name at least one recipient; got an empty list.",
        ),
    ],
)
def test_errors_name_the_key(text, message):
    with pytest.raises(UsageError) as caught:
        parse_configuration(text, "audit.toml")
    assert str(caught.value) == f"audit.toml: {message}"


@pytest.mark.parametrize("period", ["last month", "last 0 days", "previous month", "yesterday"])
def test_an_unknown_period_is_refused(period):
    with pytest.raises(UsageError, match=r"audit\.toml: `audit\.window\.period`: "):
        parse_configuration(f'[audit.window]\nperiod = "{period}"', "audit.toml")


@pytest.mark.parametrize("cron", ["99 * * * *", "* * * *", "0 0 30 2 *", "every day"])
def test_a_schedule_that_never_runs_is_refused(cron):
    with pytest.raises(UsageError, match=r"audit\.toml: `audit\.schedule\.cron` "):
        parse_configuration(f'[audit.schedule]\ncron = "{cron}"', "audit.toml")


@pytest.mark.parametrize(
    "text",
    [
        '[audit.source]\ndatabase = "postgresql://me:hunter2@db/loans"\ntable = "t"',
        '[audit.history]\ndatabase = "postgresql://me:hunter2${X}@db/loans"',
        '[audit.notify.webhook]\nurl = "https://me:hunter2@chat/hook"',
        '[audit.history]\ndatabase = "postgresql://me:hun/ter2@h/db"',
        '[audit.history]\ndatabase = "postgresql://h/db?password=hunter2"',
        '[audit.history]\ndatabase = "postgresql://me:hun ter hunter2@h/db"',
        '[audit.history]\ndatabase = "postgresql://me:hunter2 x@[::1]:5432/db"',
        '[audit.history]\ndatabase = "postgresql://me:hunter2%20x@h/db"',
        '[audit.history]\ndatabase = "postgresql://me:hunter2 @ x@h/db"',
        "[audit.history]\ndatabase = \"postgresql://me:'hunter2 x'@h/db\"",
        '[audit.history]\ndatabase = "postgresql://h/db?sslpassword=hunter2 x"',
        "[audit.history]\ndatabase = \"host=h password = 'hunter2 x'\"",
        "[audit.history]\ndatabase = \"host=h password='hunter2 x'\"",
        '[audit.history]\ndatabase = "host=h password = hunter2"',
        '[audit.source]\ndatabase = "postgresql://me:hunter2 x@db/loans"\ntable = "t"',
        '[audit.notify.webhook]\nurl = "https://me:hunter2 x@chat/hook"',
        '[audit.notify.webhook]\nurl = "https://chat/hook"\nheaders = {Authorization = "Bearer hunter2"}',
        '[audit.notify.webhook]\nurl = "https://chat/hook"\nheaders = {X-Auth = "hunter2"}',
        '[audit.notify.webhook]\nurl = "https://chat/services/T0/B0/hunter2hunter2hunter2"',
        '[audit.notify.webhook]\nurl = "https://chat/hook?sig=hunter2"',
        '[audit.notify.webhook]\nurl = "https://hooks.slack.com/services/T0/B0/hunter2"',
        '[audit.notify]\ncommand = ["curl", "-H", "Authorization: Bearer hunter2"]',
        '[audit.notify]\ncommand = ["page", "--token=hunter2"]',
        '[audit.notify.email]\nhost="h"\nsender="s"\nrecipients=["r"]\nuser="u"\npassword="hunter2"',
    ],
)
def test_a_secret_in_the_file_is_refused_and_not_repeated(text):
    with pytest.raises(UsageError, match=r"NAME|environment") as caught:
        parse_configuration(text, "audit.toml")
    assert "hunter2" not in str(caught.value)


def test_a_password_is_never_sent_unencrypted():
    text = '[audit.notify.email]\nhost="h"\nsender="s"\nrecipients=["r"]\nuser="u"\npassword="${P}"\n'
    with pytest.raises(UsageError, match='must be "starttls" or "tls" if there is a password'):
        parse_configuration(f'{text}security = "none"')


SECRET_HEADER = '\nheaders = {Authorization = "Bearer ${TOKEN}"}'
OPEN = (
    "audit.toml: `audit.notify.webhook.url` must begin with https:// if the address or a header holds a "
    "secret; got http://, which is not encrypted. Only localhost may be reached by http://."
)


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("http://chat/hook", SECRET_HEADER),
        ("HTTP://chat:8080/hook", SECRET_HEADER),
        ("http://10.0.0.7/hook", SECRET_HEADER),
        ("http://[2001:db8::1]:80/hook", SECRET_HEADER),
        ("http://127.0.0.1.evil.example/hook", SECRET_HEADER),
        ("http://localhost@evil.example/hook", SECRET_HEADER),
        ("http://chat/${TOKEN}", ""),
        ("http://chat/hook?sig=${TOKEN}", ""),
    ],
)
def test_a_token_is_not_sent_over_plain_http(url, headers):
    with pytest.raises(UsageError) as caught:
        parse_configuration(f'[audit.notify.webhook]\nurl = "{url}"{headers}', "audit.toml")
    assert str(caught.value) == OPEN


@pytest.mark.parametrize(
    ("url", "headers"),
    [
        ("https://chat/hook", SECRET_HEADER),
        ("http://localhost:8080/hook", SECRET_HEADER),
        ("http://127.3.2.1/hook", SECRET_HEADER),
        ("http://[::1]:8080/hook", SECRET_HEADER),
        ("http://chat/hook", ""),
        ("${HOOK}", SECRET_HEADER),
        ("http://${HOST}/hook", SECRET_HEADER),
    ],
)
def test_a_webhook_may_be_encrypted_or_local_or_without_a_secret(url, headers):
    table = parse_configuration(f'[audit.notify.webhook]\nurl = "{url}"{headers}').audit.notify.webhook
    assert table is not None
    assert table.url == url


def test_a_variable_in_a_command_is_refused():
    with pytest.raises(UsageError, match="read the variable in the program"):
        parse_configuration('[audit.notify]\ncommand = ["page", "--token", "${TOKEN}"]')


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('file = "a.csv"', ""), "`audit.source` is missing: name a `file`, or"),
        (('outcome = "y"', ""), "`evaluation.outcome` is missing: name the column of outcomes."),
        (('forecasts = ["p"]', ""), "`evaluation.forecasts` is missing: name the columns of probabilities."),
        (
            ('outcome = "y"', 'outcome = "y"\nweight_kind = "frequency"'),
            "`evaluation.weight_kind` is given, but there is no column of weights; name one with "
            "`evaluation.weight`.",
        ),
        (
            ("[audit.source]", '[audit.window]\nperiod = "last 3 days"\n[audit.source]'),
            "`audit.window.column` is missing: name the column of dates that the period refers to.",
        ),
        (
            (
                'file = "a.csv"',
                'database = "sqlite:///a.db"\nquery = "select 1 where d >= :start"\n'
                '[audit.window]\nperiod = "last 3 days"',
            ),
            "the period refers to, or select the rows by :start and :end in the query.",
        ),
    ],
)
def test_an_audit_needs_more_than_a_report(tmp_path, change, message):
    path = tmp_path / "a.toml"
    path.write_text(NEEDED.replace(*change))
    with pytest.raises(UsageError, match=re.escape(message)):
        read_plan(path)


def test_a_plan_finds_its_folders_beside_the_configuration(tmp_path):
    path = tmp_path / "loans.toml"
    path.write_text(NEEDED)
    plan = read_plan(path)
    assert plan.name == "loans"
    assert plan.folder == tmp_path / "audits"
    assert plan.database_url.database == str(tmp_path / "audits" / "history.db")
    assert plan.resolve(plan.reports_folder) == tmp_path / "audits" / "reports"
    assert plan.chain_head == tmp_path / "audits" / "head-history.db"
    path.write_text(f'{NEEDED}[audit.history]\ndatabase = "sqlite:///all/h.db"')
    plan = read_plan(path)
    assert plan.database_url.database == str(tmp_path / "all" / "h.db")
    assert plan.reports_folder == "../audits/reports"  # as seen from the history
    assert plan.resolve(plan.reports_folder).resolve() == tmp_path / "audits" / "reports"


def test_secrets_come_from_the_environment_and_are_redacted(tmp_path, monkeypatch):
    path = tmp_path / "loans.toml"
    path.write_text(f'{NEEDED}[audit.history]\ndatabase = "postgresql://me:${{DB_PASSWORD}}@db/x"')
    monkeypatch.delenv("DB_PASSWORD", raising=False)
    with pytest.raises(UsageError, match="DB_PASSWORD"):
        _ = read_plan(path).database_url
    monkeypatch.setenv("DB_PASSWORD", "hunter2")
    plan = read_plan(path)
    assert plan.database_url.password == "hunter2"
    assert "hunter2" not in plan.redactor.redact("it was hunter2, or hunter2@db")
    head = plan.chain_head
    monkeypatch.setenv("DB_PASSWORD", "p@ss/w:x#y%41")
    assert read_plan(path).chain_head == head  # a new password is not a new history
    assert read_plan(path).database_url.password == "p@ss/w:x#y%41"


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("CON", "must not be a name that Windows reserves for a device"),
        ("nul.loans", "must not be a name that Windows reserves for a device"),
        ("Lpt1", "must not be a name that Windows reserves for a device"),
        ("a..", "must not end in a dot, which Windows removes"),
    ],
)
def test_a_name_that_is_not_a_folder_name_on_every_system_is_not_run(tmp_path, name, rule):
    path = tmp_path / "loans.toml"
    path.write_text(f'[audit]\nname = "{name}"\n{NEEDED}')
    assert read_plan(path).name == name  # its history can be read
    with pytest.raises(UsageError, match=rf"^`audit\.name` {rule}; got '{re.escape(name)}'\.$"):
        run_audit(path)
    assert not (tmp_path / "audits").exists()


def test_a_file_name_that_is_not_an_audit_name_is_refused(tmp_path):
    path = tmp_path / "my loans.toml"
    path.write_text(NEEDED)
    with pytest.raises(UsageError, match=r"`audit\.name` must have only letters"):
        read_plan(path)
