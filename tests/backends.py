"""Run a command with PostgreSQL and Redis: `python tests/backends.py COMMAND…`.

DATABASE_URL and REDIS_URL are used when set. Else each service is started from the installed programs, in a folder that
is removed afterwards; else one that answers on loopback is used; else, as root on Debian, the programs are installed.
"""

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psycopg
import redis

START_SECONDS = 60


class ServiceMissing(Exception):
    """A service can be neither reached nor started."""


def postgres_answers(url: str) -> bool:
    try:
        psycopg.connect(url, connect_timeout=5).close()
    except psycopg.Error:
        return False
    return True


def redis_answers(url: str) -> bool:
    try:
        with redis.Redis.from_url(url, socket_connect_timeout=5) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(name: str) -> str:
    """Return the path of a program, also where Debian hides those of PostgreSQL; empty when there is none."""
    hidden = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return shutil.which(name) or next(map(str, hidden), "")


def install(package: str) -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"Installing Debian's {package} ...", file=sys.stderr, flush=True)
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", package]):
            subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=900, check=False)


@contextmanager
def process(command: list[str], *, ready: Callable[[], bool], user: str | None) -> Iterator[None]:
    """Run a server until the block ends; the block starts when the server answers."""
    server = subprocess.Popen(command, user=user, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + START_SECONDS
    try:
        while not ready():
            with suppress(subprocess.TimeoutExpired):
                server.wait(timeout=0.1)
            if server.returncode is not None or time.monotonic() > deadline:
                raise ServiceMissing(f"{command[0]} did not start.")
        yield
    finally:
        server.send_signal(signal.SIGINT)  # for PostgreSQL: break off what runs, then stop in order
        server.wait(timeout=START_SECONDS)


@contextmanager
def own_postgres(folder: Path) -> Iterator[str]:
    """Start a PostgreSQL that holds its data in `folder`; without fsync, since the folder is thrown away."""
    # PostgreSQL refuses to run as root; Debian's package brings the user postgres.
    user = "postgres" if os.geteuid() == 0 else None
    data, port = folder / "postgres", free_port()
    data.mkdir()
    if user:
        folder.chmod(0o755)
        shutil.chown(data, user)
    initialise = [
        program("initdb"),
        "-D",
        str(data),
        "-U",
        "postgres",
        "--auth=trust",
        "--no-sync",
        "-E",
        "UTF8",
        "--locale=C.UTF-8",
    ]
    subprocess.run(initialise, user=user, cwd="/", check=True, stdout=subprocess.DEVNULL)
    settings = {
        "listen_addresses": "127.0.0.1",
        "unix_socket_directories": str(data),
        "max_connections": "200",
        "fsync": "off",
    }
    command = [program("postgres"), "-D", str(data), "-p", str(port)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    url = f"postgres://postgres@127.0.0.1:{port}/postgres"
    with process(command, ready=lambda: postgres_answers(url), user=user):
        yield url


@contextmanager
def own_redis(folder: Path) -> Iterator[str]:
    """Start a Redis that keeps nothing."""
    port = free_port()
    command = [
        program("redis-server"),
        "--bind",
        "127.0.0.1",
        "--port",
        str(port),
        "--save",
        "",
        "--appendonly",
        "no",
        "--dir",
        str(folder),
    ]
    url = f"redis://127.0.0.1:{port}/0"
    with process(command, ready=lambda: redis_answers(url), user=None):
        yield url


@dataclass(frozen=True, kw_only=True)
class Service:
    """What a service is called, where it is looked for and how it is started."""

    title: str
    variable: str
    default: str
    package: str
    programs: tuple[str, ...]
    answers: Callable[[str], bool]
    start: Callable[[Path], AbstractContextManager[str]]

    @property
    def installed(self) -> bool:
        return all(map(program, self.programs))


SERVICES = (
    Service(
        title="PostgreSQL",
        variable="DATABASE_URL",
        default="postgres://postgres@127.0.0.1:5432/postgres",
        package="postgresql",
        programs=("initdb", "postgres"),
        answers=postgres_answers,
        start=own_postgres,
    ),
    Service(
        title="Redis",
        variable="REDIS_URL",
        default="redis://127.0.0.1:6379/0",
        package="redis-server",
        programs=("redis-server",),
        answers=redis_answers,
        start=own_redis,
    ),
)


def address(service: Service, *, folder: Path, stack: ExitStack) -> str:
    """Return the address of a running service; what was started stops with the stack."""
    if named := os.environ.get(service.variable):
        if service.answers(named):
            return named
        raise ServiceMissing(f"{service.variable} is set, but no {service.title} lets us in there.")
    if not service.installed:
        if service.answers(service.default):
            return service.default
        install(service.package)
    if not service.installed:
        raise ServiceMissing(
            f"These tests need {service.title}: set {service.variable}, or install the package {service.package}."
        )
    return stack.enter_context(service.start(folder))


def main(command: list[str]) -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sayso-services-")))
        urls = {service.variable: address(service, folder=folder, stack=stack) for service in SERVICES}
        print("Running with", ", ".join(f"{name}={url}" for name, url in urls.items()), flush=True)
        return subprocess.run(command, env={**os.environ, **urls}, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ServiceMissing as error:
        sys.exit(str(error))
