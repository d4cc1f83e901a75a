"""Reading a host's home on disk: never writing there, never following a symbolic link."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from apps.core.errors import SaysoError
from apps.sessions.rules.log_frames import MAGIC
from apps.sessions.rules.log_names import parse_log_name, pick_log
from apps.sessions.rules.refusals import LogTooLarge

FILE_BYTES = 256 * 1024 * 1024
"""A larger file is refused before it is read."""
SESSIONS = "sessions"
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class NoHome(SaysoError):
    """There is no folder of sessions and no log at this place."""

    code = "no_home"
    status = 404


@dataclass(frozen=True, kw_only=True, slots=True)
class FoundLog:
    """One session's folder: its project folder, its own name, its log and the logs of earlier formats beside it."""

    root: Path
    project: str
    folder: str
    log: str
    older: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Skipped:
    """A place that was not read, and why."""

    path: str
    code: str


@dataclass(frozen=True, kw_only=True, slots=True)
class LogFile:
    """A log's bytes as they were at one moment."""

    data: bytes
    compressed: bool
    sha256: str


def sessions_root(path: Path) -> Path:
    """Return the folder of sessions that a path means: that of a home, or the path itself."""
    inner = path / SESSIONS
    if path.name != SESSIONS and inner.is_dir() and not inner.is_symlink():
        return inner
    if not path.is_dir():
        raise NoHome
    return path


def logs_in(root: Path) -> Iterator[FoundLog | Skipped]:
    """Give every session below a folder of sessions, in order; `<root>/<project>/<session>/<log>` and no deeper."""
    with _folder(root, follow=True) as top:
        for project, skipped in _folders(top, path=""):
            if skipped:
                yield skipped
                continue
            with _folder(project, within=top) as inside:
                yield from _sessions(inside, root=root, project=project)


def _sessions(inside: int, *, root: Path, project: str) -> Iterator[FoundLog | Skipped]:
    for folder, skipped in _folders(inside, path=project):
        if skipped:
            yield skipped
            continue
        with _folder(folder, within=inside) as own:
            names = []
            for name in sorted(os.listdir(own)):
                if parse_log_name(name) is None:
                    continue
                mode = _mode(name, inside=own)
                if stat.S_ISREG(mode):
                    names.append(name)
                elif mode:
                    yield Skipped(path=_shown(project, folder, name), code="not_a_file")
        log = pick_log(names)
        if log is not None:
            older = tuple(name for name in names if name != log)
            yield FoundLog(root=root, project=project, folder=folder, log=log, older=older)


def _folders(inside: int, *, path: str) -> Iterator[tuple[str, Skipped | None]]:
    """Give the names of the folders in a folder, and what is a symbolic link or may not be read as skipped."""
    for name in sorted(os.listdir(inside)):
        mode = _mode(name, inside=inside)
        if stat.S_ISLNK(mode):
            yield name, Skipped(path=_shown(path, name), code="symlink")
        elif stat.S_ISDIR(mode):
            readable = os.access(name, os.R_OK | os.X_OK, dir_fd=inside)
            yield name, None if readable else Skipped(path=_shown(path, name), code="not_readable")


def _mode(name: str, *, inside: int) -> int:
    """Return what kind of thing a name is, 0 when it is gone meanwhile."""
    try:
        return os.stat(name, dir_fd=inside, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return 0


def _shown(*parts: str) -> str:
    return "/".join(filter(None, parts)).encode("utf-8", "backslashreplace").decode()


@contextmanager
def _folder(name: str | Path, *, within: int | None = None, follow: bool = False) -> Iterator[int]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    handle = os.open(name, flags, dir_fd=within)
    try:
        yield handle
    finally:
        os.close(handle)


def read_found(found: FoundLog) -> LogFile:
    """Read a session's log as it is at this moment."""
    with (
        _folder(found.root, follow=True) as top,
        _folder(found.project, within=top) as project,
        _folder(found.folder, within=project) as own,
    ):
        data = _read(found.log, within=own)
    parsed = parse_log_name(found.log)
    return _log_file(data, compressed=parsed is not None and parsed.compressed)


def read_file(path: Path) -> LogFile:
    """Read a log that lies anywhere; its first bytes say whether it is compressed."""
    data = _read(path, within=None)
    return _log_file(data, compressed=data.startswith(MAGIC))


def _log_file(data: bytes, *, compressed: bool) -> LogFile:
    return LogFile(data=data, compressed=compressed, sha256=hashlib.sha256(data).hexdigest())


def _read(name: str | Path, *, within: int | None) -> bytes:
    handle = _opened(name, within=within)
    with os.fdopen(handle, "rb") as file:
        about = os.fstat(handle)
        if not stat.S_ISREG(about.st_mode):
            raise OSError(errno.EINVAL, "not a regular file", os.fspath(name))
        if about.st_size > FILE_BYTES:
            raise LogTooLarge
        # A host may be writing: what it appends meanwhile is left for the next time.
        return file.read(about.st_size)


def _opened(name: str | Path, *, within: int | None) -> int:
    """Open for reading without leaving a trace in the file's times, where the system allows that."""
    quiet = getattr(os, "O_NOATIME", 0)
    try:
        return os.open(name, _READ | quiet, dir_fd=within)
    except PermissionError:
        return os.open(name, _READ, dir_fd=within)
