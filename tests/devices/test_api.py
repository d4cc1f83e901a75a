import pytest

from tests.conformance.gate.wire import fetch
from tests.devices.house import NOW

PAIRING = "/api/app-connections/authorization-codes/lan"
APP = {"device_code": "iphone", "device_name": "Phone", "device_brand": "Apple", "deviceModel": "15"}


class TestPairingCode:
    async def test_comes_with_all_that_an_app_needs(self, house):
        answer = await house.page("POST", PAIRING)
        shown = answer.json
        assert answer.status == 201
        assert (shown["server_url"], shown["expires_at_ms"]) == (house.origin, NOW + 300_000)
        assert len(shown["authorization_code"]) == 32
        assert len(shown["machine_id"]) == 32
        assert shown["qr_svg"].startswith("<svg")
        assert "style=" not in shown["qr_svg"]

    async def test_is_only_for_people_in_a_browser(self, house):
        phone = await house.phone()
        for secret in (phone.secret, *house.secrets.values()):
            headers = {"authorization": f"Bearer {secret}"}
            assert (await fetch(house.origin, "POST", PAIRING, headers=headers, body=b"{}")).status == 403
            assert (await fetch(house.origin, "GET", "/api/devices", headers=headers)).status == 403
        assert (await fetch(house.origin, "POST", PAIRING, body=b"{}")).status == 401


class TestAppLogin:
    async def code(self, house):
        return (await house.page("POST", PAIRING)).json["authorization_code"]

    async def test_tells_the_token_and_who_the_device_is(self, house):
        answer = await house.app({**APP, "authorization_code": await self.code(house)})
        assert answer.status == 200
        body = answer.json
        connection = body["appConnection"]
        assert (body["userId"], body["profiles"], body["theme"]) == ("1", ["default", "work"], "system")
        assert connection.pop("id")
        assert connection == {
            "device_code": "iphone",
            "device_name": "Phone",
            "device_brand": "Apple",
            "device_model": "15",
            "connection_type": "lan",
            "token_expires_at": NOW + 30 * 24 * 3_600_000,
        }

    async def test_answers_each_failure_with_its_status(self, house):
        code = await self.code(house)
        assert (await house.app({"authorization_code": code, "device_name": "Phone"})).status == 400
        assert (await house.app({**APP, "authorization_code": "made up"})).status == 401
        assert (await house.app({**APP, "username": "alice", "password": "wrong"})).status == 401
        assert (await house.app({**APP, "authorization_code": code})).status == 200
        assert (await house.app({**APP, "authorization_code": code})).status == 409
        late = await self.code(house)
        await house.server.advance(300_000)
        assert (await house.app({**APP, "authorization_code": late})).status == 410

    async def test_takes_the_password_of_the_person(self, house):
        answer = await house.app({**APP, "username": "bob", "password": "bob says so"})
        assert (answer.status, answer.json["profiles"]) == (200, ["default"])

    async def test_is_throttled(self, house):
        statuses = [(await house.app({**APP, "username": "bob", "password": "wrong"})).status for _ in range(6)]
        assert statuses == [401] * 5 + [429]


class TestDevices:
    @pytest.mark.parametrize("person", ["bob", "charlie"])
    async def test_are_seen_and_ended_by_their_own_person_only(self, house, person):
        phone = await house.phone()
        (mine,) = (await house.page("GET", "/api/devices")).json["devices"]
        assert (await house.page("GET", "/api/devices", by=person)).json["devices"] == []
        assert (await house.page("DELETE", f"/api/devices/{mine['id']}", by=person)).status == 404
        await house.rest()
        assert not phone.closed


def test_behind_a_proxy_a_client_cannot_name_another_address_for_each_try(db, settings, client):
    settings.SAYSO_TRUSTED_PROXY = True
    statuses = []
    for number in range(6):
        tried = {**APP, "username": f"nobody-{number}", "password": "wrong"}
        forwarded = {"x-forwarded-for": f"10.0.0.{number}, 192.0.2.7"}
        answer = client.post("/api/auth/app-login", tried, content_type="application/json", headers=forwarded)
        statuses.append(answer.status_code)
    assert statuses == [401, 401, 401, 401, 401, 429]
