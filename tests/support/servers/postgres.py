"""A private PostgreSQL server: Debian's binaries, a temporary directory, a Unix socket, no other users."""

import getpass
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
from support.clocks import wait_until

TIMEOUT = 60.0


def states(*choice: str) -> dict[int, str]:
    """The processes of a choice, as ``ps`` takes it, with the state of each: ``T...`` for one that stands still."""
    found = subprocess.run(
        ["ps", "-o", "pid=,stat=", *choice], capture_output=True, text=True, check=False
    )
    lines = [line.split() for line in found.stdout.splitlines()]
    return {int(process): state for process, state in lines}


def find_binaries() -> Path | None:
    """The folder with ``initdb``: Debian keeps it off the path."""
    found = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    on_path = shutil.which("initdb")
    if found:
        return found[-1].parent
    return Path(on_path).resolve().parent if on_path else None


class PostgresServer:
    """A server in a folder of its own; each ``url`` is a new, empty database.

    Unless it ``is_durable`` it doesn't wait for the disk: processes are killed here, and never the machine.
    """

    def __init__(self, binaries: Path, *, is_durable: bool = False) -> None:
        self._binaries = binaries
        self._is_durable = is_durable
        self._numbers = itertools.count(1)
        self.folder = Path(tempfile.mkdtemp(prefix="toolcarry-pg-"))
        self.user = getpass.getuser()
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:  # which the server refuses to run as
            self.user = "postgres"
            owner = pwd.getpwnam(self.user)
            os.chown(self.folder, owner.pw_uid, owner.pw_gid)
            self._as = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        self._run(
            "initdb", "-D", str(self.data), "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"
        )
        self.start()

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def process_id(self) -> int:
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def start(self) -> None:
        options = f"-k {self.folder} -c listen_addresses= -c max_connections=64"
        if not self._is_durable:
            options += " -c fsync=off"
        self._run(
            "pg_ctl",
            "-D",
            str(self.data),
            "-l",
            str(self.folder / "log"),
            "-w",
            "-o",
            options,
            "start",
        )

    def stop(self, mode: str = "immediate") -> None:
        self._run("pg_ctl", "-D", str(self.data), "-m", mode, "-w", "stop")

    def close(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self) -> str:
        """Return the URL of a new database."""
        name = f"history_{next(self._numbers)}"
        with self.connect("postgres") as connection:
            connection.execute(f"CREATE DATABASE {name}")  # a name of our own
        return f"postgresql://{self.user}@/{name}?host={self.folder}"

    def drop(self, url: str) -> None:
        """Drop the database of a URL: hundreds of them fill the disk and make the server slow to stop."""
        name = urlsplit(url).path.removeprefix("/")
        with suppress(psycopg.Error), self.connect("postgres") as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")

    def connect(self, database: str) -> "psycopg.Connection[Any]":
        """Open a connection for the test itself."""
        return psycopg.connect(
            dbname=database, user=self.user, host=str(self.folder), autocommit=True
        )

    def halt(self) -> None:
        """Suspend every process of the server."""
        self._signal(signal.SIGSTOP, is_standing=True)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT, is_standing=False)

    def _signal(self, number: int, *, is_standing: bool) -> None:
        """Send a signal to every process, the first one first, which starts the others, and wait until it has its effect."""
        server = str(self.process_id)
        for choice in (["-p", server], ["--ppid", server]):
            for process in states(*choice):
                with suppress(ProcessLookupError):
                    os.kill(process, number)
            wait_until(
                lambda choice=choice: all(
                    state.startswith("Z") or state.startswith("T") is is_standing
                    for state in states(*choice).values()
                ),
                what="PostgreSQL to stand still" if is_standing else "PostgreSQL to go on",
            )

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(
            [str(self._binaries / program), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            timeout=TIMEOUT,
            **self._as,
        )
