"""Exporting sessions: what comes out goes in again, and what people read is safe."""

import json
import random
from itertools import count

import pytest
from django.test import Client
from django.utils import translation
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apps.accounts.models import Profile, User
from apps.core.values import now_ms
from apps.sessions.actions.import_home import Wishes, import_home
from apps.sessions.api.exporting import words_in
from apps.sessions.models import Session
from apps.sessions.queries.exporting import jsonl_parts, markdown_parts, removed_turns
from apps.sessions.queries.log import all_events, surface_nodes
from apps.sessions.rules.log_reader import LogReader, write_log
from apps.sessions.rules.price import shadowed_price
from apps.sessions.rules.removal import removal_events
from apps.sessions.rules.removal_plan import plan_removal, target_by_turn
from apps.sessions.rules.transcript import Words
from apps.sessions.rules.validator import Validator, load
from tests import factories
from tests.conftest import VECTORS
from tests.sessions import disk, logs

SAMPLE = VECTORS / "sample_session.v4.jsonl.zstd"
SAMPLE_ID = "session-3f1c0a52-7d0e-4b7c-9c55-20b9f0a1d6e4"
SECRET = "door code"
NUMBERS = count()

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return factories.human(factories.person("alice", **{factories.profile().name: "owner"}), of=Profile.objects.get())


@pytest.fixture
def bob():
    other = factories.profile("other")
    return factories.human(factories.person("bob", other="owner"), of=other)


def take(path, *, by):
    (entry,) = import_home(by=by, path=path, wishes=Wishes(), clock=now_ms).entries
    assert entry.outcome == "imported", entry
    return Session.objects.get(profile_id=by.profile_id, ref=entry.name)


def exported(session):
    return "".join(jsonl_parts(session)).encode()


def plain(path):
    return write_log(
        header=LogReader(path.read_bytes()).header, batches=[LogReader(path.read_bytes())], compressed=False
    )


class TestJsonLines:
    def test_are_the_bytes_that_the_host_wrote(self, alice):
        assert exported(take(SAMPLE, by=alice)) == plain(SAMPLE)

    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(st.randoms(use_true_random=False), st.lists(st.text(max_size=30), min_size=4, max_size=4))
    def test_make_the_same_session_again(self, alice, bob, tmp_path, chance, texts):
        name = f"s-{next(NUMBERS)}"
        path = disk.put(tmp_path / "one", name, a_log(chance, texts))
        one = take(path, by=alice)
        again = tmp_path / "again.jsonl"
        again.write_bytes(exported(one))
        two = take(again, by=bob)
        assert list(all_events(two)) == list(all_events(one))
        assert surface_nodes(two) == surface_nodes(one)
        assert removed_turns(two) == removed_turns(one)
        assert (two.title, two.state, exported(two)) == (one.title, one.state, exported(one))


def a_log(chance: random.Random, texts):
    """Give a legal log with odd texts, compactions and removals."""
    rows = []
    for turn, words in enumerate(texts, start=1):
        rows += logs.numbered(logs.a_turn(turn, words=words), first=len(rows), time_ms=chance.randrange(2**40))
        if chance.random() < 0.4:
            odd = {
                "type": "todo/write",
                "data": {words: [words + chance.choice(["\ud800", "\0", "\u2028"]), 1.5e300, -7]},
            }
            rows += logs.numbered([odd], first=len(rows))
        state, ground = load(rows, header=disk.header("s"))
        if chance.random() < 0.4:
            target = target_by_turn(turn=turn, ground=ground)
            plan = plan_removal(target=target, ground=ground, open_turn=False, open_compaction=False)
            price = shadowed_price(rows[seq] for seq in plan.source_seqs)
            ids = {"compaction_id": f"c{turn}", "message_id": f"m{turn}"}
            cut = removal_events(plan=plan, price=price, next_seq=len(rows), time_ms=0, **ids)
            validator = Validator(state=state, ground=ground)
            for row in cut:
                validator.accept(row)
            rows += cut
    return rows


class TestMarkdown:
    def test_leaves_out_removed_turns_unless_they_are_asked_for(self, alice):
        session = take(SAMPLE, by=alice)

        def document(**options):
            return "".join(markdown_parts(session, words=Words(), **{"view": "log", "reveal": False, **options}))

        assert SECRET not in document()
        assert SECRET in document(reveal=True)
        assert SECRET not in document(view="surface", reveal=True)
        assert "Its content is no longer available" in document(view="surface")


class TestApi:
    @pytest.fixture
    def get(self, alice):
        take(SAMPLE, by=alice)
        _, secret = factories.token(User.objects.get(), of=Profile.objects.get(), scopes=["session.read"])
        client = Client()
        return lambda ref=SAMPLE_ID, secret=secret, **query: client.get(
            f"/api/sessions/{ref}/export", query, headers={"Authorization": f"Bearer {secret}"}
        )

    def test_gives_the_log_as_an_attachment(self, get):
        answer = get()
        assert (answer.status_code, answer.content) == (200, plain(SAMPLE))
        assert answer["Content-Type"] == "application/x-ndjson"
        assert answer["Content-Disposition"] == "attachment; filename*=UTF-8''session.v4.jsonl"
        assert (answer["X-Content-Type-Options"], answer["Cache-Control"]) == ("nosniff", "no-store")

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ({}, False),
            ({"view": "log"}, False),
            ({"removed": "true"}, True),
            ({"view": "surface"}, False),
        ],
    )
    def test_gives_a_document_as_an_attachment(self, get, query, said):
        answer = get(format="markdown", **query)
        assert (answer.status_code, answer["Content-Type"]) == (200, "text/markdown; charset=utf-8")
        assert answer["Content-Disposition"] == f"attachment; filename*=UTF-8''{SAMPLE_ID}.md"
        assert (SECRET in answer.content.decode()) == said

    @pytest.mark.parametrize(
        ("query", "field"),
        [
            ({"format": "xml"}, "format"),
            ({"format": ""}, "format"),
            ({"format": "markdown", "view": "x"}, "view"),
            ({"view": "surface"}, "view"),
            ({"removed": "1"}, "removed"),
        ],
    )
    def test_names_the_field_that_cannot_be_used(self, get, query, field):
        answer = get(**query)
        assert (answer.status_code, answer.json()["field"]) == (400, field)

    def test_answers_alike_for_what_is_hidden_and_what_is_missing(self, get, bob):
        _, secret = factories.token(User.objects.get(username="bob"), of=Profile.objects.get(name="other"))
        hidden, missing = get(secret=secret), get("nowhere", secret=secret)
        assert (hidden.status_code, hidden.json()) == (missing.status_code, missing.json())
        assert hidden.status_code == 404

    def test_needs_the_scope(self, get):
        user = User.objects.get()
        _, secret = factories.token(user, of=Profile.objects.get(), scopes=["session.append", "session.delete"])
        assert get(secret=secret).status_code == 403

    def test_speaks_the_readers_language(self):
        assert words_in("zh-hans").turn != words_in("en").turn == Words().turn
        with translation.override("en"):
            assert json.dumps([getattr(words_in("en"), name) for name in Words.__slots__]) == json.dumps(
                [getattr(Words(), name) for name in Words.__slots__]
            )


class TestServed:
    async def test_a_program_and_a_person_get_the_file_over_the_wire(self, house):
        answers = [
            await house.call("GET", "/api/sessions/s1/export"),
            await house.page("GET", "/api/sessions/s1/export"),
        ]
        for answer in answers:
            assert (answer.status, answer.header("content-type")) == (200, "application/x-ndjson")
            assert json.loads(answer.text.splitlines()[0])["id"] == "s1"
        document = await house.page("GET", "/api/sessions/s1/export?format=markdown")
        assert (document.status, document.text.startswith("# s1\n")) == (200, True)
        assert (await house.call("GET", "/api/sessions/nowhere/export")).status == 404
