"""The inbox of a session: dense numbers, one transaction with what put the message in, acknowledged once."""

import threading

import pytest
from django.db import connection, transaction

from apps.sessions.actions.inbox import Draft, acknowledge, acknowledge_in, put_message, put_messages
from apps.sessions.models import InboxMessage
from apps.sessions.queries.inbox import messages_of
from apps.sessions.rules import SessionNotFound
from apps.sessions.rules.hosts import MessageNotFound
from tests.sessions.place import NOW

PAYLOAD = {"prompt": "Water the ferns", "missed": 0}


def put(session, **payload):
    with transaction.atomic():
        return put_message(session=session, source="schedule", payload=payload or PAYLOAD, now_ms=NOW)


def spliced(message_id, *, seq=7, **source):
    data = {"id": message_id, "role": "user", "content": [], "source": {"kind": "schedule", **source}}
    return {"type": "user/message", "seq": seq, "time": NOW, "data": data, "surfaceOp": "append"}


class TestPutting:
    def test_numbers_the_messages_of_each_session_without_holes(self, place):
        one, two = place.session("s1"), place.session("s2")
        assert [put(one).number, put(one).number, put(two).number, put(one).number] == [1, 2, 1, 3]

    def test_of_many_keeps_their_order(self, place):
        one, two = place.session("s1"), place.session("s2")
        put(one)
        drafts = [
            Draft(session_id=row.pk, profile_id=row.profile_id, source="schedule", payload={"n": n})
            for n, row in enumerate([two, one, two, one])
        ]
        with transaction.atomic():
            found = put_messages(drafts=drafts, now_ms=NOW)
        assert [row.number for row in found] == [1, 2, 2, 3]
        assert list(InboxMessage.objects.filter(session=one).values_list("number", flat=True)) == [1, 2, 3]

    def test_goes_with_the_transaction_around_it(self, place):
        session = place.session()
        with transaction.atomic():
            put_message(session=session, source="schedule", payload=PAYLOAD, now_ms=NOW)
            transaction.set_rollback(True)
        assert not InboxMessage.objects.exists()
        assert put(session).number == 1

    def test_at_once_from_many_sides_leaves_no_hole(self, place):
        session = place.session()
        together = threading.Barrier(4)

        def several():
            together.wait()
            for _ in range(5):
                put(session)
            connection.close()

        threads = [threading.Thread(target=several) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        numbers = list(InboxMessage.objects.order_by("number").values_list("number", flat=True))
        assert numbers == list(range(1, 21))


class TestAcknowledging:
    def test_takes_the_number_or_the_id_and_stays_as_it_is(self, place):
        session = place.session()
        first, second = put(session), put(session)
        by = place.caller()
        assert acknowledge(by=by, ref="s1", key="1", now_ms=NOW + 5).acknowledged_ms == NOW + 5
        assert acknowledge(by=by, ref="s1", key=first.pk, now_ms=NOW + 9).acknowledged_ms == NOW + 5
        assert [row.pk for row in messages_of(session_id=session.pk, after=0, limit=10)] == [second.pk]

    @pytest.mark.parametrize("key", ["3", "0", "x", "", "a\x00b", "9" * 40, "\ud800"])
    def test_of_nothing_finds_nothing(self, place, key):
        put(place.session())
        with pytest.raises(MessageNotFound):
            acknowledge(by=place.caller(), ref="s1", key=key, now_ms=NOW)

    def test_of_another_session_s_message_finds_nothing(self, place):
        put(place.session("s1"))
        place.session("s2")
        message = InboxMessage.objects.get()
        with pytest.raises(MessageNotFound):
            acknowledge(by=place.caller(), ref="s2", key=message.pk, now_ms=NOW)
        with pytest.raises(SessionNotFound):
            acknowledge(by=place.caller("charlies"), ref="s1", key=message.pk, now_ms=NOW)

    def test_happens_by_appending_the_message_under_its_id(self, place):
        session = place.session()
        message, other = put(session), put(session)
        assert acknowledge_in(session=session, events=[spliced(message.pk)], now_ms=NOW + 1) == 1
        message.refresh_from_db()
        assert (message.acknowledged_ms, message.acknowledged_seq) == (NOW + 1, 7)
        assert acknowledge_in(session=session, events=[spliced("m-9", seq=9, messageId=other.pk)], now_ms=NOW) == 1
        assert messages_of(session_id=session.pk, after=0, limit=10) == []

    def test_happens_once_however_often_it_is_appended(self, place):
        session = place.session()
        message = put(session)
        assert (
            acknowledge_in(session=session, events=[spliced(message.pk), spliced(message.pk, seq=8)], now_ms=NOW) == 1
        )
        assert acknowledge_in(session=session, events=[spliced(message.pk, seq=9)], now_ms=NOW + 5) == 0
        message.refresh_from_db()
        assert message.acknowledged_seq == 7

    def test_needs_a_message_of_the_session_and_the_kind_schedule(self, place):
        one, two = place.session("s1"), place.session("s2")
        message = put(one)
        said = spliced(message.pk)
        said["data"]["source"] = {"kind": "user"}
        odd = [{"type": "user/message", "seq": 1, "data": None}, {"type": "user/message", "seq": 2}, said]
        assert acknowledge_in(session=one, events=odd, now_ms=NOW) == 0
        assert acknowledge_in(session=two, events=[spliced(message.pk)], now_ms=NOW) == 0


class TestOverHttp:
    def test_lists_what_waits_in_pages(self, place):
        session = place.session()
        ids = [put(session).pk for _ in range(3)]
        page = place.call("GET", "/api/sessions/s1/inbox?limit=2").json()
        assert ([one["id"] for one in page["messages"]], page["next"]) == (ids[:2], 2)
        assert page["messages"][0]["payload"] == PAYLOAD
        rest = place.call("GET", f"/api/sessions/s1/inbox?after={page['next']}").json()
        assert ([one["number"] for one in rest["messages"]], rest["next"]) == ([3], 3)
        assert place.call("GET", "/api/sessions/s1/inbox?after=3").json() == {"messages": [], "next": 3}

    def test_leaves_out_what_was_taken_in_unless_all_is_asked_for(self, place):
        session = place.session()
        put(session), put(session)
        answer = place.call("POST", "/api/sessions/s1/inbox/1/ack")
        assert (answer.status_code, answer.json()["acknowledged_ms"]) == (200, NOW)
        assert [one["number"] for one in place.call("GET", "/api/sessions/s1/inbox").json()["messages"]] == [2]
        everything = place.call("GET", "/api/sessions/s1/inbox?state=all").json()["messages"]
        assert [(one["number"], one["acknowledged_ms"]) for one in everything] == [(1, NOW), (2, None)]

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ("after=-1", "after"),
            ("after=x", "after"),
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("wait=301", "wait"),
            ("state=some", "state"),
            (f"after={'9' * 400}", "after"),
            ("after=1.5", "after"),
        ],
    )
    def test_names_the_member_that_cannot_be_used(self, place, query, field):
        place.session()
        answer = place.call("GET", f"/api/sessions/s1/inbox?{query}")
        assert (answer.status_code, answer.json()["field"]) == (400, field)

    def test_is_hidden_and_missing_alike_to_strangers(self, place):
        place.session()
        hidden = place.call("GET", "/api/sessions/s1/inbox", by="charlies")
        missing = place.call("GET", "/api/sessions/nothing/inbox", by="charlies")
        assert (hidden.status_code, hidden.json()) == (missing.status_code, missing.json()) == (404, missing.json())
