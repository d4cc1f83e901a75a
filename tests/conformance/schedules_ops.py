"""The vectors of the schedules that need no database: rules, records, edits, histories, arguments, older logs.

`drive` is in `drive_ops`: a pass of delivery needs a database.
"""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from apps.core.errors import SaysoError
from apps.schedules.rules.arguments import SCHEMAS, check_create, check_delete, check_update, fits_schema
from apps.schedules.rules.cron import canonical_expression, parse_expression
from apps.schedules.rules.decisions import decide as decided
from apps.schedules.rules.errors import DeliveryCursorNotFound, ScheduleEnded, ScheduleNotFound
from apps.schedules.rules.framing import Reminder, batch_message, single_message
from apps.schedules.rules.history import Delivery, History, Receipt, Retention, appended, history_of, page
from apps.schedules.rules.kinds import At, Record
from apps.schedules.rules.legacy import fold_events
from apps.schedules.rules.listing import catalog_json, state_of, view_json
from apps.schedules.rules.records import read_record, record_json
from apps.schedules.rules.requests import new_record
from apps.schedules.rules.tasks import Task, read_task
from apps.schedules.rules.updates import update_record
from apps.schedules.rules.values import format_instant, format_time, parse_instant, parse_time
from apps.schedules.rules.zone_names import canonical_zone

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
WORDS = {"title": "A title", "prompt": "A prompt"}


def instant(text):
    """Read any ISO text, years 0 and 10000 too, which the vectors use to leave the range."""
    year, rest = re.fullmatch(r"([+]?\d{4,6})(-.*)", text).groups()
    years = {0: 400, 10000: -400}.get(int(year), 0)
    found = datetime.fromisoformat(f"{int(year) + years:04d}{rest}") - EPOCH
    return found // timedelta(milliseconds=1) - years // 400 * 146_097 * 86_400_000


def now_of(given):
    return given["now_epoch_ms"] if "now_epoch_ms" in given else instant(given["now"])


def code_of(work):
    """Return the code and the message of the error that some work ends with."""
    with pytest.raises(SaysoError) as caught:
        work()
    assert caught.value.message
    return caught.value.own_code


def canonicalize_cron(given, expect):
    if isinstance(expect, str):
        fields = parse_expression(given["expression"])
        assert canonical_expression(fields) == expect
        assert parse_expression(expect) == fields
        return
    with pytest.raises(SaysoError) as caught:
        parse_expression(given["expression"])
    assert {"error": caught.value.own_code, "field": caught.value.extra.get("field")} == expect
    assert expect["field"] is None or expect["field"] in caught.value.message


def next_target(given, expect):
    texts = {name: given.get(name, word) for name, word in WORDS.items()}
    if "error" in expect:
        assert (
            code_of(lambda: new_record({**given["rule"], **texts}, record_id="t", now_ms=now_of(given)))
            == expect["error"]
        )
        return
    found = record_json(new_record({**given["rule"], **texts}, record_id="t", now_ms=now_of(given)))
    assert {name: found[name] for name in expect} == expect
    assert record_json(read_record(found)) == found


def stored_rule(given):
    """Return the stored members that a selector stands for; its zone is spelled as stored."""
    ((selector, value),) = given.items()
    if selector == "at":
        return {"kind": "at"}
    if selector in {"after_seconds", "every_seconds"}:
        kind = selector.removesuffix("_seconds")
        return {"kind": kind, f"{kind}Seconds": value}
    members = {"kind": selector, "timeZone": value["time_zone"]}
    if selector == "cron":
        return members | {"expression": canonical_expression(parse_expression(value["expression"]))}
    members["time"] = format_time(parse_time(value["time"]))
    return members | ({"weekdays": sorted(value["weekdays"])} if selector == "weekly" else {})


def decide(given, expect):
    stored = {"id": "t", **WORDS, **stored_rule(given["rule"]), "scheduledAt": given["scheduledAt"]}

    def work():
        return decided(read_record(stored), accepted_ms=instant(given["acceptedAt"]))

    if "error" in expect:
        assert code_of(work) == expect["error"]
        return
    found = work()
    following = None if found.next_ms is None else format_instant(found.next_ms)
    shown = {"occurrenceAt": format_instant(found.occurrence_ms), "nextScheduledAt": following}
    shown["status"] = "inactive" if following is None else "active"
    assert {name: shown[name] for name in expect} == expect


def update(given, expect):
    current = given["current"] if given.get("sameSession", True) else None
    request = {name: given[name] for name in ("expected", "change", "title", "prompt") if name in given}
    if request.get("expected") == "same":
        request["expected"] = current
    record = None if current is None else read_record(current)
    if "code" in expect:
        assert (
            code_of(lambda: update_record(record, status=given["status"], request=request, now_ms=now_of(given)))
            == (expect["code"])
        )
        # A miss says that nothing was updated; a fault of the input does not get that far.
        misses = ("schedule_not_found", "schedule_ended", "schedule_conflict")
        assert ("updated" in expect) == (expect["code"] in misses)
        return
    found = update_record(record, status=given["status"], request=request, now_ms=now_of(given))
    assert {"updated": found.updated, "record": record_json(found.record)} == expect


def history(given, expect):
    {"page": history_page, "append": history_append}[given["action"]](given, expect)


def receipt_of(given):
    times = {"scheduled_ms": parse_instant(given["scheduledAt"]), "delivered_ms": parse_instant(given["deliveredAt"])}
    return Receipt(message_id=given["messageId"], **times)


def generated(count):
    days = ("2026-09-15T00:00:01.000Z", "2026-09-14T00:00:01.000Z")
    scheduled = {"scheduledAt": "2026-09-15T00:00:00.000Z"}
    rows = [scheduled | {"messageId": f"m{n}", "prompt": f"p{n}", "deliveredAt": days[n % 2]} for n in range(count)]
    return {"records": rows, "earlierRecordsUnavailable": False}


def stored_history(task):
    given = generated(task["generate"]) if "generate" in task else task.get("deliveryHistory")
    last = receipt_of(task["lastDelivery"]) if "lastDelivery" in task else None
    if given is None:
        return history_of(None, last_delivery=last)
    rows = tuple(Delivery(receipt=receipt_of(row), prompt=row.get("prompt")) for row in given["records"])
    flags = given["earlierRecordsUnavailable"], given.get("earlierRecordsPruned", False)
    return History(deliveries=rows, earlier_unavailable=flags[0], earlier_pruned=flags[1])


def flags_of(found):
    return {"earlierRecordsUnavailable": found.earlier_unavailable, "earlierRecordsPruned": found.earlier_pruned}


def history_page(given, expect):
    task, request = given["task"], given["request"]
    known = None if task is None or request.get("sessionId", "s1") != task["sessionId"] else stored_history(task)

    def read():
        if known is None:
            page(History(), request={"limit": request.get("limit")})
            raise ScheduleNotFound
        return page(known, request=request)

    if "error" in expect or "code" in expect:
        code = code_of(read)
        misses = {ScheduleNotFound.code, DeliveryCursorNotFound.code}
        assert expect == {"code" if code in misses else "error": code}
        return
    found = read()
    shown = {"messageIds": [one.receipt.message_id for one in found.deliveries], **flags_of(found)}
    shown["retention"] = given["retention"]
    if found.next_before is not None:
        shown["nextBefore"] = found.next_before
    assert shown == expect


def history_append(given, expect):
    task = given["task"]
    delivery = Delivery(receipt=receipt_of(given["receipt"]), prompt=task["prompt"])
    found = appended(stored_history(task), delivery=delivery, retention=Retention(**given["bounds"]))
    last = found.deliveries[-1]
    shown = {"messageIds": [one.receipt.message_id for one in found.deliveries], **flags_of(found)}
    shown |= {"lastMessageId": last.receipt.message_id, "lastPrompt": last.prompt}
    assert {name: shown[name] for name in expect} == expect


def zone(given, expect):
    if "error" in expect:
        assert code_of(lambda: canonical_zone(given["time_zone"])) == expect["error"]
    else:
        assert canonical_zone(given["time_zone"]) == expect["timeZone"]
        assert canonical_zone(expect["timeZone"]) == expect["timeZone"]


def decode(given, expect):
    work = {
        "record": lambda: record_json(read_record(given["record"])) == given["record"],
        "task": lambda: read_task(given["task"], key=given.get("key")) is not None,
    }[next(name for name in ("record", "task") if name in given)]
    if "error" in expect:
        assert code_of(work) == expect["error"]
    else:
        assert expect == {"ok": work()}


def tool(given, expect):
    name, arguments = given["tool"], given["args"]
    if expect.get("schema_error"):
        assert not fits_schema(arguments, schema=SCHEMAS[name])
        return
    assert fits_schema(arguments, schema=SCHEMAS[name])
    answer = {"schedule_create": tool_create, "schedule_update": tool_update, "schedule_delete": tool_delete}[name]
    if "code" in expect:
        assert code_of(lambda: answer(arguments, given)) == expect["code"]
        misses = {"schedule_update": "updated", "schedule_delete": "deleted"}
        if "id" in expect:
            assert expect == {"id": arguments["id"], misses[name]: False, "code": expect["code"]}
        return
    assert answer(arguments, given) == expect["view"]


def tool_create(arguments, given):
    check_create(arguments)
    found = view_json(new_record(arguments, record_id="t", now_ms=now_of(given)), now_ms=now_of(given))
    return {name: value for name, value in found.items() if name != "id"}


def tool_update(arguments, given):
    request = check_update(arguments)
    tasks = {task.record.id: task for task in map(read_task, given.get("tasks", ()))}
    found = tasks.get(arguments["id"])
    if found is None:
        raise ScheduleNotFound
    if found.status != "active":
        raise ScheduleEnded
    request["expected"] = record_json(found.record)
    edited = update_record(found.record, status=found.status, request=request, now_ms=now_of(given))
    return {n: v for n, v in view_json(edited.record, now_ms=now_of(given)).items() if n != "id"}


def tool_delete(arguments, given):
    wanted = check_delete(arguments)
    if wanted not in {task["record"]["id"] for task in given.get("tasks", ())}:
        raise ScheduleNotFound
    return {"id": wanted, "deleted": True}


def view(given, expect):
    state = state_of(scheduled_ms=parse_instant(given["scheduledAt"]), now_ms=now_of(given))
    assert {"state": state, "deliveryMode": "host"} == expect


def frame(given, expect):
    """Compare the payload: the wording before it is ours, so each expected text must end a line."""
    rows = given["reminders"] if "reminders" in given else [given.get("reminder", given)]
    reminders = [
        Reminder(schedule_id=row["id"], occurrence_ms=parse_instant(row["occurrenceAt"]), prompt=row["prompt"])
        for row in rows
    ]
    text = single_message(*reminders) if given["kind"] == "single" else batch_message(reminders)
    lines = text.split("\n")
    assert len(lines) == expect["lineCount"]
    assert len(text.splitlines()) == len(lines)
    for name, payload in expect.items():
        if name != "lineCount":
            assert any(line.endswith(f" {payload}") for line in lines), (name, text)
    if given["kind"] == "batch":
        assert [row["schedule_id"] for row in json.loads(lines[2].partition(": ")[2])] == [row["id"] for row in rows]


def catalog(given, expect):
    tasks = [
        Task(
            session_id="s1",
            record=Record(
                id=entry["id"], title="T", prompt="P", rule=At(), scheduled_ms=parse_instant(entry["scheduledAt"])
            ),
            status=entry.get("status", "active"),
        )
        for entry in given["entries"]
    ]
    assert {"order": [entry["id"] for entry in catalog_json(tasks)]} == expect


def legacy(given, expect):
    def fold():
        return fold_events(given["events"], inherited=given["inheritedEventCount"])

    if "error" in expect:
        assert code_of(fold) == expect["error"]
        return
    found = fold()
    shown = {"active": [record.id for record in found.active], "seenIds": list(found.seen_ids)}
    shown["scheduledAt"] = {record.id: format_instant(record.scheduled_ms) for record in found.active}
    assert {name: shown[name] for name in expect} == expect


OPS = {
    "canonicalize_cron": canonicalize_cron,
    "catalog": catalog,
    "decide": decide,
    "decode": decode,
    "frame": frame,
    "history": history,
    "legacy": legacy,
    "next": next_target,
    "tool": tool,
    "update": update,
    "view": view,
    "zone": zone,
}
