"""Runs the iCalendar vectors: one case for each file, against any store that imports, lists, deletes and exports."""

import io
import json
import os
import resource
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Protocol

from apps.calendars.rules.alarms import Alarm
from apps.calendars.rules.components import Occurrence
from apps.calendars.rules.content_lines import unfold
from apps.calendars.rules.details import priority_level
from apps.calendars.rules.freebusy import BusyPeriod
from apps.calendars.rules.limits import CalendarRuleError
from apps.calendars.rules.worker import read_file

DAY_MS = 86_400_000
LAST_MIDNIGHT_MS = 253_402_300_800_000

FILE_KEYS = {
    "file", "kind", "bug", "owner_zone", "result", "error", "skipped", "warnings", "normative", "why", "queries",
    "library", "limits", "actions", "alternatives", "roundtrip", "busy_excludes", "stored_before", "creates", "note",
}  # fmt: skip
QUERY_KEYS = {
    "component", "window_start", "window_end", "window_start_ms", "window_end_ms", "occurrences", "limit_ms", "alarms",
    "sorted_by_priority", "busy", "note",
}  # fmt: skip
ACTION_KEYS = {
    "action", "uid", "recurrence_id", "occurrences_after", "expect_export_contains", "expect_error", "note",
}  # fmt: skip
LIMIT_KEYS = {"import_ms", "query_ms", "memory_mb"}
PLAIN_KEYS = {"start_ms", "end_ms", "all_day", "summary", "start", "end"}


@dataclass(kw_only=True)
class Report:
    """What an import said: `warnings` are codes, `skipped` pairs of summary and code."""

    error: str | None = None
    skipped: list[tuple[str, str]] = field(default_factory=list)
    warnings: set[str] = field(default_factory=set)


class Store(Protocol):
    """A calendar of one owner; times are instants in milliseconds."""

    def import_ics(self, data: bytes) -> Report: ...
    def occurrences(self, *, component: str, start_ms: int, end_ms: int) -> list[Occurrence]: ...
    def busy(self, *, start_ms: int, end_ms: int) -> list[BusyPeriod]: ...
    def alarms(self, *, start_ms: int, end_ms: int) -> list[Alarm]: ...
    def delete_occurrence(self, *, uid: str, slot: str) -> None: ...
    def delete_following(self, *, uid: str, slot: str) -> None: ...
    def delete_series(self, *, uid: str) -> None: ...
    def pending(self) -> list[dict[str, Any]]: ...
    def export(self) -> bytes: ...


MakeStore = Callable[[str], Store]


def cases(*, directory: Path, make_store: MakeStore) -> list[tuple[str, Callable[[], None]]]:
    """One case for each file of expected.json; its callable raises AssertionError for the first difference."""
    expected = json.loads((directory / "expected.json").read_text(encoding="utf-8"))
    return [(str(case["file"]), _runner(directory, case, make_store)) for case in expected["files"]]


def _runner(directory: Path, case: dict[str, Any], make_store: MakeStore) -> Callable[[], None]:
    def run() -> None:
        run_case(case=case, data=(directory / case["file"]).read_bytes(), make_store=make_store)

    return run


def _only_known(found: Iterable[str], known: set[str], what: str) -> None:
    unknown = set(found) - known
    assert not unknown, f"unknown {what}: {sorted(unknown)}"


def run_case(*, case: dict[str, Any], data: bytes, make_store: MakeStore) -> None:
    """Check everything that a file's expectation says."""
    _only_known(case, FILE_KEYS, "keys of a file")
    limits = case.get("limits", {})
    _only_known(limits, LIMIT_KEYS, "limits")
    before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    store, report = _fresh(case, data, make_store)
    _check_report(case, report)
    for query in case["queries"]:
        _check_query(store, query, limits.get("query_ms"))
    _check_pending(case, store)
    if "busy_excludes" in case:
        _check_busy_excludes(case, store)
    if "memory_mb" in limits:
        _read_here(case, data)
        used_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb) / 1024
        assert used_mb < limits["memory_mb"], f"{used_mb} MB"
    if case.get("roundtrip"):
        check_roundtrip(case=case, data=data, store=store, make_store=make_store)
    for action in case.get("actions", []):
        _check_action(case, action, data, make_store)


def _read_here(case: dict[str, Any], data: bytes) -> None:
    """Read the file as the room's worker does, but in this process, whose memory is measured."""
    options = json.dumps({"owner_zone": case["owner_zone"], "now_ms": 0}).encode()
    read_file(source=io.BytesIO(options + b"\n" + data), target=io.BytesIO())


def cpu_s() -> float:
    """Return the processor seconds of this process and of the workers that ended: what others do here counts not."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _fresh(case: dict[str, Any], data: bytes, make_store: MakeStore) -> tuple[Store, Report]:
    store = make_store(case["owner_zone"])
    if "stored_before" in case:
        assert store.import_ics(case["stored_before"].encode()).error is None
    begun = cpu_s()
    report = store.import_ics(data)
    took_ms = (cpu_s() - begun) * 1000
    limit = case.get("limits", {}).get("import_ms")
    assert limit is None or took_ms < limit, f"import took {took_ms:.0f} ms"
    return store, report


def _check_report(case: dict[str, Any], report: Report) -> None:
    assert report.error == case["error"]
    assert sorted(report.skipped) == sorted((each["summary"], each["code"]) for each in case["skipped"])
    for each in case["skipped"]:
        _only_known(each, {"summary", "code"}, "keys of a skipped component")
    assert sorted(report.warnings) == sorted(set(case["warnings"]))
    result = "error" if report.error else "partial" if report.skipped else "ok"
    assert result == case["result"]


def _check_query(store: Store, query: dict[str, Any], limit_ms: int | None) -> None:
    _only_known(query, QUERY_KEYS, "keys of a query")
    start_ms, end_ms = query["window_start_ms"], query["window_end_ms"]
    assert start_ms == _instant(query["window_start"])
    assert end_ms == _instant(query["window_end"])
    begun = cpu_s()
    found = store.occurrences(component=query["component"], start_ms=start_ms, end_ms=end_ms)
    took_ms = (cpu_s() - begun) * 1000
    limits = [limit for limit in (limit_ms, query.get("limit_ms")) if limit is not None]
    assert all(took_ms < limit for limit in limits), f"query took {took_ms:.0f} ms"
    _check_occurrences(found, query["occurrences"])
    if "busy" in query:
        periods = store.busy(start_ms=start_ms, end_ms=end_ms)
        got = [{"start": _text(p.start_ms), "end": _text(p.end_ms), "fbtype": p.fbtype} for p in periods]
        assert got == query["busy"]
    if "alarms" in query:
        alarms = [alarm.at_ms for alarm in store.alarms(start_ms=start_ms, end_ms=end_ms)]
        for each in query["alarms"]:
            _only_known(each, {"at", "at_ms"}, "keys of an alarm")
            assert each["at_ms"] == _instant(each["at"])
        assert [{"at": _text(at), "at_ms": at} for at in alarms] == query["alarms"]
    if "sorted_by_priority" in query:
        ordered = sorted(found, key=lambda o: (o.priority == 0, o.priority))
        assert [o.title for o in ordered] == query["sorted_by_priority"]


def _check_occurrences(found: list[Occurrence], expected: list[dict[str, Any]]) -> None:
    got = [_wire(occurrence) for occurrence in found]
    order = [_order(each) for each in got]
    plain = sorted(({k: each[k] for k in PLAIN_KEYS} for each in got), key=_order)
    assert plain == sorted(({k: each[k] for k in PLAIN_KEYS} for each in expected), key=_order)
    assert [key[0] for key in order] == [_order(each)[0] for each in expected], "not in order of start"
    for ours, theirs in zip(sorted(got, key=_order), sorted(expected, key=_order), strict=True):
        _only_known(theirs, set(ours), "keys of an occurrence")
        assert {key: ours[key] for key in theirs} == theirs


def _order(each: dict[str, Any]) -> tuple[int, int, str]:
    start, end = each["start_ms"], each["end_ms"]
    return start if start is not None else end or 0, end or 0, each["summary"]


def _wire(occurrence: Occurrence) -> dict[str, Any]:
    """An occurrence in the form of expected.json."""
    start, start_ms = _moment(occurrence.start_date, occurrence.start_ms)
    end, end_ms = _moment(occurrence.end_date, occurrence.end_ms)
    return {
        "start_ms": start_ms,
        "end_ms": end_ms,
        "all_day": occurrence.all_day,
        "summary": occurrence.title,
        "start": start,
        "end": end,
        "uid": occurrence.uid,
        "description": occurrence.notes,
        "location": occurrence.location,
        "categories": list(occurrence.categories),
        "status": occurrence.status,
        "transp": "TRANSPARENT" if occurrence.transparent else "OPAQUE",
        "priority": occurrence.priority,
        "level": priority_level(occurrence.priority),
        "alarm_count": occurrence.alarms,
        "attendee_count": occurrence.attendees,
        "recurrence_id": occurrence.slot,
        "completed": occurrence.completed,
        "completed_ms": occurrence.completed_ms,
    }


def _moment(day: str | None, instant_ms: int | None) -> tuple[str | None, int | None]:
    """A date with its UTC midnight, or an instant with its text."""
    if day is not None:
        return day, _date_ms(day)
    return (_text(instant_ms), instant_ms) if instant_ms is not None else (None, None)


def _check_pending(case: dict[str, Any], store: Store) -> None:
    if "creates" in case:
        assert store.pending() == case["creates"]
    else:
        assert store.pending() == []


def _check_busy_excludes(case: dict[str, Any], store: Store) -> None:
    query = case["queries"][0]
    periods = store.busy(start_ms=query["window_start_ms"], end_ms=query["window_end_ms"])
    assert periods, "nothing is busy at all"
    for text in case["busy_excludes"]:
        at = _instant(text)
        assert not [period for period in periods if period.start_ms <= at < period.end_ms]


def check_roundtrip(*, case: dict[str, Any], data: bytes, store: Store, make_store: MakeStore) -> None:
    """Export gives the component lines back as they came, and importing the export gives the same occurrences."""
    exported = store.export()
    check_form(exported)
    assert _component_lines(exported) == _component_lines(data)
    again = make_store(case["owner_zone"])
    assert again.import_ics(exported).error is None
    for query in case["queries"]:
        _check_query(again, query, None)


def check_form(exported: bytes) -> None:
    """CRLF only, at most 75 octets a line, UTF-8."""
    exported.decode("utf-8")
    lines = exported.split(b"\r\n")
    assert lines[-1] == b""
    assert not [line for line in lines if b"\n" in line or b"\r" in line or len(line) > 75]


def _component_lines(data: bytes) -> list[list[str]]:
    """Unfolded lines of each VEVENT and VTODO, whatever the order of the components."""
    found: list[list[str]] = []
    inside = ""
    for line in unfold(data.decode("utf-8")).replace("\r\n", "\n").split("\n"):
        if line in ("BEGIN:VEVENT", "BEGIN:VTODO"):
            inside = line
            found.append([])
        if inside and line:
            found[-1].append(line)
        if inside and line == inside.replace("BEGIN", "END"):
            inside = ""
    return sorted(found)


def _check_action(case: dict[str, Any], action: dict[str, Any], data: bytes, make_store: MakeStore) -> None:
    _only_known(action, ACTION_KEYS, "keys of an action")
    store, _ = _fresh(case, data, make_store)
    sequence = _sequence(store.export(), action["uid"])
    code = None
    try:
        match action["action"]:
            case "delete_occurrence":
                store.delete_occurrence(uid=action["uid"], slot=action["recurrence_id"])
            case "delete_following" | "delete_this_and_future":
                store.delete_following(uid=action["uid"], slot=action["recurrence_id"])
            case "delete_series":
                store.delete_series(uid=action["uid"])
            case unknown:
                raise AssertionError(f"unknown action: {unknown}")
    except CalendarRuleError as error:
        code = error.code
    assert code == action.get("expect_error")
    exported = store.export()
    check_form(exported)
    if "expect_export_contains" in action:
        wanted = action["expect_export_contains"]
        text = unfold(exported.decode("utf-8")).split("\r\n")
        for each in [wanted] if isinstance(wanted, str) else wanted:
            assert [line for line in text if each in line], f"not exported: {each}"
    if code is not None:
        assert _sequence(exported, action["uid"]) == sequence
    elif action["action"] != "delete_series" and f"UID:{action['uid']}".encode() in exported:
        assert _sequence(exported, action["uid"]) >= sequence
    again = make_store(case["owner_zone"])
    again.import_ics(exported)
    query = case["queries"][0]
    if "occurrences_after" in action:
        for each in (store, again):
            found = each.occurrences(
                component=query["component"], start_ms=query["window_start_ms"], end_ms=query["window_end_ms"]
            )
            _check_occurrences(found, action["occurrences_after"])


def _sequence(exported: bytes, uid: str) -> int:
    """SEQUENCE of the first component with that UID, -1 when there is none."""
    component: list[str] = []
    for line in unfold(exported.decode("utf-8")).split("\r\n"):
        if line in ("BEGIN:VEVENT", "BEGIN:VTODO"):
            component = []
        component.append(line)
        if line in ("END:VEVENT", "END:VTODO") and f"UID:{uid}" in component:
            return next((int(each[9:]) for each in component if each.startswith("SEQUENCE:")), 0)
    return -1


def _instant(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def _date_ms(text: str) -> int:
    if text == "+10000-01-01":
        return LAST_MIDNIGHT_MS
    return (date.fromisoformat(text) - date(1970, 1, 1)).days * DAY_MS


def _text(instant_ms: int) -> str:
    return datetime.fromtimestamp(instant_ms / 1000, tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
