"""Whatever stands in a form or in the address of a page, the page answers; the routes are the project's own."""

from http.cookies import SimpleCookie

import pytest
from django.contrib import admin
from django.db import transaction
from django.urls import URLResolver, get_resolver

from tests.endpoints.calls.pages import FORMS, NAMED, QUERIES
from tests.endpoints.reads import Reads
from tests.endpoints.values import TEXT_VALUES

NAMES = {"confirmation_id": "asked", "receipt_id": "receipt"}
FORM_TYPE = "application/x-www-form-urlencoded"


def page_routes(patterns, prefix=""):
    """Give the route of every page, those of the admin and of the API left out."""
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            if pattern.app_name != admin.site.name:
                yield from page_routes(pattern.url_patterns, route)
        elif not route.startswith(("api/", "v1/")):
            yield route


ROUTES = sorted(page_routes(get_resolver().url_patterns))


@pytest.fixture
def pages(things, db):
    return Pages(things)


class Pages:
    """Opens pages and sends their forms as Alice, each in a transaction of its own that is undone."""

    def __init__(self, things):
        self.things = things

    def send(self, method, route, *, query="", form=""):
        address = route
        for name, found in NAMES.items():
            address = address.replace(f"<str:{name}>", getattr(self.things, found))
        address = address.replace("<str:token_id>", self.things.known["token"])
        address = address.replace("<str:session_ref>", "s1")
        address = address.replace("<int:user_id>", str(self.things.alice.pk))
        client = self.things.clients["nobody" if route == "login/" else "person"]
        before = client.cookies.output()
        with transaction.atomic():
            answer = client.generic(method, f"/{address}?{query}", form, FORM_TYPE)
            transaction.set_rollback(True)
        # A page may have signed out.
        client.cookies = SimpleCookie(before.replace("Set-Cookie: ", ""))
        return answer


def encoded(members):
    return "&".join(f"{name}={value}" for name, value in members.items())


def test_every_page_that_takes_a_form_has_one_here(pages, monkeypatch):
    reads, takes = Reads(monkeypatch), set()
    for route in ROUTES:
        reads.clear()
        query = encoded(QUERIES.get(route, {}))
        answer = pages.send("POST", route, query=query)
        read = reads.query - {"csrfmiddlewaretoken", *QUERIES.get(route, ())}
        if answer.status_code != 405 and (read or pages.send("GET", route, query=query).status_code == 405):
            takes.add(route)
    assert takes == set(FORMS)


def test_every_form_is_good_and_says_its_fields(pages, monkeypatch):
    reads = Reads(monkeypatch)
    for route, form in FORMS.items():
        reads.clear()
        answer = pages.send("POST", route, form=encoded(form))
        assert answer.status_code in (200, 204, 302), (route, answer.content[:300])
        assert reads.query - {"csrfmiddlewaretoken"} - set(form) == set(), route


def test_every_page_says_what_it_reads_of_its_address(pages, monkeypatch):
    reads = Reads(monkeypatch)
    for route in ROUTES:
        reads.clear()
        answer = pages.send("GET", route, query=encoded(QUERIES.get(route, {})))
        assert answer.status_code in (200, 302, 405), route
        assert reads.query - set(QUERIES.get(route, ())) == set(), route


@pytest.mark.parametrize("value", TEXT_VALUES)
def test_a_field_of_a_form_may_hold(pages, value):
    broken = []
    for route, form in FORMS.items():
        for name in form:
            answer = pages.send("POST", route, form=encoded({**form, name: TEXT_VALUES[value]}))
            if answer.status_code not in (200, 204, 302, 400):
                broken.append((route, name, answer.status_code))
    assert broken == []


@pytest.mark.parametrize("value", TEXT_VALUES)
def test_the_address_of_a_page_may_hold(pages, value):
    broken = []
    for route, names in QUERIES.items():
        for name in names:
            answer = pages.send("GET", route, query=encoded({**names, name: TEXT_VALUES[value]}))
            if answer.status_code not in (200, 302, 400, *([404] if name in NAMED else [])):
                broken.append((route, name, answer.status_code))
    assert broken == []
