"""Whatever a host sends to what it holds, reads and copies: 400 naming the member, or an ordinary answer."""

import json

import pytest
from django.test import Client

from tests.sessions.place import Place

ODD = [
    *("null", "true", "[]", "{}", '""', "0", "-1", "1.5", "1e309", "NaN", "-0", f"{10**400}", '"\\ud800"', '"\\u0000"'),
    json.dumps("x" * 1_000_000),
]
DOORS = {
    "lease": ("lease_id",),
    "close": ("wait",),
    "fork": ("id", "boundary"),
    "inbox/1/ack": ("x",),
    "archive": ("x",),
    "unpin": ("x",),
}


def post(place: Place, path: str, body: str):
    client = Client(headers={"authorization": f"Bearer {place.secrets['agent']}"})
    return client.generic("POST", path, body, content_type="application/json")


@pytest.mark.parametrize("door", DOORS)
def test_any_value_of_any_member_is_taken_or_named(place, door):
    place.session()
    for name in DOORS[door]:
        for value in ODD:
            answer = post(place, f"/api/sessions/s1/{door}", f'{{"{name}": {value}}}')
            assert answer.status_code < 500, (name, value)
            if answer.status_code == 400:
                assert name in answer.json()["detail"] or "JSON" in answer.json()["detail"], (name, value)


@pytest.mark.parametrize("door", DOORS)
def test_any_body_is_answered(place, door):
    place.session()
    for body in ("[]", "null", '"x"', "{", "", "5", '{"a":' * 5000):
        assert post(place, f"/api/sessions/s1/{door}", body).status_code < 500, body


@pytest.mark.parametrize("name", ["after", "limit", "wait", "state", "q", "before", "workspace", "live", "lease_id"])
def test_any_query_is_answered(place, name):
    place.session()
    values = ("", "x", "-1", "9" * 400, "%00", "%ff", "%ED%A0%80", "null", "true", "1.5", "x" * 5000, "0.0.0")
    for value in values:
        for method, path in (
            ("GET", "/api/sessions"),
            ("GET", "/api/sessions/s1/inbox"),
            ("DELETE", "/api/sessions/s1/lease"),
        ):
            answer = place.call(method, f"{path}?{name}={value}")
            assert answer.status_code in (200, 400), (path, value, answer.content)
