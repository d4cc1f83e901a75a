"""People in a profile, signed in over the real form."""

import pytest
from django.test import Client

from tests import factories

PASSWORD = factories.PASSWORD


def browser(name: str = "", **headers: str) -> Client:
    """Return a client that checks CSRF as a browser meets it, signed in when a name is given."""
    client = Client(enforce_csrf_checks=True, headers=headers)
    if name:
        answer = send(client, "/login/", {"username": name, "password": PASSWORD})
        assert answer.status_code == 302
    return client


def send(client: Client, path: str, data: dict, **headers: str):
    """Send a form as our pages do: with the token, and the Origin that `no-referrer` makes of it."""
    client.get("/login/")
    token = client.cookies["sayso_csrf"].value
    sent = {"origin": "null", "sec-fetch-site": "same-origin", **headers}
    return client.post(path, {**data, "csrfmiddlewaretoken": token}, headers=sent)


@pytest.fixture(autouse=True)
def quick_passwords(settings):
    """A slow hash is right for people and wrong for tests."""
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def house(db):
    """Alice owns, Bob decides, Charlie is elsewhere."""
    ours, theirs = factories.profile("default"), factories.profile("elsewhere")
    people = {
        "alice": factories.person("alice", default="owner"),
        "bob": factories.person("bob", default="decider"),
        "charlie": factories.person("charlie", elsewhere="owner"),
    }
    for person in people.values():
        person.set_password(PASSWORD)
        person.save()
    return {"profile": ours, "elsewhere": theirs, **people}
