"""Webhooks go to the public internet only, and prove who sent them."""

import hashlib
import hmac

import pytest

from apps.core.errors import InvalidField
from apps.schedules.rules.hooks import (
    ForbiddenTarget,
    check_address,
    check_spelling,
    check_target,
    hook_secret,
    signature,
    target_of,
)

HERE = frozenset({"127.0.0.1:9000", "agent.lan:443"})


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
        *("0.0.0.0", "255.255.255.255", "224.0.0.1", "240.0.0.1", "192.0.2.1", "198.18.0.1"),
        *("::1", "::", "fe80::1%eth0", "fc00::1", "fec0::1", "ff02::1", "2001:db8::1", "::ffff:127.0.0.1"),
        *("::ffff:10.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "2002:7f00:1::"),
        *("2001:0:7f00:1::", "not an address", ""),
    ],
)
def test_an_address_that_is_not_public_is_refused_in_every_spelling(address):
    with pytest.raises(ForbiddenTarget):
        check_address(address)


@pytest.mark.parametrize("address", ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "::ffff:1.1.1.1"])
def test_a_public_address_is_taken(address):
    check_address(address)


@pytest.mark.parametrize(
    "url",
    [
        *("", "ftp://a.example.org/", "https://", "https://u:p@a.example.org/", "https://a.example.org/#x", "//a"),
        *("https://a.example.org:0/", "https://a.example.org:99999/", "https://a example.org/", "https://a\\b.org/"),
        *("https://exämple.org/", "https://[::1/", None, 1, "https://a.example.org/" + "x" * 2000),
    ],
)
def test_what_is_no_plain_address_is_refused_by_name(url):
    with pytest.raises(InvalidField) as caught:
        target_of(url)
    assert caught.value.field == "url"


@pytest.mark.parametrize(
    "url",
    [
        *(
            "http://agent.example.org/",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://localhost/",
            "https://a.local/",
        ),
        *("https://metadata.google.internal/", "https://127.0.0.1:9001/", "https://10.1.2.3/"),
    ],
)
def test_what_is_forbidden_by_its_text_is_refused_when_it_is_set(url):
    with pytest.raises(ForbiddenTarget):
        check_spelling(target_of(url), permitted=HERE)


def test_every_address_of_a_name_must_be_public():
    target = target_of("https://agent.example.org/hook?x=1")
    assert (target.port, target.path) == (443, "/hook?x=1")
    check_target(target, addresses=["1.1.1.1"], permitted=HERE)
    with pytest.raises(ForbiddenTarget):
        check_target(target, addresses=["1.1.1.1", "10.0.0.1"], permitted=HERE)


def test_a_permitted_place_may_be_private_and_plain():
    check_spelling(target_of("http://127.0.0.1:9000/x"), permitted=HERE)
    check_target(target_of("http://127.0.0.1:9000/x"), addresses=["127.0.0.1"], permitted=HERE)
    check_target(target_of("https://agent.lan./"), addresses=["10.0.0.1"], permitted=HERE)


def test_a_signature_covers_time_nonce_and_body():
    secret = hook_secret(key=b"k", webhook_id="w", salt="s")
    assert secret.startswith("sayso_hook_")
    assert secret != hook_secret(key=b"k", webhook_id="w", salt="t")
    expected = hmac.new(secret.encode(), b'12.n.{"a":1}', hashlib.sha256).hexdigest()
    assert signature(secret=secret, timestamp=12, nonce="n", body=b'{"a":1}') == f"v1={expected}"
