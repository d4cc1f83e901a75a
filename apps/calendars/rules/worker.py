"""Long work on iCalendar text in a process of its own: `python -m apps.calendars.rules.worker import|export|expand`.

The process has a bound on its processor time and memory. Standard input is a line of JSON with the options, then the
file (import) or one stored object a line. Standard output: a line of JSON about the file and one for each object; the
file; or a line for each occurrence.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
from dataclasses import asdict
from typing import Any, BinaryIO

from apps.calendars.rules.components import StoredObject
from apps.calendars.rules.filling import filled
from apps.calendars.rules.ics_parse import parse_calendar
from apps.calendars.rules.ics_write import export_calendar
from apps.calendars.rules.occurrences import earliest
from apps.calendars.rules.searching import Search

CPU_S = 60
MEMORY_OCTETS = 2 * 1024**3


def read_file(*, source: BinaryIO, target: BinaryIO) -> None:
    """Parse a file and reckon what is stored of each object."""
    options = json.loads(source.readline())
    parsed = parse_calendar(data=source.read(), owner_zone=options["owner_zone"])
    about: dict[str, Any] = {
        "error": parsed.error,
        "method": parsed.method,
        "name": parsed.name,
        "count": len(parsed.objects),
        "uids": [stored.uid for stored in parsed.objects],
    }
    for name in ("skipped", "warnings", "ignored", "cancellations"):
        about[name] = [asdict(each) for each in getattr(parsed, name)]
    target.write(json.dumps(about).encode() + b"\n")
    write = json.JSONEncoder(check_circular=False).encode
    for stored in parsed.objects:
        full = filled(stored, now_ms=options["now_ms"])
        line = {"uid": stored.uid, "kind": stored.kind, "columns": full.columns, "rows": full.rows}
        target.write(write(line).encode() + b"\n")


def write_file(*, source: BinaryIO, target: BinaryIO) -> None:
    """Write the objects as one file."""
    options = json.loads(source.readline())
    objects = (StoredObject(**json.loads(line)) for line in source)
    target.write(export_calendar(objects=objects, name=options["name"]))


def expand_objects(*, source: BinaryIO, target: BinaryIO) -> None:
    """Write the first occurrences of the objects in a window, each with its object's place."""
    options = json.loads(source.readline())
    found = earliest(
        objects=[StoredObject(**json.loads(line)) for line in source],
        window_start_ms=options["start_ms"],
        window_end_ms=options["end_ms"],
        limit=options["limit"],
        search=Search(text=options["text"], completed=options["completed"]),
    )
    target.writelines(json.dumps([place, asdict(each)]).encode() + b"\n" for place, each in found)


def main() -> None:
    """Do what the argument says, within bounds."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_OCTETS, MEMORY_OCTETS))
    # A short process with nothing to collect: looking for it takes a fourteenth of the time.
    gc.disable()
    work = {"import": read_file, "export": write_file, "expand": expand_objects}[sys.argv[1]]
    work(source=sys.stdin.buffer, target=sys.stdout.buffer)


if __name__ == "__main__":
    main()
