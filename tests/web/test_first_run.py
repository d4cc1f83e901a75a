"""The first run."""

import json
import re
import socket
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from apps.accounts.models import AccessToken, User
from apps.calendars.models import CalendarObject
from apps.web.management.commands.first_run import moved
from tests.web.conftest import browser, send


@pytest.fixture
def told(db, settings, tmp_path):
    settings.SAYSO_DATA_DIR = tmp_path
    out = StringIO()
    call_command("first_run", stdout=out)
    return out.getvalue()


def test_the_first_run_says_how_to_sign_in_and_what_to_try(told, settings):
    login = re.search(r"login:\s+(\S+)", told)[1]
    password = re.search(r"password:\s+(\S+)", told)[1]
    assert send(browser(), "/login/", {"username": login, "password": password}).status_code == 302
    event = CalendarObject.objects.get(title="Dentist")
    assert f'"id": "{event.pk}", "title": "Dentist", "start_ms": {event.start_ms}' in told
    kept = Path(settings.SAYSO_DATA_DIR, "demo-agent.json")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_second_run_changes_nothing(told):
    before = list(User.objects.values()), list(AccessToken.objects.values()), CalendarObject.objects.count()
    out = StringIO()
    call_command("first_run", stdout=out)
    assert "password:" not in out.getvalue()
    assert (list(User.objects.values()), list(AccessToken.objects.values()), CalendarObject.objects.count()) == before


def test_a_run_at_another_address_tells_the_demo_agent(told, settings):
    kept = Path(settings.SAYSO_DATA_DIR, "demo-agent.json")
    before = json.loads(kept.read_text())
    settings.SAYSO_PORT = 8001
    call_command("first_run", stdout=StringIO())
    assert json.loads(kept.read_text()) == before | {"url": "http://127.0.0.1:8001"}
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_server_on_every_address_shows_one_that_can_be_opened_and_is_let_in(told, settings):
    settings.SAYSO_HOST = "0.0.0.0"
    out = StringIO()
    call_command("first_run", stdout=out)
    origin = re.search(r"open (\S+)/ ", out.getvalue())[1]
    assert origin == f"http://127.0.0.1:{settings.SAYSO_PORT}"
    assert origin in settings.SAYSO_ORIGINS
    host = origin.removeprefix("http://")
    # pytest's own host of tests is let in beside those of the settings.
    assert [browser().get("/login/", HTTP_HOST=one).status_code for one in (host, "elsewhere.example")] == [200, 400]


def test_a_taken_port_is_refused_before_anything_is_made(db, settings):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        settings.SAYSO_PORT = taken.getsockname()[1]
        with pytest.raises(CommandError, match=r"Cannot listen on 127\.0\.0\.1:\d+: .*SAYSO_PORT"):
            call_command("serve", "--first-run")
    assert not User.objects.exists()


def test_dates_move_by_whole_days_and_nothing_else_does():
    lines = ["DTSTAMP:20240101T080000Z", "DTSTART;TZID=Europe/Berlin:20240131T090000", "DUE;VALUE=DATE:20240228"]
    text = "\r\n".join([*lines, "SUMMARY:20240101", ""])
    assert moved(text, days=7) == text.replace("20240131", "20240207").replace("20240228", "20240306")
