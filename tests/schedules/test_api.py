"""Schedules over REST: made, changed while they are what was read, listed, previewed, deleted by a person's word."""

import json

import pytest

from apps.core.dependents import dependents_of
from apps.ledger.models import LedgerEntry
from apps.schedules.models import Delivery, Receipt, Task, TaskEdit
from apps.sessions.models import InboxMessage, Session
from tests.calendars.test_hostile import NAMES, VALUES, check, with_value
from tests.schedules.house import DAILY, DAY_MS, HOUR_MS, HOURLY, NINE, NOW_MS, iso


class TestCreate:
    def test_the_answer_is_the_record(self, house):
        record = house.add(title="  Tea ", prompt=" Make tea ", **DAILY)
        assert record == {
            "id": record["id"],
            "kind": "daily",
            "title": "Tea",
            "prompt": "Make tea",
            "time": "09:00:00.000",
            "timeZone": "Europe/Berlin",
            "scheduledAt": iso(NINE),
        }
        assert record["id"].startswith("schedule-")

    @pytest.mark.parametrize(
        ("members", "code"),
        [
            ({**HOURLY, **DAILY}, "invalid_selector"),
            ({"title": " ", **HOURLY}, "invalid_prompt"),
            ({"options": {}}, "invalid_selector"),
            ({"every_seconds": 59}, "frequency_too_high"),
            ({"cron": {"expression": "0 0 30 2 *", "time_zone": "UTC"}}, "time_out_of_range"),
            ({"daily": {"time": "09:00:00", "time_zone": "Berlin"}}, "invalid_time_zone"),
            ({"at": "2020-01-01T00:00:00Z"}, "not_future"),
            ({**HOURLY, "options": {"missed": "all"}}, "invalid_rule"),
            ({**HOURLY, "options": {"until": "2026-11-30T08:30:00Z"}}, "time_out_of_range"),
            ({**HOURLY, "options": {"speed": 1}}, "invalid_rule"),
        ],
    )
    def test_what_cannot_be_is_refused_with_its_code(self, house, members, code):
        answer = house.add(status=400, **members)
        assert answer["code"] == code
        assert answer["field"]
        assert Task.objects.count() == 0

    def test_in_a_session_that_is_not_there(self, house):
        assert house.add(session="nowhere", status=404)["code"] == "session_not_found"

    def test_an_idempotency_key_makes_one(self, house):
        body = {"title": "A", "prompt": "B", **HOURLY}
        answers = [house.call("POST", house.path, body, status=201, **{"Idempotency-Key": "k"}) for _ in range(2)]
        assert answers[0] == answers[1]
        assert Task.objects.count() == 1


class TestChange:
    def test_a_new_timing_moves_the_target_and_is_noted_with_before_and_after(self, house):
        record = house.add()
        answer = house.patch(record, title="Sit down", change={"kind": "daily", **DAILY})
        assert answer["updated"]
        assert answer["record"]["scheduledAt"] == iso(NINE)
        made, edit = TaskEdit.objects.order_by("id")
        assert (made.action, made.before) == ("created", "")
        assert json.loads(edit.before)["record"] == record
        assert json.loads(edit.after)["record"] == answer["record"]
        assert edit.by == house.world.agent.ref
        actions = LedgerEntry.objects.filter(action__startswith="schedules.").order_by("seq")
        assert [one.action for one in actions] == ["schedules.created", "schedules.updated"]

    def test_the_same_again_changes_nothing(self, house):
        record = house.add()
        answer = house.patch(record, title=record["title"], change={"kind": "every", **HOURLY})
        assert answer == {"id": record["id"], "updated": False, "record": record, "options": answer["options"]}
        assert TaskEdit.objects.count() == 1

    def test_what_was_read_before_is_a_conflict(self, house):
        record = house.add()
        house.patch(record, title="Other")
        answer = house.patch(record, title="Mine", status=409)
        assert (answer["code"], answer["updated"], answer["id"]) == ("schedule_conflict", False, record["id"])
        assert house.read(record)["record"]["title"] == "Other"

    def test_a_delivery_meanwhile_is_a_conflict(self, house):
        record = house.add()
        house.at(NOW_MS + HOUR_MS)
        assert house.patch(record, title="Mine", status=409)["code"] == "schedule_conflict"

    def test_texts_need_what_was_expected_and_options_do_not(self, house):
        record = house.add()
        path = f"{house.path}/{record['id']}"
        assert house.call("PATCH", path, {"title": "New"}, status=400)["code"] == "invalid_rule"
        assert house.call("PATCH", path, {}, status=400)["code"] == "invalid_selector"
        answer = house.call("PATCH", path, {"options": {"missed": "each", "max_runs": 5}})
        assert answer["updated"]
        assert answer["options"] == {
            "missed": "each",
            "grace_s": 3600,
            "until": None,
            "max_runs": 5,
            "paused": False,
        }

    def test_what_ended_or_is_not_there(self, house):
        record = house.add(after_seconds=60)
        house.at(NOW_MS + HOUR_MS)
        answer = house.patch(record, title="New", status=409)
        assert (answer["code"], answer["updated"]) == ("schedule_ended", False)
        other = house.session("other")
        for path in (f"{house.path}/schedule-0", f"/api/sessions/{other}/schedules/{record['id']}"):
            assert house.call("PATCH", path, {"expected": record}, status=404)["code"] == "schedule_not_found"


class TestLists:
    def test_a_session_lists_its_active_ones_as_they_were_made(self, house):
        records = [house.add(title=title, **timing) for title, timing in (("A", DAILY), ("B", HOURLY))]
        ended = house.add(after_seconds=1)
        house.at(NOW_MS + 1000)
        found = house.call("GET", house.path)
        assert found["schedules"] == records
        assert ended["id"] not in found["beside"]

    def test_the_catalog_lists_all_by_their_targets(self, house):
        house.session("s2")
        later, soon = house.add(**DAILY), house.add(session="s2", **HOURLY)
        ended = house.add(after_seconds=1)
        house.at(NOW_MS + 1000)
        found = house.call("GET", "/api/schedules")
        assert [one["id"] for one in found["schedules"]] == [ended["id"], soon["id"], later["id"]]
        assert found["schedules"][0]["lastDelivery"]["deliveredAt"] == iso(NOW_MS + 1000)
        assert {name: found["schedules"][1][name] for name in ("sessionId", "status")} == {
            "sessionId": "s2",
            "status": "active",
        }
        assert found["next"] is None
        active = house.call("GET", "/api/schedules?status=inactive")
        assert [one["id"] for one in active["schedules"]] == [ended["id"]]

    def test_the_catalog_goes_on_page_by_page(self, house, monkeypatch):
        records = [house.add(every_seconds=60 + number) for number in range(5)]
        monkeypatch.setattr("apps.schedules.queries.tasks.CATALOG_PAGE", 2)
        seen, following = [], ""
        while following is not None:
            page = house.call("GET", f"/api/schedules?after={following}")
            seen += [one["id"] for one in page["schedules"]]
            following = page["next"]
        assert seen == [record["id"] for record in records]

    def test_a_restricted_workspace_shows_nothing_to_others(self, house):
        record = house.add()
        workspace = Session.objects.get(ref="s1").workspace
        workspace.restricted = True
        workspace.save()
        assert house.call("GET", "/api/schedules")["schedules"] == []
        house.call("GET", f"{house.path}/{record['id']}", status=404)
        house.call("DELETE", f"{house.path}/{record['id']}", status=404)


class TestPreview:
    def test_it_says_what_a_clock_change_does_and_stores_nothing(self, house):
        rule = {"daily": {"time": "02:30", "time_zone": "Europe/Berlin"}}
        assert house.call("POST", "/api/schedules/preview", rule, status=400)["code"] == "invalid_rule"
        rule["daily"]["time"] = "02:30:00"
        body = {**rule, "now": "2027-03-26T12:00:00.000Z", "count": 3}
        answer = house.call("POST", "/api/schedules/preview", body)
        assert answer["rule"] == {"kind": "daily", "time": "02:30:00.000", "timeZone": "Europe/Berlin"}
        assert [(one["local"], one["offset"]) for one in answer["occurrences"]] == [
            ("2027-03-27T02:30:00.000", "+01:00"),
            ("2027-03-29T02:30:00.000", "+02:00"),
            ("2027-03-30T02:30:00.000", "+02:00"),
        ]
        assert answer["occurrences"][1]["notes"] == [{"kind": "gap", "local": "2027-03-28T02:30:00.000"}]
        assert Task.objects.count() == 0

    @pytest.mark.parametrize("body", [{}, {**HOURLY, "count": 0}, {**HOURLY, "now": "yesterday"}, {**HOURLY, **DAILY}])
    def test_what_cannot_be_previewed_is_refused(self, house, body):
        assert "code" in house.call("POST", "/api/schedules/preview", body, status=400)


class TestDeletion:
    def test_a_person_ticks_and_everything_of_it_goes_but_what_was_sent(self, house):
        record, other = house.add(), house.add(title="Other")
        house.at(NOW_MS + HOUR_MS)
        path = f"{house.path}/{record['id']}"
        asked = house.call("DELETE", path, status=202, Prefer="wait=0")
        row = house.world.card(asked["confirmation_id"])
        facts = house.world.facts(row.pk)
        assert (facts["title"], facts["deliveries"], facts["session"]) == ("Stand up", 1, "s1")
        house.world.decide(row.pk)
        assert [task.ref for task in Task.objects.all()] == [other["id"]]
        assert set(Delivery.objects.values_list("task__ref", flat=True)) == {other["id"]}
        assert set(Receipt.objects.values_list("task__ref", flat=True)) == {other["id"]}
        assert InboxMessage.objects.count() == 1
        answer = house.call("DELETE", path, status=404)
        assert (answer["code"], answer["id"], answer["deleted"]) == ("schedule_not_found", record["id"], False)

    def test_deliveries_meanwhile_do_not_spoil_the_card_and_edits_do(self, house):
        record = house.add()
        path = f"{house.path}/{record['id']}"
        asked = house.call("DELETE", path, status=202, Prefer="wait=0")["confirmation_id"]
        house.at(NOW_MS + HOUR_MS)
        house.options(record, missed="each")
        assert house.world.decide(asked).state == "changed"
        again = house.call("DELETE", path, status=202, Prefer="wait=0")["confirmation_id"]
        house.at(NOW_MS + 2 * HOUR_MS)
        assert house.world.decide(again).state == "executed"

    def test_nobody_is_asked_about_what_is_not_there(self, house):
        answer = house.call("DELETE", f"{house.path}/schedule-0", status=404)
        assert (answer["code"], answer["deleted"]) == ("schedule_not_found", False)

    def test_old_records_are_purged_by_a_person_only(self, house, settings):
        settings.SAYSO_DELIVERY_HISTORY_RECORDS = 1
        record = house.add()
        path = f"{house.path}/{record['id']}/deliveries"
        house.at(NOW_MS + HOUR_MS)
        assert house.call("DELETE", path, status=404)["code"] == "nothing_to_purge"
        house.at(NOW_MS + 2 * HOUR_MS)
        asked = house.call("DELETE", path, status=202, Prefer="wait=0")["confirmation_id"]
        assert Delivery.objects.count() == 2
        house.world.decide(asked)
        assert [line.occurrence_ms for line in Delivery.objects.all()] == [NOW_MS + 2 * HOUR_MS]
        assert Receipt.objects.count() == 2


class TestSessions:
    def dependent(self, owner):
        return next(one for one in dependents_of(owner) if one.name == "schedules")

    def test_a_session_with_active_schedules_is_not_put_away(self, house):
        record, ended = house.add(), house.add(title="Once", after_seconds=1)
        session = Session.objects.get(ref="s1")
        one = self.dependent("archive")
        assert one.count(owner_id=session.pk) == 2
        assert "2" in one.refusal(owner_id=session.pk)
        house.at(NOW_MS + 1000)
        assert one.digest_part(owner_id=session.pk) == [{"id": record["id"], "label": "Stand up"}]
        house.call("POST", f"{house.path}/{record['id']}/skip")
        house.options(record, until=None, max_runs=1)
        house.at(NOW_MS + DAY_MS)
        assert one.refusal(owner_id=session.pk) == ""
        assert ended["id"] != record["id"]

    def test_schedules_go_with_their_session(self, house):
        house.session("s2")
        house.add()
        kept = house.add(session="s2")
        house.call("PUT", "/api/sessions/s1/webhook", {"url": "https://agent.example.org/"})
        house.at(NOW_MS + HOUR_MS)
        session = Session.objects.get(ref="s1")
        one = self.dependent("session")
        before = one.digest_part(owner_id=session.pk)
        assert one.count(owner_id=session.pk) == len(before) == 1
        assert one.remove(owner_id=session.pk, now_ms=NOW_MS) == 1
        assert [task.ref for task in Task.objects.all()] == [kept["id"]]


class TestRights:
    @pytest.mark.parametrize(
        ("method", "path", "scope"),
        [
            ("GET", "", "read"),
            ("POST", "", "write"),
            ("GET", "/schedule-0", "read"),
            ("PATCH", "/schedule-0", "write"),
            ("DELETE", "/schedule-0", "delete"),
            ("POST", "/schedule-0/run", "write"),
            ("POST", "/schedule-0/skip", "write"),
            ("GET", "/schedule-0/deliveries", "read"),
            ("DELETE", "/schedule-0/deliveries", "delete"),
        ],
    )
    def test_each_way_needs_its_scope(self, house, method, path, scope):
        from tests import factories

        user = factories.User.objects.get(username="alice")
        profile = factories.Profile.objects.get(name="default")
        scopes = [f"schedule.{one}" for one in ("read", "write", "delete") if one != scope]
        _, house.world.secret = factories.token(user, of=profile, scopes=scopes)
        answer = house.call(method, f"{house.path}{path}", {} if method != "GET" else None, status=403)
        assert answer["code"] == "permission_denied"

    def test_others_see_nothing(self, house):
        from tests import factories

        record = house.add()
        there = factories.profile("elsewhere")
        charlie = factories.person("charlie", elsewhere="owner")
        _, house.world.secret = factories.token(charlie, of=there)
        assert house.call("GET", "/api/schedules")["schedules"] == []
        for method in ("GET", "DELETE"):
            house.call(method, f"{house.path}/{record['id']}", status=404)


FIELDS = ("title", "prompt", "after_seconds", "at", "every_seconds", "daily", "weekly", "cron", "options")


@pytest.mark.parametrize("value", VALUES, ids=NAMES)
def test_whatever_stands_in_a_field_the_answer_names_it_or_takes_it(house, value):
    record = house.add()
    path = f"{house.path}/{record['id']}"
    for name in FIELDS:
        body = {"title": "T", "prompt": "P", **({} if name in FIELDS[2:-1] else HOURLY)}
        check(house.world.post(house.path, with_value(body, name, value)), name)
        if name in FIELDS[2:-1]:
            check(house.world.post("/api/schedules/preview", with_value({}, name, value)), name)
    for name in ("expected", "title", "prompt", "change", "options"):
        body = with_value({"expected": house.read(record)["record"]}, name, value)
        answer = house.world.client.patch(
            path, data=body, content_type="application/json", headers={"Authorization": f"Bearer {house.world.secret}"}
        )
        check(answer, name)
    for name in ("missed", "grace_s", "until", "max_runs", "paused"):
        inner = with_value({}, name, value)
        text = '{"title":"T","prompt":"P","every_seconds":3600,"options":' + inner + "}"
        check(house.world.post(house.path, text), name)
    for name in ("now", "count"):
        check(house.world.post("/api/schedules/preview", with_value(HOURLY, name, value)), name)
    for name in ("url", "enabled"):
        answer = house.world.client.put(
            "/api/sessions/s1/webhook",
            data=with_value({"url": "https://a.example.org/"}, name, value),
            content_type="application/json",
            headers={"Authorization": f"Bearer {house.world.secret}"},
        )
        check(answer, name)


@pytest.mark.parametrize(
    "query", ["", "limit=0", "limit=101", "limit=x", "limit=1e3", "limit=5&before=", "limit=5&before=%F0%9F"]
)
def test_of_queries(house, query):
    record = house.add()
    answer = house.world.call("GET", f"{house.path}/{record['id']}/deliveries?{query}")
    assert answer.status_code in (400, 404)
    assert answer.json()["code"] in ("invalid_rule", "delivery_cursor_not_found")


@pytest.mark.parametrize("ref", ["nothing", ".", "x" * 5000, "%00", "\N{PILE OF POO}", "%ED%A0%80"])
def test_of_ids(house, ref):
    for method, path in (("GET", ""), ("PATCH", ""), ("DELETE", ""), ("POST", "/run"), ("GET", "/deliveries?limit=1")):
        answer = house.world.call(method, f"{house.path}/{ref}{path}", {} if method in ("PATCH", "POST") else None)
        assert answer.status_code in (400, 404), answer.content
        answer = house.world.call(method, f"/api/sessions/{ref}/schedules/t{path}", {} if method == "PATCH" else None)
        assert answer.status_code in (400, 404), answer.content
