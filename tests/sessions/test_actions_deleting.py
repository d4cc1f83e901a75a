"""Deleting a session: what goes with it, what stays, what keeps it from going, and what is remembered."""

import json

import pytest
from django.db import connection

from apps.accounts.models import AccessToken
from apps.confirmations import actions as gate
from apps.confirmations.models import Confirmation
from apps.core import dependents
from apps.ledger.models import IdempotencyKey, LedgerEntry, Receipt
from apps.sessions.actions import hosts
from apps.sessions.actions.leases import take_lease
from apps.sessions.actions.runs import end_run, start_run
from apps.sessions.actions.shelving import archive_session, pin_session
from apps.sessions.models import (
    ArchivedSession,
    CachedListing,
    DeletedSession,
    PinnedSession,
    Run,
    Session,
    SessionEvent,
    WorkspaceEntry,
)
from apps.sessions.rules import SessionGone
from apps.sessions.rules.ids import id_hash
from apps.sessions.rules.import_report import DeletedHere
from apps.sessions.rules.refusals import SessionLive, TargetNotFound
from tests import factories
from tests.sessions.deciding import Desk
from tests.sessions.place import NOW

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def desk(place):
    return Desk(place)


@pytest.fixture
def family(desk):
    """A session with a subagent and its own, a fork, and a stranger."""
    desk.session("s2", turns=3, title="Holiday plans")
    desk.session("kid", turns=1, parent="s2", origin="subagent")
    desk.session("grandkid", parent="session-kid", origin="subagent")
    desk.session("fork", turns=1, parent="s2")
    desk.session("other", turns=1)
    return desk


def refs():
    return sorted(Session.objects.values_list("ref", flat=True))


class TestWhatGoes:
    def test_the_card_counts_what_the_deletion_takes_and_what_it_leaves(self, family):
        facts = json.loads(family.gate.row(family.ask(session="s2")).facts)
        assert facts["session"] == "s2"
        assert facts["title"] == "Holiday plans"
        assert (facts["goes"], facts["descendants"]) == (3, ["kid", "grandkid"])
        assert (facts["forks"], facts["forks_stay"]) == (["fork"], 1)
        assert (facts["turns"], facts["events"]) == (3, 24)
        assert (facts["copies"], facts["running"], facts["files"], facts["inbox"]) == (["default/s2"], 0, 0, 0)

    def test_the_session_and_its_subagents_go_and_everybody_else_stays(self, family):
        row = family.tick(family.ask(session="s2"))
        assert row.state == "executed"
        assert refs() == ["fork", "other"]
        assert SessionEvent.objects.exclude(session__ref__in=["fork", "other"]).count() == 0
        assert list(WorkspaceEntry.objects.values_list("spelling", flat=True)) == ["fork", "other"]

    def test_both_spellings_go_wherever_they_are_stored_or_listed(self, desk):
        desk.session("session-7", turns=1)
        stray = desk.place.copy("7", slug="--desk--")
        archive_session(by=desk.place.owner, ref="session-7", now_ms=NOW)
        pin_session(by=desk.place.owner, ref="session-7", now_ms=NOW)
        CachedListing.objects.create(profile=desk.place.profile, spelling="7")
        row = desk.tick(desk.ask(session="7"))
        parts = gate_parts(row)
        assert refs() == []
        assert parts["removed"] == ["--desk--/7", "default/session-7"]
        assert parts["warnings"] == [
            {"code": "unreadable_headers", "count": 1, "message": parts["warnings"][0]["message"]}
        ]
        assert [parts["workspace"][name] for name in ("detached", "unarchived", "unpinned")] == [True, True, True]
        assert parts["projectionCache"]["removed"] == ["7"]
        assert (ArchivedSession.objects.count(), PinnedSession.objects.count()) == (0, 0)
        assert not SessionEvent.objects.filter(session_id=stray.pk).exists()

    def test_what_hangs_on_it_in_other_rooms_goes_before_it(self, family, monkeypatch):
        gone = []
        kind = dependents.Dependent(
            owner="session",
            name="schedules",
            count=lambda owner_id: 2,
            digest_part=lambda owner_id: owner_id,
            refusal=lambda owner_id: "",
            remove=lambda owner_id, now_ms, by: gone.append(Session.objects.get(pk=owner_id).ref) or 1,
        )
        monkeypatch.setattr(dependents, "_dependents", [kind])
        outcome = family.ask(session="s2")
        assert json.loads(family.gate.row(outcome).facts)["hanging"] == {"schedules": 6}
        assert family.tick(outcome).state == "executed"
        assert gone == ["s2", "kid", "grandkid"]

    def test_many_generations_and_a_circle_end(self, desk):
        for number in range(30):
            desk.session(f"g{number}", parent=f"g{number - 1}" if number else "g29", origin="subagent")
        row = desk.tick(desk.ask(session="g3"))
        assert len(gate_parts(row)["descendants"]) == 29
        assert refs() == []


class TestWhatIsKept:
    def test_the_receipt_tells_counts_and_ids_but_no_title_and_no_text(self, family):
        row = family.tick(family.ask(session="session-s2", purpose="It is about Holiday plans"))
        body = Receipt.objects.get(pk=row.receipt_id).body
        receipt = json.loads(body)
        assert receipt["outcome"]["sessionId"] == "session-s2"
        assert receipt["outcome"]["descendants"] == ["kid", "grandkid"]
        assert receipt["shown"]["goes"] == 3
        assert receipt["decider"]["label"] == "alice"
        assert receipt["target"]["id"] == id_hash(profile_id=row.profile_id, ref="s2")
        assert "Holiday" not in body
        assert "ask of" not in body

    def test_the_confirmation_itself_keeps_only_counts_and_its_parts_are_in_the_receipt(self, family):
        row = family.tick(family.ask(session="s2", purpose="Holiday"))
        assert (row.arguments, row.outcome, row.purpose) == ("{}", "{}", "")
        kept = json.loads(row.facts)
        assert kept["goes"] == 3
        assert not {"session", "title", "descendants", "copies", "forks"} & kept.keys()
        assert gate_parts(row)["descendants"] == ["kid", "grandkid"]

    def test_the_ledger_names_it_by_a_hash(self, family):
        family.tick(family.ask(session="s2", ids={"session": "s2"}))
        for entry in LedgerEntry.objects.all():
            assert "s2" not in entry.target
            assert '"s2"' not in entry.ids

    def test_the_same_key_leads_to_the_same_receipt_afterwards(self, family):
        first = family.ask(session="s2", key="k1")
        row = family.tick(first)
        again = family.ask(session="s2", key="k1")
        assert (again.confirmation_id, again.receipt_id, again.state) == (row.pk, row.receipt_id, "executed")
        assert again.parts["descendants"] == ["kid", "grandkid"]


class TestWhatIsForgotten:
    def test_earlier_cards_about_it_keep_no_more_than_counts(self, family):
        denied = family.tick(family.ask(session="kid", purpose="the kid talks of Lisbon"), decision="deny")
        removed = family.tick(family.ask_turn("s2", "a2"))
        waiting = family.ask_turn("s2", "a3")
        assert "a2" in removed.arguments
        family.tick(family.ask(session="s2"))
        rows = {row.pk: row for row in Confirmation.objects.all()}
        for pk in (denied.pk, removed.pk, waiting.confirmation_id):
            row = rows[pk]
            assert row.arguments == "{}"
            assert row.purpose == ""
            assert not {"session", "title", "question", "reply"} & json.loads(row.facts).keys()
        assert rows[waiting.confirmation_id].state == "changed"
        assert rows[denied.pk].state == "denied"

    def test_what_was_asked_in_its_name_is_withdrawn_and_names_it_no_more(self, family):
        asked = family.ask(session="other", ids={"session": "session-s2"}, purpose="said in s2")
        kept = family.ask(session="fork", ids={"session": "other"}, by=family.place.caller("other"))
        family.tick(family.ask(session="s2"))
        row = family.gate.row(asked)
        assert (row.state, row.ids, row.purpose) == ("withdrawn", "{}", "")
        assert json.loads(row.arguments) == {"session": "other"}
        assert family.gate.row(kept).state == "pending"
        assert json.loads(family.gate.row(kept).ids) == {"session": "other"}

    def test_kept_answers_and_tokens_name_it_no_more(self, family):
        answer = json.dumps({"status": 201, "data": {"id": "s2", "title": "Holiday plans"}})
        key = {"profile": family.place.profile, "requester": "token:x", "payload_hash": "0" * 64}
        IdempotencyKey.objects.create(key="made", answer=answer, **key)
        IdempotencyKey.objects.create(key="else", answer=answer.replace('"s2"', '"s22"'), **key)
        bound, _ = factories.token(family.place.alice, of=family.place.profile, session="session-s2")
        family.tick(family.ask(session="s2"))
        assert list(IdempotencyKey.objects.values_list("key", flat=True)) == ["else"]
        assert AccessToken.objects.get(pk=bound.pk).session == ""

    def test_another_profile_with_the_same_id_is_left_alone(self, family):
        theirs = factories.caller(family.place.secrets["charlies"])
        from apps.sessions.actions import create_session

        create_session(by=theirs, ref="s2", now_ms=NOW)
        family.tick(family.ask(session="s2"))
        assert Session.objects.get(ref="s2").profile_id == theirs.profile_id
        create_session(by=theirs, ref="kid", now_ms=NOW)


class TestItStaysGone:
    def test_no_id_of_it_is_made_again_under_either_spelling(self, family):
        family.tick(family.ask(session="s2"))
        for ref in ("s2", "session-s2", "kid", "session-grandkid"):
            with pytest.raises(DeletedHere):
                family.place.session(ref)
        answer = family.place.call("POST", "/api/sessions", {"id": "s2"})
        assert (answer.status_code, answer.json()["code"]) == (409, "deleted_here")

    def test_a_host_that_goes_on_is_told_why(self, family):
        events = {"expected_seq": 19, "events": []}
        family.tick(family.ask(session="s2"))
        answer = family.place.call("POST", "/api/sessions/s2/events", events)
        assert (answer.status_code, answer.json()["code"]) == (404, SessionGone.code)
        assert answer.json()["detail"] == "A person deleted this session here."

    def test_the_id_is_remembered_as_a_hash_only(self, family):
        family.tick(family.ask(session="s2"))
        assert DeletedSession.objects.count() == 3
        assert all(len(row.id_hash) == 64 for row in DeletedSession.objects.all())


class TestWhatKeepsItHere:
    def test_a_held_session_is_refused_before_anybody_is_asked(self, family):
        take_lease(by=family.place.caller("other"), ref="s2", now_ms=NOW)
        with pytest.raises(SessionLive, match="Agent holds this session") as caught:
            family.ask(session="session-s2")
        assert caught.value.extra["retry_after_s"] == 60
        assert Confirmation.objects.count() == 0

    def test_a_held_grandchild_is_named(self, family):
        take_lease(by=family.place.caller("other"), ref="grandkid", now_ms=NOW)
        with pytest.raises(SessionLive) as caught:
            family.ask(session="s2")
        assert caught.value.extra["liveDescendant"] == "grandkid"

    def test_a_lease_that_ran_out_keeps_nothing(self, family):
        take_lease(by=family.place.caller("other"), ref="s2", now_ms=NOW - 60_000)
        assert family.tick(family.ask(session="s2")).state == "executed"

    def test_a_lease_taken_after_asking_lets_it_fail(self, family):
        outcome = family.ask(session="s2")
        take_lease(by=family.place.caller("other"), ref="kid", now_ms=NOW)
        row = family.tick(outcome)
        assert (row.state, row.code) == ("failed", "SESSION_LIVE")
        assert json.loads(row.outcome)["detail"]["liveDescendant"] == "kid"
        assert len(refs()) == 5

    def test_a_subagent_more_than_was_shown_makes_the_card_stale(self, family):
        outcome = family.ask(session="s2")
        family.session("late", parent="kid", origin="subagent")
        assert family.tick(outcome).state == "changed"
        assert len(refs()) == 6

    def test_more_turns_than_were_shown_do_not(self, family):
        outcome = family.ask(session="s2")
        family.append("s2", {"type": "turn/start", "data": {"turn": 4}})
        assert family.tick(outcome).state == "executed"

    def test_a_session_that_somebody_else_deleted_is_not_there(self, family):
        first = family.ask(session="s2")
        second = family.ask(session="s2", by=family.place.caller("other"))
        family.tick(first)
        row = family.gate.row(second)
        assert row.state == "changed"
        assert json.loads(row.facts).get("session") is None
        with pytest.raises(TargetNotFound):
            family.ask(session="s2", by=family.place.caller("bobs"))


class TestARunningAgent:
    @pytest.fixture
    def running(self, family):
        start_run(by=family.place.caller("other"), ref="kid", now_ms=NOW)
        return family

    def claim(self, desk):
        row = desk.tick(desk.ask(session="s2"))
        assert row.state == "executing"
        assert len(refs()) == 5
        return row

    def run(self, desk, row):
        gate.run_claimed(confirmation_id=row.pk, tell_ms=lambda: NOW + 100)
        row.refresh_from_db()
        return row

    def test_is_asked_to_stop_after_the_claim_and_then_all_goes_at_once(self, running, monkeypatch):
        row, asked = self.claim(running), []

        def cancel(*, session_id, cause="user"):
            asked.append(Session.objects.get(pk=session_id).ref)
            run = Run.objects.get(state="running")
            end_run(by=running.place.caller("other"), ref="kid", run_id=run.pk, now_ms=NOW + 50)

        monkeypatch.setattr(hosts, "ask_cancel", cancel)
        row = self.run(running, row)
        assert (row.state, asked) == ("executed", ["kid"])
        assert gate_parts(row)["stopped"] == ["kid"]
        assert refs() == ["fork", "other"]

    def test_that_does_not_stop_keeps_everything_here(self, running):
        row = self.run(running, self.claim(running))
        assert (row.state, row.code) == ("failed", "AGENT_BUSY")
        assert json.loads(row.outcome)["detail"]["sessionId"] == "kid"
        assert len(refs()) == 5
        assert [entry.action for entry in LedgerEntry.objects.order_by("seq")][-2:] == [
            "confirmation.executing",
            "confirmation.failed",
        ]

    def test_that_started_a_subagent_while_stopping_makes_what_was_shown_stale(self, running, monkeypatch):
        row = self.claim(running)
        monkeypatch.setattr(hosts, "ask_cancel", lambda **_: running.session("late", parent="kid", origin="subagent"))
        Run.objects.update(state="ended", ended_ms=NOW)
        row = self.run(running, row)
        # Nothing ran any more, so nobody was asked; now with one more subagent.
        assert row.state == "executed"

    def test_a_changed_family_at_the_end_of_the_wait_is_not_deleted(self, running, monkeypatch):
        row = self.claim(running)

        def stop(*, session_id, within_ms=0):
            Run.objects.update(state="ended", ended_ms=NOW)
            running.session("late", parent="kid", origin="subagent")
            return "stopped"

        monkeypatch.setattr("apps.sessions.actions.deleting.stop_agent", stop)
        row = self.run(running, row)
        assert (row.state, row.code) == ("failed", "changed")
        assert len(refs()) == 6


class TestFailures:
    def trigger(self, table, when):
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.execute(
                    f"create trigger stuck before delete on {table} when {when} begin select raise(abort, 'stuck'); end"
                )
                return
            cursor.execute(
                "create function stuck() returns trigger as $$ begin raise exception 'stuck'; end $$ language plpgsql"
            )
            cursor.execute(
                f"create trigger stuck before delete on {table} for each row when ({when}) execute function stuck()"
            )

    @pytest.fixture(autouse=True)
    def mended(self):
        yield
        with connection.cursor() as cursor:
            gone = (
                "drop trigger if exists stuck"
                if connection.vendor == "sqlite"
                else "drop function if exists stuck cascade"
            )
            cursor.execute(gone)

    def test_a_copy_that_will_not_go_keeps_all_of_them(self, family):
        outcome = family.ask(session="s2")
        waiting = family.ask_turn("s2", "a1")
        self.trigger("agent_sessions_session", "old.ref = 'kid'")
        row = family.tick(outcome)
        assert (row.state, row.code) == ("failed", "DELETE_FAILED")
        failed = json.loads(row.outcome)
        assert failed["detail"] == {"leftover": ["default/kid"], "stage": "rows"}
        assert "stuck" in failed["message"]
        assert len(refs()) == 5
        assert Session.objects.get(ref="s2").next_seq == 18
        assert WorkspaceEntry.objects.count() == 5
        assert DeletedSession.objects.count() == 0
        # What would have been forgotten is as it was.
        assert family.gate.row(waiting).state == "pending"
        assert json.loads(family.gate.row(waiting).arguments)["session"] == "s2"

    def test_a_list_that_keeps_its_entry_is_reported_and_the_rest_goes(self, family):
        outcome = family.ask(session="s2")
        self.trigger("agent_sessions_workspaceentry", "old.spelling = 'kid'")
        row = family.tick(outcome)
        parts = gate_parts(row)
        assert (row.state, parts["detached"]) == ("executed", True)
        [failure] = parts["workspace"]["failures"]
        assert (failure["part"], failure["sessionId"]) == ("detach", "kid")
        assert "stuck" in failure["message"]
        assert list(WorkspaceEntry.objects.values_list("spelling", flat=True)) == ["kid", "fork", "other"]


def gate_parts(row):
    from apps.confirmations.queries import outcome_from

    return outcome_from(row).parts
