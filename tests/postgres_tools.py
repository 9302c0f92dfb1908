"""A private PostgreSQL server for the tests: one for all workers, stopped by the last, a database per test.

In conftest.py:

    postgres_server = pytest.fixture(scope="session")(share_server)
    postgres_url = pytest.fixture(make_database)
"""

from __future__ import annotations

import json
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from filelock import FileLock

if TYPE_CHECKING:
    from collections.abc import Iterator

USER = "scorereport"
#: Reads every table of every database and may do nothing else; it has the same password.
READER = "reader"
#: The data of a test need not survive a power failure.
SETTINGS = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "shared_buffers": "16MB",
    "max_connections": "100",
    "listen_addresses": "127.0.0.1",
}


class StartError(Exception):
    """PostgreSQL is not installed, or does not start; the message states which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A running server and how to reach it."""

    folder: str
    port: int
    password: str

    def url(self, database: str) -> str:
        """The address of a database."""
        return f"postgresql://{USER}:{self.password}@127.0.0.1:{self.port}/{database}"


def as_reader(url: str) -> str:
    """The address for a role that can only read: sources refuse the superuser that owns the server."""
    return url.replace(f"://{USER}:", f"://{READER}:")


def share_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server, or join that of another worker; the last worker to leave stops it."""
    shared = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        shared = shared.parent
    state = shared / "postgres.json"
    lock = FileLock(shared / "postgres.lock")
    try:
        with lock:
            server = _join(state)
    except StartError as error:
        reason = f"no PostgreSQL to test with: {error}"
        if os.environ.get("SCOREREPORT_REQUIRE_POSTGRES") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    try:
        yield server
    finally:
        with lock:
            _leave(state)


def make_database(postgres_server: Server) -> Iterator[str]:
    """The address of an empty database, dropped afterwards."""
    import psycopg

    name = f"test_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        yield postgres_server.url(name)
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def _join(state: Path) -> Server:
    known = json.loads(state.read_text(encoding="utf-8")) if state.exists() else None
    if known is None:
        known = {"server": asdict(start_server()), "users": []}
    known["users"].append(os.getpid())
    state.write_text(json.dumps(known), encoding="utf-8")
    return Server(**known["server"])


def _leave(state: Path) -> None:
    """Stop the server unless others use it; a worker that was killed does not count."""
    known = json.loads(state.read_text(encoding="utf-8"))
    known["users"] = [
        user for user in known["users"] if user != os.getpid() and Path(f"/proc/{user}").exists()
    ]
    if known["users"]:
        state.write_text(json.dumps(known), encoding="utf-8")
        return
    state.unlink()
    stop_server(Server(**known["server"]))


def start_server() -> Server:
    """Make a cluster in a folder of its own and start it, with a password, on a free port of this machine."""
    programs = find_programs()
    folder = Path(tempfile.mkdtemp(prefix="srpg-", dir="/tmp"))  # short: socket paths have at most 107 bytes
    try:
        server = Server(folder=str(folder), port=_find_port(), password=secrets.token_urlsafe(12))
        _create_cluster(programs, server)
        _control(programs, server, "start", "-w", "-t", "60", "-l", str(folder / "log"))
        _create_reader(server)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return server


def _create_reader(server: Server) -> None:
    import psycopg

    with psycopg.connect(server.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {READER} LOGIN PASSWORD '{server.password}'")
        connection.execute(f"GRANT pg_read_all_data TO {READER}")


def stop_server(server: Server) -> None:
    """Stop a server at once and remove its folder."""
    _control(find_programs(), server, "stop", "-m", "immediate", "-w")
    shutil.rmtree(server.folder, ignore_errors=True)


def halt_server(server: Server) -> None:
    """Stop a server as an administrator does: sessions end, the data stay."""
    _control(find_programs(), server, "stop", "-m", "fast", "-w")


def resume_server(server: Server) -> None:
    """Start a server again that was halted."""
    log = str(Path(server.folder) / "log")
    _control(find_programs(), server, "start", "-w", "-t", "60", "-l", log)


def find_programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    if found:
        return found[-1].parent
    if on_path := shutil.which("initdb"):
        return Path(on_path).resolve().parent
    raise StartError("the programs of the server are not installed (apt-get install postgresql)")


def run_script(url: str, script: Path, **variables: str) -> subprocess.CompletedProcess:
    """Run a script by psql as the role of an address, with variables of psql."""
    words = [word for name, value in variables.items() for word in ("-v", f"{name}={value}")]
    return subprocess.run(
        [find_programs() / "psql", "-X", "-q", "-d", url, *words, "-f", script],
        capture_output=True,
        text=True,
        check=False,
    )


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _create_cluster(programs: Path, server: Server) -> None:
    folder = Path(server.folder)
    word = folder / "word"
    word.write_text(server.password, encoding="utf-8")
    _give_away(folder, word)
    _run(
        [
            str(programs / "initdb"),
            *("-D", str(folder / "data"), "-U", USER, "--pwfile", str(word)),
            *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"),
        ],
        folder,
    )
    settings = {**SETTINGS, "port": str(server.port), "unix_socket_directories": f"'{folder}'"}
    lines = "".join(f"{name} = {value}\n" for name, value in settings.items())
    with (folder / "data" / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(lines.replace("127.0.0.1", "'127.0.0.1'"))


def _control(programs: Path, server: Server, *words: str) -> None:
    folder = Path(server.folder)
    _run([str(programs / "pg_ctl"), "-D", str(folder / "data"), *words], folder)


def _run(command: list[str], folder: Path) -> None:
    log = folder / "commands"
    with log.open("ab") as output:  # a pipe would stay open as long as the server runs
        done = subprocess.run(
            [*_step_down(), *command], stdout=output, stderr=output, cwd=folder, check=False
        )
    if done.returncode:
        last = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-1:]
        raise StartError(f"{Path(command[0]).name} failed: {' '.join(last)}")


def _server_user() -> pwd.struct_passwd | None:
    """The user that runs the server if this process is root, which the server refuses; otherwise None."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise StartError("it does not run as root, and there is no user postgres or nobody")


def _step_down() -> list[str]:
    user = _server_user()
    if user is None:
        return []
    if shutil.which("setpriv"):
        return ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups"]
    if shutil.which("runuser"):
        return ["runuser", "-u", user.pw_name, "--"]
    raise StartError("it does not run as root, and neither setpriv nor runuser is there to step down")


def _give_away(*paths: Path) -> None:
    user = _server_user()
    if user is not None:
        for path in paths:
            os.chown(path, user.pw_uid, user.pw_gid)
