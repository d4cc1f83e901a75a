"""The first run."""

import re
import stat
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

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


def test_dates_move_by_whole_days_and_nothing_else_does():
    lines = ["DTSTAMP:20240101T080000Z", "DTSTART;TZID=Europe/Berlin:20240131T090000", "DUE;VALUE=DATE:20240228"]
    text = "\r\n".join([*lines, "SUMMARY:20240101", ""])
    assert moved(text, days=7) == text.replace("20240131", "20240207").replace("20240228", "20240306")
