"""The pages of captures: what they show, to whom, and how hostile text looks on them."""

import itertools
import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from apps.accounts.models import Membership
from apps.captures.actions.capturing import capture
from apps.captures.queries import browsing
from apps.captures.rules import COVERAGE_KEY, SourceConflict, check_request, declare
from apps.sessions.actions import create_session
from tests import factories
from tests.web.conftest import browser

WINDOW = declare(projection="hermes-precompress-text.v1", losses=["character_limit"]).as_object()
NAME = "a/b ?#\u202e"


@pytest.fixture
def tell(house):
    """Let an agent of a profile capture a text, each a second after the one before."""
    moments = itertools.count(10**12, 1_000)

    def telling(source_id, content="Ana prefers tea.", *, of="profile", scope="main", session="", **metadata):
        owner = house["alice" if of == "profile" else "charlie"]
        _, secret = factories.token(owner, of=house[of], scopes=["capture.read", "capture.write"])
        body = {"scope_id": scope, "source_id": source_id, "content": content, "metadata": metadata}
        by = replace(factories.caller(secret), session=session)
        return capture(by=by, request=check_request(body), now_ms=next(moments))

    return telling


def page(client, kind="", status=200, **query):
    answer = client.get(f"/captures/{kind}?{urlencode(query)}")
    assert answer.status_code == status
    return answer.content.decode()


def test_a_journal_has_the_newest_first_with_badges_and_counts(tell):
    tell("silent")
    tell("cut", **{COVERAGE_KEY: WINDOW})
    tell("odd", **{COVERAGE_KEY: {"status": "complete"}})
    text = page(browser("alice"), scope="main")
    assert re.findall(r'data-position="(\d+)"', text) == ["3", "2", "1"]
    assert re.findall(r"cap-badge is-(\w+)", text) == ["unknown", "partial", "unknown"]
    assert re.findall(r'"is-(\w+)"><dt>\w+</dt><dd>(\d+)', text) == [
        ("complete", "0"),
        ("partial", "1"),
        ("unknown", "2"),
        ("purged", "0"),
    ]
    assert "Not declared" in text
    assert "The declaration cannot be used (missing_field)." in text


def test_what_counts_only_the_newest_says_so(tell, monkeypatch):
    monkeypatch.setattr(browsing, "COUNTED", 2)
    for number in range(3):
        tell(f"s{number}", **{COVERAGE_KEY: WINDOW})
    text = page(browser("alice"), scope="main")
    assert "Counted over the newest 2 positions of 3." in text
    assert '"is-partial"><dt>Partial</dt><dd>2' in text


def test_a_long_journal_is_read_page_by_page(tell):
    for number in range(26):
        tell(f"s{number}")
    alice = browser("alice")
    assert "before=2" in page(alice, scope="main")
    assert re.findall(r'data-position="(\d+)"', page(alice, scope="main", before=2)) == ["1"]
    assert page(alice, scope="main", before="x").count("data-position") == 25


def test_captured_text_is_shown_as_text_only(tell):
    tell(NAME, "<script>alert(1)</script>\u202e  end", note="<b>bold</b>", deep={"a": [1, None]})
    alice = browser("alice")
    for text in (page(alice, scope="main"), page(alice, "source", scope="main", id=NAME)):
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)&lt;/script&gt;[U+202E]" in text
        assert "a/b ?#[U+202E]" in text
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "{&quot;a&quot;: [1, null]}" in text


def test_a_long_text_is_cut_until_it_is_asked_for(tell):
    tell("long", "x" * 20_001)
    alice = browser("alice")
    assert "Show all 20001 characters" in page(alice, "source", scope="main", id="long")
    assert "x" * 20_001 in page(alice, "source", scope="main", id="long", whole=1)


def test_a_conflict_shows_both_payloads_and_where_they_differ(tell):
    tell("s", "one", kind="a", same=1)
    alice = browser("alice")
    page(alice, "conflicts", 404, scope="main", id="s")
    for content in ("two", "three", "three"):
        with pytest.raises(SourceConflict):
            tell("s", content, kind="b", same=1)
    text = page(alice, "conflicts", scope="main", id="s", refused=2)
    assert all(word in text for word in (">one<", ">three<", "sent 2 times"))
    assert ">two<" not in text
    assert re.findall(r'class="tag">(?:<bdi>)?([^<]*)<', text) == ["the text", "kind"]
    assert ">three<" in page(alice, "conflicts", scope="main", id="s", refused=9)


def test_what_is_hidden_and_what_is_missing_look_alike(tell):
    tell("s", "Ours.")
    tell("s", "Theirs.", of="elsewhere", scope="theirs")
    alice, charlie = browser("alice"), browser("charlie")
    assert "theirs" in page(charlie)
    assert "theirs" not in page(alice)
    for kind in ("", "source", "conflicts"):
        pages = [page(alice, kind, 404, scope=scope, id="s") for scope in ("theirs", "never1")]
        assert len({re.sub(r"theirs|never1|[0-9A-Za-z_+/-]{22,}=*", "", text) for text in pages}) == 1
    for names in (
        {},
        {"scope": ""},
        {"scope": "main"},
        {"scope": "main", "id": " "},
        {"scope": "main", "id": "s" * 257},
    ):
        page(alice, "source", 404, **names)


def test_the_session_of_a_capture_is_named_to_those_who_may_read_it(house, tell):
    owner = factories.human(house["alice"], of=house["profile"])
    row = create_session(by=owner, ref="trip", title="To Lisbon", now_ms=10**12)
    tell("s", session="trip")
    link = '<a href="/sessions/trip"><bdi>To Lisbon</bdi></a>'
    assert link in page(browser("bob"), "source", scope="main", id="s")
    row.workspace.restricted = True
    row.workspace.save()
    text = page(browser("bob"), "source", scope="main", id="s")
    assert "trip" not in text
    assert "Ana prefers tea." in text


def test_a_viewer_reads_and_is_offered_no_purge(house, tell):
    tell("s")
    assert "data-purge" in page(browser("bob"), "source", scope="main", id="s")
    Membership.objects.filter(user=house["bob"]).update(role="viewer")
    text = page(browser("bob"), "source", scope="main", id="s")
    assert "Ana prefers tea." in text
    assert "data-purge" not in text


def test_a_journal_costs_few_queries(tell, django_assert_max_num_queries):
    alice = browser("alice")
    for number in range(20):
        tell(f"s{number}")
    with django_assert_max_num_queries(12):
        page(alice, scope="main")
