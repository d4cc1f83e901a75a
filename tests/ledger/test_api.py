"""A key lets a plain write happen once, whatever the connection does."""

import json

import pytest

from apps.sessions.models import Session
from tests import factories

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(client):
    profile = factories.profile()
    _, secret = factories.token(factories.person("alice", default="owner"), of=profile)

    def post(body, *, key="k1", path="/api/sessions"):
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": key}
        return client.post(path, json.dumps(body), content_type="application/json", headers=headers)

    return post


def test_a_repeat_finds_the_first_answer(ask):
    first, again = ask({"title": "one"}), ask({"title": "one"})
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert Session.objects.count() == 1


def test_another_payload_with_the_same_key_is_refused(ask):
    ask({"title": "one"})
    answer = ask({"title": "two"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_conflict")
    assert Session.objects.count() == 1


def test_a_failure_leaves_the_key_free(ask):
    assert ask({"source": "NO"}).status_code == 400
    assert ask({"source": "cli"}).status_code == 201


def test_a_key_that_cannot_be_one_is_named(ask):
    answer = ask({}, key="k" * 256)
    assert (answer.status_code, answer.json()["field"]) == (400, "Idempotency-Key")
