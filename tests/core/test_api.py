"""The shared edge: addresses and cookies that no database can keep are the caller's fault, not ours."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


class TestAnAddress:
    @pytest.mark.parametrize(
        "path",
        ["/api/confirmations/%00", "/api/inbox/a%00b", "/api/receipts/%00", "/inbox/%00", "/api/inbox?before=%00"],
    )
    def test_with_a_nul_is_refused(self, path):
        assert Client().get(path).status_code == 400


class TestACookie:
    def test_with_a_nul_is_nobody_s(self):
        client = Client(headers={"cookie": 'sayso_session="\\000"'})
        assert client.get("/api/inbox").status_code == 401


def test_an_unknown_address_of_the_api_answers_what_a_program_can_read(client):
    answer = client.get("/api/no-such-thing")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
