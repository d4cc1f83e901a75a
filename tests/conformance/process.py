"""A real server process of its own for the tests: started, talked to, stopped, killed and started again."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg

ROOT = Path(__file__).parent.parent.parent
START_SECONDS = 60
CALL_SECONDS = 60
SETTINGS = {"max_open": "SAYSO_MAX_OPEN", "denied_recently_s": "SAYSO_DENIED_RECENTLY_S"}


class ServerFailed(Exception):
    """The server process ended, or did not answer."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ServerProcess:
    """`python -m tests.conformance.server` on a port, a data folder and a database of its own."""

    def __init__(self, *, like: "ServerProcess | None" = None) -> None:
        """Prepare a folder; one `like` another begins with a copy of its (stopped or untouched) database."""
        self.folder = Path(tempfile.mkdtemp(prefix="sayso-server-"))
        self.port = free_port()
        self.log = self.folder / "log"
        self.environment = {
            **os.environ,
            "SAYSO_DATA_DIR": str(self.folder),
            "SAYSO_HOST": "127.0.0.1",
            "SAYSO_PORT": str(self.port),
            "SAYSO_LOG_LEVEL": "ERROR",
            "DJANGO_SETTINGS_MODULE": "project.settings",
        }
        for name in ("SAYSO_ORIGIN", "SAYSO_FAIL_AT", "SAYSO_TRUSTED_PROXY", *SETTINGS.values()):
            self.environment.pop(name, None)
        (self.folder / "static").mkdir()
        self.base_url = os.environ.get("DATABASE_URL", "")
        self.database = f"sayso_story_{secrets.token_hex(6)}"
        self._make_database(like)
        self.process: subprocess.Popen[bytes] | None = None
        self.channel: socket.socket | None = None
        self.unread = b""
        self.number = 0
        self.now_ms = 0
        self.log_read = 0

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start(self, *, now_ms: int, settings: dict[str, int] | None = None, fail_at: str = "") -> "ServerProcess":
        """Start and return once it serves."""
        ours, theirs = socket.socketpair()
        chosen = {SETTINGS[name]: str(value) for name, value in (settings or {}).items()}
        with theirs, self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.conformance.server",
                    "--control",
                    str(theirs.fileno()),
                    "--now",
                    str(now_ms),
                ],
                cwd=ROOT,
                env={**self.environment, **chosen, **({"SAYSO_FAIL_AT": fail_at} if fail_at else {})},
                pass_fds=[theirs.fileno()],
                stdout=log,
                stderr=log,
            )
        self.channel, self.unread, self.now_ms = ours, b"", now_ms
        ours.settimeout(START_SECONDS)
        line = b""
        while not line.endswith(b"\n") and (more := ours.recv(1)):
            line += more
        if line != b'{"ready":true}\n':
            raise ServerFailed(f"The server did not start.\n{self.log.read_text()}")
        ours.setblocking(False)
        return self

    async def call(self, do: str, **members: Any) -> Any:
        """Send a command over the control socket and return its answer."""
        if self.channel is None:
            raise ServerFailed("The server does not run.")
        self.number += 1
        loop = asyncio.get_running_loop()
        line = json.dumps({"do": do, "number": self.number, **members}).encode() + b"\n"
        try:
            async with asyncio.timeout(CALL_SECONDS):
                await loop.sock_sendall(self.channel, line)
                answer = await self._answer()
        except TimeoutError:
            raise ServerFailed(
                f"No answer to {do} {members} within {CALL_SECONDS} s.\n{self.log.read_text()}"
            ) from None
        except ConnectionError:
            raise ServerFailed(f"The server ended during {do}.") from None
        if "error" in answer:
            raise ServerFailed(f"{do} {members}\n{answer['error']}")
        return answer["answer"]

    async def _answer(self) -> dict[str, Any]:
        loop = asyncio.get_running_loop()
        while True:
            line, found, rest = self.unread.partition(b"\n")
            if found:
                self.unread = rest
                answer = json.loads(line)
                if answer["number"] == self.number:
                    return dict(answer)
                continue
            assert self.channel is not None
            more = await loop.sock_recv(self.channel, 2**16)
            if not more:
                raise ConnectionResetError
            self.unread += more

    async def advance(self, ms: int) -> None:
        """Move the clock through everything that is due."""
        self.now_ms = await self.call("advance", ms=ms)

    async def reset(self, now_ms: int) -> None:
        """Empty the database; the clock begins at this moment."""
        await self.call("reset", now_ms=now_ms)
        self.now_ms = now_ms

    async def end(self, how: str) -> int:
        """Stop the process in order or kill it; return once it is gone."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL if how == "kill" else signal.SIGTERM)
        return await self.gone()

    async def gone(self) -> int:
        """Wait for the process to end and return its exit status."""
        assert self.process is not None
        try:
            status = await asyncio.to_thread(self.process.wait, CALL_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise ServerFailed(f"The server did not end.\n{self.log.read_text()}") from None
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        return status

    def complaints(self) -> str:
        """Return what the server wrote to its log since the last look; nothing is what it should write."""
        text = self.log.read_bytes()[self.log_read :]
        self.log_read += len(text)
        lines = text.decode(errors="replace").splitlines(keepends=True)
        # Django notes every answer of 4xx.
        return "".join(line for line in lines if " WARNING django." not in line)

    def destroy(self) -> None:
        """End it and remove all that it kept."""
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        if self.channel is not None:
            self.channel.close()
            self.channel = None
        if self.base_url:
            self._administer(f'drop database if exists "{self.database}" with (force)')
        shutil.rmtree(self.folder, ignore_errors=True)

    def copy(self) -> "ServerProcess":
        """Return another one that begins with a copy of this one's database; this one must not be running."""
        assert not self.running
        return ServerProcess(like=self)

    def _make_database(self, like: "ServerProcess | None") -> None:
        if like is not None:
            shutil.copytree(like.folder / "keys", self.folder / "keys")
        if self.base_url:
            template = f' template "{like.database}"' if like else ""
            self._administer(f'create database "{self.database}"{template}')
            self.environment["DATABASE_URL"] = urlunsplit(urlsplit(self.base_url)._replace(path=f"/{self.database}"))
        elif like is not None:
            for path in like.folder.glob("sayso.sqlite3*"):
                shutil.copy(path, self.folder)

    def _administer(self, statement: str) -> None:
        with psycopg.connect(self.base_url, autocommit=True) as connection:
            connection.execute(statement)  # type: ignore[arg-type]
