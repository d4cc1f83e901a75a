"""Purging: the content goes everywhere, the place in the journal stays."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.db import IntegrityError, connection, transaction

from apps.captures.models import Refused, Scope, Source
from apps.confirmations.models import Confirmation
from apps.core.dependents import dependents_of
from apps.ledger.models import Receipt
from apps.sessions.models import Session
from tests import factories

SECRET = "Ana's code is QX4711ZV."


def captures_of_sessions():
    return next(one for one in dependents_of("session") if one.name == "captures")


class TestPurge:
    def test_leaves_a_tombstone_at_the_position(self, world):
        sha256 = world.capture() and Source.objects.get().payload_sha256
        world.capture("s:2")
        world.purge()
        tombstone = {
            "scope_id": "main",
            "source": {"source_type": "content", "source_id": "s:1"},
            "position": 1,
            "payload_sha256": sha256,
            "purged": {"by": world.made.owner.ref, "at_ms": 1_796_025_600_000},
        }
        assert world.listed()["sources"][0] == tombstone
        read = world.read()
        assert world.error(read) == (410, "source_purged")
        assert {name: value for name, value in read.json().items() if name != "error"} == tombstone
        again = world.post({"scope_id": "main", "source_id": "s:1", "content": "Ana prefers tea."})
        assert world.error(again) == (409, "source_purged")
        assert world.capture("s:3")["position"] == 3
        assert not Refused.objects.exists()

    def test_says_on_the_card_what_goes_and_what_rests_on_it(self, world):
        world.capture(content=SECRET + "x" * 3_000)
        world.post({"scope_id": "main", "source_id": "s:1", "content": "other"})
        facts = world.made.facts(world.ask_purge().json()["confirmation_id"])
        assert (facts["source_id"], facts["position"], facts["refused"]) == ("s:1", 1, 1)
        assert facts["text"].startswith(SECRET)
        assert (facts["characters"], facts["more"]) == (len(SECRET) + 3_000, len(SECRET) + 1_000)

    def test_takes_the_text_out_of_every_table(self, world):
        world.capture(content=SECRET, metadata={"note": SECRET})
        world.post({"scope_id": "main", "source_id": "s:1", "content": SECRET + "!"})
        denied = world.ask_purge().json()["confirmation_id"]
        world.made.decide(denied, "deny")
        # Another requester waits for a decision about the same capture.
        _, secret = factories.token(factories.person("dora", default="owner"), of=world.made.calendar.profile)
        waiting = world.ask_purge(Authorization=f"Bearer {secret}").json()["confirmation_id"]
        Confirmation.objects.filter(pk=denied).update(allowed_again=True)
        world.purge()
        tables = connection.introspection.table_names()
        with connection.cursor() as cursor:
            for table in tables:
                cursor.execute(f'select * from "{table}"')
                for row in cursor.fetchall():
                    assert "QX4711ZV" not in repr([bytes(v) if isinstance(v, memoryview) else v for v in row]), table
        row = world.made.decide(waiting)
        assert (row.state, row.code) == ("changed", "source_purged")
        receipt = json.loads(Receipt.objects.get().body)
        assert (receipt["shown"]["source_id"], "text" in receipt["shown"]) == ("s:1", False)
        assert receipt["outcome"]["purged"] is True

    def test_answers_what_was_done_to_a_repeat(self, world):
        world.capture()
        asked = world.ask_purge(**{"Idempotency-Key": "p1"})
        world.made.decide(asked.json()["confirmation_id"])
        repeat = world.ask_purge(**{"Idempotency-Key": "p1"})
        assert repeat.status_code == 200
        assert (repeat.json()["purged"], repeat.json()["position"]) == (True, 1)
        assert repeat.json()["receipt_id"]

    def test_is_asked_of_a_person_who_reads_the_purpose(self, world):
        world.capture()
        path = "/api/captures/sources/s:1?scope_id=main&purpose=Wrong%20person&expires_in_s=2"
        refused = world.made.call("DELETE", path, Prefer="wait=0")
        assert (refused.status_code, refused.json()["field"]) == (400, "expires_in_s")
        asked = world.made.call("DELETE", path.replace("=2", "=60"), Prefer="wait=0")
        assert (asked.status_code, asked.json()["status"]) == (202, "pending")
        assert world.made.card(asked.json()["confirmation_id"]).purpose == "Wrong person"

    def test_needs_the_right(self, world):
        world.capture()
        reader = factories.person("rita", default="decider")
        _, secret = factories.token(reader, of=world.made.calendar.profile, scopes=["capture.read", "capture.write"])
        refused = world.ask_purge(Authorization=f"Bearer {secret}")
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")


@pytest.mark.only_on("sqlite")
@pytest.mark.django_db(transaction=True)
def test_a_purge_leaves_nothing_in_the_file(clock):
    from tests.captures.world import CaptureWorld
    from tests.factories.calendars import make_world

    world = CaptureWorld(made=make_world())
    world.capture(content=SECRET * 1_000)
    world.capture("s:2", content="Another text. " * 1_000)
    file = Path(settings.DATABASES["default"]["NAME"])

    def found():
        with connection.cursor() as cursor:
            cursor.execute("pragma wal_checkpoint(truncate)")
        return b"QX4711ZV" in file.read_bytes()

    assert found()
    world.purge()
    assert not found()


class TestOfSession:
    @pytest.fixture
    def bound(self, world):
        """A token that stands for the session s1, and captures of it, of another and of none."""
        profile = world.made.calendar.profile
        dora = factories.person("dora", default="owner")
        for number, session in enumerate(("s1", "session-s1", "s2", "")):
            _, secret = factories.token(dora, of=profile, session=session)
            headers = {"Authorization": f"Bearer {secret}"}
            body = {"scope_id": f"A{number % 2}", "source_id": f"s:{number}", "content": SECRET}
            assert world.post(body, **headers).status_code == 201
        return Session.objects.get(ref="s1").pk

    def test_are_counted_and_go_with_it(self, world, bound):
        hanging = captures_of_sessions()
        assert hanging.count(owner_id=bound) == 2
        part = hanging.digest_part(owner_id=bound)
        assert part == sorted(Source.objects.filter(session="s1").values_list("pk", flat=True))
        assert hanging.refusal(owner_id=bound) == ""
        assert hanging.remove(owner_id=bound, now_ms=5, by="user:7") == 2
        gone = Source.objects.filter(payload=None).order_by("source_id")
        assert [(row.source_id, row.purged_by, row.purged_at_ms, row.session) for row in gone] == [
            ("s:0", "user:7", 5, ""),
            ("s:1", "user:7", 5, ""),
        ]
        assert hanging.count(owner_id=bound) == 0
        assert Source.objects.exclude(payload=None).count() == 2

    def test_are_those_of_one_copy_only(self, world, bound):
        from apps.accounts.models import Workspace

        other = Workspace.objects.create(profile=world.made.calendar.profile, slug="imported")
        copy = Session.objects.create(profile=other.profile, workspace=other, ref="session-s1", id="f" * 32)
        hanging = captures_of_sessions()
        assert [hanging.count(owner_id=one) for one in (bound, copy.pk)] == [2, 0]

    def test_a_session_that_is_gone_has_none(self, world, bound):
        assert captures_of_sessions().count(owner_id="nothing") == 0


class TestTables:
    @pytest.mark.parametrize(
        "change",
        [
            {"payload": None},
            {"purged_by": "user:1", "purged_at_ms": 1},
            {"payload": None, "purged_at_ms": 1, "metadata": ""},
            {"payload": None, "purged_by": "user:1", "purged_at_ms": 1},
            {"position": 0},
        ],
    )
    def test_hold_a_whole_source_or_a_whole_tombstone(self, world, change):
        world.capture()
        with pytest.raises(IntegrityError), transaction.atomic():
            Source.objects.update(**change)

    def test_hold_one_source_for_each_identity_and_position(self, world):
        world.capture()
        row = Source.objects.get()
        for change in ({"position": 2}, {"source_id": "s:2"}):
            with pytest.raises(IntegrityError), transaction.atomic():
                Source.objects.create(
                    **{
                        "profile": row.profile,
                        "scope": Scope.objects.get(),
                        "source_id": "s:1",
                        "position": 1,
                        "payload": b"{}",
                        "payload_sha256": "0" * 64,
                        "captured_by": "user:1",
                        **change,
                    }
                )
