"""What `bench/calendar.py` compares with: a real Radicale, and what `recurring-ical-events` says of a calendar."""

from __future__ import annotations

import base64
import contextlib
import http.client
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import recurring_ical_events
from calendar_file import WEEK_START
from load import PYTHON, free_port, served

OWNER_ZONE = ZoneInfo("Europe/Berlin")
BEGIN = datetime.combine(WEEK_START, clock(), tzinfo=OWNER_ZONE)
END = BEGIN + timedelta(days=7)
COLLECTION = "/alice/bench/"
REPORT = """<?xml version="1.0" encoding="utf-8"?>
<C:calendar-query xmlns:D="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">
<D:prop><D:getetag/><C:calendar-data/></D:prop>
<C:filter><C:comp-filter name="VCALENDAR"><C:comp-filter name="VEVENT">
<C:time-range start="{0:%Y%m%dT%H%M%SZ}" end="{1:%Y%m%dT%H%M%SZ}"/>
</C:comp-filter></C:comp-filter></C:filter></C:calendar-query>"""
CONFIG = """[server]
hosts = 127.0.0.1:{port}
timeout = 600
[auth]
type = none
[rights]
type = owner_only
[storage]
filesystem_folder = {folder}
[logging]
level = error
[web]
type = none
"""
Row = tuple[str, int, int, str, bool]


class Radicale:
    """A client of a running Radicale."""

    def __init__(self, *, port: int, folder: Path) -> None:
        self.port, self.folder = port, folder

    def call(self, method: str, path: str, body: bytes, **headers: str) -> tuple[float, bytes]:
        """Send one request on a connection of its own and return seconds and the body of the answer."""
        line = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        word = base64.b64encode(b"alice:x").decode()
        begin = time.perf_counter()
        line.request(method, path, body, {"Authorization": f"Basic {word}", **headers})
        answer = line.getresponse()
        data = answer.read()
        took = time.perf_counter() - begin
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {data[:200]!r}")
        return took, data

    def fill(self, files: Iterable[str]) -> float:
        """Lay files into the collection as its storage keeps them; returns what the first REPORT needs for them."""
        target = self.folder / "collection-root" / COLLECTION.strip("/")
        target.mkdir(parents=True)
        (target / ".Radicale.props").write_text('{"tag": "VCALENDAR"}')
        for number, text in enumerate(files):
            (target / f"event-{number}.ics").write_text(text, newline="")
        return self.report()[0]

    def report(self) -> tuple[float, bytes]:
        """Ask for the week."""
        body = REPORT.format(BEGIN.astimezone(UTC), END.astimezone(UTC)).encode()
        return self.call("REPORT", COLLECTION, body, **{"Content-Type": "application/xml", "Depth": "1"})

    def put(self, name: str, text: str) -> float:
        """Write one event."""
        return self.call("PUT", f"{COLLECTION}{name}.ics", text.encode(), **{"Content-Type": "text/calendar"})[0]


@contextlib.contextmanager
def radicale() -> Iterator[Radicale]:
    """Run Radicale on an empty folder."""
    with tempfile.TemporaryDirectory(prefix="radicale-bench-") as folder:
        port, config = free_port(), Path(folder) / "config"
        config.write_text(CONFIG.format(port=port, folder=folder))
        with served([PYTHON, "-m", "radicale", "--config", str(config)], port):
            yield Radicale(port=port, folder=Path(folder))


def fresh_query(calendar: Any) -> Any:
    """Return a query over a calendar that was never asked."""
    return recurring_ical_events.of(calendar)


def week_of(query: Any) -> list[Any]:
    """Return the components of the week."""
    return list(query.between(BEGIN, END))


def peer_rows(found: list[Any]) -> list[Row]:
    """Return UID, instants, title and whether it is all-day of each occurrence, in order."""
    rows = []
    for each in found:
        start, end = each.start, each.end
        whole = not isinstance(start, datetime)
        rows.append((str(each["UID"]), _instant(start), _instant(end), str(each["SUMMARY"]), whole))
    return sorted(rows)


def _instant(value: date) -> int:
    if not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day, tzinfo=OWNER_ZONE)
    return int(value.timestamp() * 1000)
