"""What the benchmarks share: server processes, a lean HTTP client, figures."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PYTHON = sys.executable


def free_port() -> int:
    """Return a port that is free at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes], timeout_s: float = 60) -> None:
    """Return once something listens; raise when the process ends first."""
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError("the server does not listen")


@contextlib.contextmanager
def served(command: list[str], port: int, env: dict[str, str] | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server process for a while."""
    process = subprocess.Popen(command, env={**os.environ, **(env or {})}, cwd=ROOT, stdout=subprocess.DEVNULL)
    try:
        wait_for_port(port, process)
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()


@contextlib.contextmanager
def peer(module: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    """Run an application of `bench/peers` on Daphne."""
    port = free_port()
    with served([PYTHON, str(ROOT / "bench/peers/run_daphne.py"), module, str(port)], port) as process:
        yield port, process


@contextlib.contextmanager
def sayso(fill: str, **options: Any) -> Iterator[tuple[int, subprocess.Popen[bytes], dict[str, Any]]]:
    """Run Sayso on a fresh database that `bench/fill.py NAME` filled; yields port, process and the fill's facts."""
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        port = free_port()
        env = {"SAYSO_DATA_DIR": folder, "SAYSO_PORT": str(port), "DJANGO_SETTINGS_MODULE": "project.settings"}
        command = [PYTHON, str(ROOT / "bench/fill.py"), fill, json.dumps(options)]
        done = subprocess.run(command, env={**os.environ, **env}, cwd=ROOT, stdout=subprocess.PIPE, check=True)
        facts = json.loads(done.stdout.splitlines()[-1])
        with served([PYTHON, "manage.py", "serve"], port, env) as process:
            yield port, process, {**facts, "folder": folder, "env": env}


class Line(asyncio.Protocol):
    """One keep-alive HTTP connection: bytes out, one response in; as little work as possible."""

    def __init__(self) -> None:
        """Begin without a request."""
        self.buffer = b""
        self.answer: asyncio.Future[tuple[int, bytes]] | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: Any) -> None:
        """Keep the transport."""
        self.transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        """Fail the request that is under way."""
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ConnectionError("closed"))

    def data_received(self, data: bytes) -> None:
        """Complete the answer when the response is whole."""
        self.buffer += data
        head_end = self.buffer.find(b"\r\n\r\n")
        if head_end < 0:
            return
        head, body = self.buffer[:head_end].lower(), self.buffer[head_end + 4 :]
        if b"transfer-encoding: chunked" in head:
            if not body.endswith(b"0\r\n\r\n"):
                return
        else:
            at = head.find(b"content-length:")
            if at >= 0 and len(body) < int(head[at + 15 :].split(b"\r\n", 1)[0]):
                return
        status = int(self.buffer[9:12])
        self.buffer = b""
        if self.answer is not None and not self.answer.done():
            self.answer.set_result((status, body))

    def send(self, request: bytes) -> asyncio.Future[tuple[int, bytes]]:
        """Send a request and return the future of status and raw body."""
        self.answer = asyncio.get_running_loop().create_future()
        assert self.transport is not None
        self.transport.write(request)
        return self.answer


async def connect(port: int) -> Line:
    """Open one connection."""
    _, line = await asyncio.get_running_loop().create_connection(Line, "127.0.0.1", port)
    return line


def request_bytes(method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> bytes:
    """Return a whole HTTP/1.1 request."""
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Content-Length: {len(data)}"]
    if data:
        lines.append("Content-Type: application/json")
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + data


def memory_kib(pid: int) -> int:
    """Return the resident memory of a process in KiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def threads(pid: int) -> int:
    """Return how many threads a process has."""
    return len(list(Path(f"/proc/{pid}/task").iterdir()))


def median_ms(values: list[float]) -> float:
    """Return the median of seconds, in milliseconds."""
    return statistics.median(values) * 1000
