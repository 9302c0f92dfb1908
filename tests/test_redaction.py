"""Secrets are read from the environment and redacted in every text."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scorereport._utils.redaction import Redactor, expand_variables, find_literal_secret, find_passwords
from scorereport.errors import UsageError

#: No stars, because secrets are replaced by stars.
SECRETS = st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), min_size=4, max_size=30)
TEXTS = st.text(st.characters(exclude_characters="*", exclude_categories=["Cs"]), max_size=40)


def list_written(secret: str) -> list[str]:
    """A secret as texts may show it."""
    return [
        secret,
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        repr(secret)[1:-1],
        html.escape(secret),
        base64.b64encode(secret.encode()).decode().rstrip("="),
        base64.urlsafe_b64encode(secret.encode()).decode().rstrip("="),
    ]


def test_expanding_names_the_values_used_once_each() -> None:
    environ = {"USER_NAME": "me", "PASS": "p@ss$$word", "OTHER": "x"}
    text, secrets = expand_variables("postgresql://${USER_NAME}:${PASS}@h/${PASS}?a=$PASS&b=$$", environ)
    assert text == "postgresql://me:p@ss$$word@h/p@ss$$word?a=$PASS&b=$$"
    assert secrets == ("me", "p@ss$$word")


def test_values_are_not_expanded_again() -> None:
    assert expand_variables("${A}", {"A": "${B}", "B": "deep"}) == ("${B}", ("${B}",))


def test_expanding_reads_the_environment_of_now(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCOREREPORT_TEST_TOKEN", "abcdef")
    assert expand_variables("Bearer ${SCOREREPORT_TEST_TOKEN}") == ("Bearer abcdef", ("abcdef",))


@pytest.mark.parametrize(("environ", "state"), [({}, "not set"), ({"TOKEN": ""}, "empty")])
def test_a_variable_without_a_value_is_named_with_its_key(environ: dict[str, str], state: str) -> None:
    with pytest.raises(
        UsageError,
        match=rf"^`audit\.notify\.webhook\.url` needs the environment variable TOKEN, which is {state}; "
        r"set it where the audit runs\.$",
    ):
        expand_variables("https://h/${TOKEN}", environ, key="audit.notify.webhook.url")


@pytest.mark.parametrize("text", ["${}", "${two words}", "a ${", "${1ST}", "${A${B}}"])
def test_a_broken_placeholder_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"^In `k`, `\$\{` must be followed by the name of an environment"):
        expand_variables(text, {"A": "1", "B": "2"}, key="k")


@given(secret=SECRETS, before=TEXTS, after=TEXTS)
@example(secret="a/b c?d", before="", after="")
@example(secret="o'clock \"&\\", before="<", after=">")
def test_no_secret_survives_however_it_is_written(secret: str, before: str, after: str) -> None:
    redactor = Redactor((secret,))
    for written in list_written(secret):
        redacted = redactor.redact(f"{before}{written}{after}")
        assert secret not in redacted
        assert written not in redacted
        assert "***" in redacted


@given(secrets=st.lists(SECRETS, min_size=1, max_size=4), texts=st.lists(TEXTS, min_size=5, max_size=5))
def test_none_of_several_secrets_survives(secrets: list[str], texts: list[str]) -> None:
    text = "".join(part for pair in zip(texts, [*secrets, ""], strict=False) for part in pair)
    redacted = Redactor().adding(*secrets).redact(text)
    assert not [secret for secret in secrets if secret in redacted]


@given(secret=SECRETS, user=st.text("abc", max_size=6))
def test_no_basic_authorisation_reveals_the_secret(secret: str, user: str) -> None:
    header = base64.b64encode(f"{user}:{secret}".encode()).decode()
    redacted = Redactor((secret,)).redact(header)
    assert header not in redacted
    assert len(redacted.replace("***", "").rstrip("=")) <= len(user) * 4 / 3 + 5


@given(text=TEXTS)
def test_a_text_without_secrets_stays_as_it_is(text: str) -> None:
    assert Redactor(("zzzzzzzzzz",)).redact(text) == text


def test_secrets_that_overlap_leave_no_rest() -> None:
    assert Redactor(("abcd", "cdefgh")).redact("x abcdefgh y abcdabcd") == "x *** y ***"
    assert Redactor(("cdef", "abcdefgh")).redact("x abcdefgh y") == "x *** y"


def test_texts_too_short_for_a_secret_are_not_redacted() -> None:
    assert Redactor(("a", "ab1", "")).redact("a table ab1") == "a table ab1"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see postgresql://me:pw@host:5432/db now", "see postgresql://***@host:5432/db now"),
        ("postgresql+psycopg://me:p@ss/w?rd@host/db", "postgresql+psycopg://***@host/db"),
        ("redis://:pw@host", "redis://***@host"),
        ("HTTPS://token@host/a and http://u:p@h", "HTTPS://***@host/a and http://***@h"),
        ("http://localhost:8080/me@home", "http://localhost:8080/me@home"),
        ("postgresql://me@host/db", "postgresql://me@host/db"),
        ("sqlite:////srv/a:b@c.db", "sqlite:////srv/a:b@c.db"),
        ("host=h password=geheim user=u", "host=h password=*** user=u"),
        ("https://h/x?a=1&token=abc&b=2", "https://h/x?a=1&token=***&b=2"),
        ("ordinary text: me@example.org", "ordinary text: me@example.org"),
        ("no postgresql://me:pass word@host/db", "no postgresql://***@host/db"),
        ("no postgresql://me:pass\tword@host/db", "no postgresql://***@host/db"),
        ("postgresql://me:p@ss word@[::1]:5432/db", "postgresql://***@[::1]:5432/db"),
        ("http://me:pass word@host/x", "http://***@host/x"),
        ("host=h password='pass word' user=u", "host=h password=*** user=u"),
        ("host=h password = 'it\\'s a word' user=u", "host=h password = *** user=u"),
        ('host=h password = "pass word";user=u', "host=h password = ***;user=u"),
        ("Server=h;Pwd={pass word};", "Server=h;Pwd=***;"),
        ("password = word, user = u", "password = *** user = u"),
        ("h?sslpassword=word&x=1", "h?sslpassword=***&x=1"),
        (
            "postgresql://host:5432/db is down, ask me@x.org",
            "postgresql://host:5432/db is down, ask me@x.org",
        ),
        ("https://host.org: ask me@x.org", "https://host.org: ask me@x.org"),
    ],
)
def test_logins_in_urls_are_hidden_without_a_list_of_secrets(text: str, expected: str) -> None:
    assert Redactor().redact(text) == expected


@pytest.mark.parametrize(
    ("address", "passwords"),
    [
        ("postgresql://me:pass word@host/db", ("pass word",)),
        ("postgresql://me:p'a\"s@s / x@host/db", ("p'a\"s@s / x",)),
        ("postgresql://host/db?user=me&password=pass word&x=1", ("pass word",)),
        ("postgresql://me:one two@[::1]/db?sslpassword=three four", ("one two", "three four")),
        ("postgresql://me@host:5432/db?sslmode=require", ()),
        ("sqlite:////srv/a:b@c.db", ()),
    ],
)
def test_passwords_of_an_address_are_found_whatever_they_hold(
    address: str, passwords: tuple[str, ...]
) -> None:
    assert find_passwords(address) == passwords
    assert find_literal_secret(address) is bool(passwords)
    hidden = Redactor(find_passwords(address)).redact(f"{address} cannot be read")
    assert not any(password in hidden for password in passwords)


def test_the_password_in_a_secret_url_is_hidden_alone_as_well() -> None:
    redactor = Redactor(("postgresql://me:p%40ssword@host/db",))
    assert redactor.redact("no login with p@ssword or p%40ssword") == "no login with *** or ***"


def test_lines_of_a_secret_are_hidden_alone_and_blanks_around_it_do_not_matter() -> None:
    redactor = Redactor(("-----BEGIN-----\nMIIEvQIBADANBg\n", "token1 \n", "two  words"))
    assert redactor.redact("bad line MIIEvQIBADANBg with token1") == "bad line *** with ***"
    assert redactor.redact("in one line: two words") == "in one line: ***"


def test_a_redactor_shows_nothing_of_itself() -> None:
    redactor = Redactor(("hidden-1",)).adding("hidden-2", "hidden-1")
    assert redactor.secrets == ("hidden-1", "hidden-2")
    assert "hidden" not in repr(redactor)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://me:pw@host/db", True),
        ("postgresql+psycopg://me:p@ss/word@host/db", True),
        ("postgresql://:pw@host/db", True),
        ("postgresql://me:pre${PW}@host/db", True),
        ("postgresql://host/db?password=pw", True),
        ("https://me:pw@host/hook", True),
        ("postgresql://me:${PW}@host/db", False),
        ("postgresql://${ME}:${PW}@${HOST}:5432/db", False),
        ("postgresql://me:@host/db", False),
        ("postgresql://me@host/db", False),
        ("postgresql://host/db?password=${PW}", False),
        ("${DATABASE_URL}", False),
        ("sqlite:///audits/history.db", False),
        ("sqlite:////srv/a:b@c.db", False),
        ("https://host:8080/a@b", False),
    ],
)
def test_a_password_written_into_a_url_is_found(url: str, expected: bool) -> None:
    assert find_literal_secret(url) is expected
