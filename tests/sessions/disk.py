"""Homes on disk for tests, and the trees that must stay as they are."""

import hashlib
import os

from apps.sessions.rules.ids import segment
from apps.sessions.rules.log_reader import write_log

V4 = "session.v4.jsonl.zstd"


def header(name, **more):
    return {"version": 4, "id": name, "createdAt": 1_000, "isSeeded": False, "delegationDepth": 0, **more}


def put(root, name, events=(), *, project="--srv-a--", folder=None, file=V4, head=None, data=None):
    """Write a session's log as a host does and return its path."""
    path = root / project / (segment(name) if folder is None else folder) / file
    path.parent.mkdir(parents=True, exist_ok=True)
    if data is None:
        batches = [events] if events else []
        data = write_log(header=head or header(name), batches=batches, compressed=file.endswith(".zstd"))
    path.write_bytes(data)
    return path


def snapshot(root):
    """Return everything below a folder: names, kinds, modes, times and contents."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files, "."]:
            path = os.path.join(folder, name)
            about = os.lstat(path)
            content = ""
            if os.path.isfile(path) and not os.path.islink(path):
                with open(path, "rb") as file:
                    content = hashlib.sha256(file.read()).hexdigest()
            found[path] = (about.st_mode, about.st_mtime_ns, about.st_ctime_ns, about.st_size, content)
    return found
