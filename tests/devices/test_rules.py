import hashlib

import pytest

from apps.core.errors import InvalidField
from apps.devices.rules import (
    Presence,
    Target,
    all_actions,
    check_actions,
    check_login,
    code_hash,
    device_id_of,
    new_code,
    storable_value,
)

LOGIN = {"authorization_code": "c", "device_code": "iphone", "device_name": "Alice's phone"}


class TestIdentity:
    def test_is_the_hash_of_the_contract(self):
        assert device_id_of(user_id=1, device_code="iphone") == "6bfd0862a2ab6ae6742ec4dc"

    def test_differs_between_people_with_one_device_code(self):
        assert device_id_of(user_id=2, device_code="iphone") != device_id_of(user_id=1, device_code="iphone")

    def test_hashes_the_utf8_of_the_code_as_it_is(self):
        expected = hashlib.sha256('["1","电话"]'.encode()).hexdigest()[:24]
        assert device_id_of(user_id=1, device_code="电话") == expected


class TestPairingCode:
    def test_is_24_random_bytes(self):
        assert len(new_code()) == 32
        assert len({new_code() for _ in range(50)}) == 50

    def test_is_stored_as_a_hash(self):
        assert code_hash("abc") == hashlib.sha256(b"abc").hexdigest()


class TestLogin:
    def test_takes_camel_case(self):
        login = check_login(
            {"authorizationCode": "c", "deviceCode": "iphone", "deviceName": " A ", "deviceBrand": "Apple"}
        )
        assert (login.authorization_code, login.device_code, login.device_name) == ("c", "iphone", "A")
        assert (login.device_brand, login.device_model) == ("Apple", "")

    @pytest.mark.parametrize("missing", ["authorization_code", "device_code", "device_name"])
    def test_names_what_is_missing(self, missing):
        with pytest.raises(InvalidField) as caught:
            check_login({name: value for name, value in LOGIN.items() if name != missing})
        assert caught.value.field == missing

    @pytest.mark.parametrize(("name", "length"), [("device_code", 255), ("device_name", 80)])
    def test_takes_an_over_long_value_for_none(self, name, length):
        assert getattr(check_login(LOGIN | {name: "x" * length}), name) == "x" * length
        with pytest.raises(InvalidField):
            check_login(LOGIN | {name: "x" * (length + 1)})

    def test_leaves_an_over_long_brand_and_model_empty(self):
        login = check_login(LOGIN | {"device_brand": "x" * 81, "device_model": "x" * 121})
        assert (login.device_brand, login.device_model) == ("", "")

    def test_takes_only_texts(self):
        with pytest.raises(InvalidField):
            check_login(LOGIN | {"device_code": 7})

    def test_keeps_the_blanks_of_a_password(self):
        login = check_login({**LOGIN, "authorization_code": "", "username": "alice", "password": " secret "})
        assert login.password == " secret "


class TestPresence:
    def test_lasts_as_long_as_one_socket_is_open(self):
        presence = Presence()
        for name, actions in (("a", {"calendar.list"}), ("b", {"delete"})):
            presence.enter(device_id="d", profile_id="p", socket=name, actions=frozenset(actions))
        assert presence.known(device_id="d", profile_id="p") == {"calendar.list", "delete"}
        presence.leave(device_id="d", profile_id="p", socket="b")
        assert presence.known(device_id="d", profile_id="p") == {"calendar.list"}
        presence.leave(device_id="d", profile_id="p", socket="a")
        assert presence.known(device_id="d", profile_id="p") is None

    def test_is_of_one_profile(self):
        presence = Presence()
        presence.enter(device_id="d", profile_id="p", socket="a", actions=frozenset())
        assert presence.known(device_id="d", profile_id="other") is None

    def test_forgets_a_socket_that_never_came(self):
        presence = Presence()
        presence.leave(device_id="d", profile_id="p", socket="a")
        assert presence.sockets == {}


class TestActions:
    def target(self, *actions: str) -> Target:
        ids = {
            "device_id": "d",
            "device_code": "c",
            "user_id": 1,
            "profile": "default",
            "profile_id": "p",
            "run_id": "r",
        }
        return Target(ref="device:d", label="", online=True, actions=check_actions(list(actions)), **ids)

    def test_are_known_bare_or_with_their_capability(self):
        assert self.target("delete").knows(capability="reminder", action="delete")
        assert self.target("calendar.delete").knows(capability="calendar", action="delete")
        assert not self.target("calendar.delete").knows(capability="reminder", action="delete")
        assert not self.target().knows(capability="calendar", action="list")

    def test_are_nine(self):
        assert len(list(all_actions())) == 9

    @pytest.mark.parametrize("value", [None, "delete", [1], ["x" * 81], ["x"] * 65])
    def test_are_a_list_of_short_texts(self, value):
        with pytest.raises(InvalidField):
            check_actions(value)


def test_a_frame_loses_what_no_database_keeps():
    frame = {"a\x00": ["x\ud83d", {"b": "😀"}], "n": 1, "t": True}
    assert storable_value(frame) == {"a\ufffd": ["x\ufffd", {"b": "😀"}], "n": 1, "t": True}
