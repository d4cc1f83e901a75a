"""Calls of phones."""

from tests.endpoints.calls.base import Call
from tests.factories import PASSWORD


def login(things):
    return {
        "username": "alice",
        "password": PASSWORD,
        "device_code": "c",
        "device_name": "n",
        "device_brand": "b",
        "device_model": "m",
    }


def paired(things):
    answer = things.world.post("/api/auth/app-login", login(things) | {"device_code": "other"})
    return answer.json()["appConnection"]["id"]


MAKERS = {"device": paired}
CALLS = {
    "devices_pairing_code": [Call(by="person", status=201)],
    "devices_login": [
        # A wrong name or password is 401, and a code wins over both.
        Call(by="nobody", body=login, missing={"username": {401}, "password": {401}, "authorization_code": {401}})
    ],
    "devices_list": [Call(by="person")],
    "devices_revoke": [Call(by="person", path=lambda things: {"device_id": things.known["device"]})],
}
