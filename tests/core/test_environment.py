"""What is set in the environment is usable, or refused with one sentence and no traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from apps.core.environment import BadSetting, address, database, log_level, number, origin

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("SAYSO_PORT", "abc", "SAYSO_PORT must be a whole number from 1 to 65535, not 'abc'."),
        ("SAYSO_PORT", "99999", "SAYSO_PORT must be a whole number from 1 to 65535, not '99999'."),
        (
            "SAYSO_ORIGIN",
            "nonsense",
            "SAYSO_ORIGIN must be an address such as https://sayso.example.org, not 'nonsense'.",
        ),
        (
            "DATABASE_URL",
            "mysql://me:secret@db/x",
            "DATABASE_URL must be an address such as postgres://user:password@host:5432/name.",
        ),
    ],
)
def test_a_server_with_a_bad_setting_says_so_and_ends(tmp_path, name, value, sentence):
    environment = {**os.environ, "SAYSO_DATA_DIR": str(tmp_path / "data"), name: value}
    command = [sys.executable, "manage.py", "serve", "--first-run"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert (ended.returncode, ended.stdout, ended.stderr) == (1, "", f"{sentence}\n")


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", 7),
        (" 12 ", 12),
        ("1", 1),
        ("20", 20),
    ],
)
def test_a_number_within_its_bounds_is_taken(value, found):
    assert number({"N": value}, "N", default=7, least=1, most=20) == found
    assert number({}, "N", default=7) == 7


@pytest.mark.parametrize("value", ["0", "21", "-1", "1.5", "1e1", "٣", "²", "9" * 5_000])
def test_any_other_number_is_refused(value):
    with pytest.raises(BadSetting, match=r"^N must be a whole number from 1 to 20, not "):
        number({"N": value}, "N", default=7, least=1, most=20)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("", ""),
        ("https://Sayso.Example.org/", "https://sayso.example.org"),
        ("http://127.0.0.1:8000", "http://127.0.0.1:8000"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        # Browsers leave the usual port out.
        ("https://sayso.example.org:443", "https://sayso.example.org"),
        ("http://sayso.example.org:80/", "http://sayso.example.org"),
        ("https://sayso.example.org:80", "https://sayso.example.org:80"),
        ("https://sayso.example.org:", "https://sayso.example.org"),
    ],
)
def test_an_origin_is_written_as_browsers_do(value, found):
    assert origin({"O": value}, "O") == found


@pytest.mark.parametrize(
    "value",
    [
        "sayso.example.org",
        "sayso.example.org:8000",
        "ftp://sayso.example.org",
        "https://",
        "https://:8000",
        "https://sayso.example.org/path",
        "https://sayso.example.org?x",
        "https://me@sayso.example.org",
        "https://sayso.example.org:port",
        "https://sayso.example.org:70000",
        "https://[::1",
        "https://two hosts",
    ],
)
def test_any_other_origin_is_refused(value):
    with pytest.raises(BadSetting, match=r"^O must be an address such as https://sayso\.example\.org, not "):
        origin({"O": value}, "O")


def test_an_address_of_a_database_keeps_its_password_to_itself():
    assert database({}, "D") is None
    assert database({"D": "postgres://me:secret@db:5433/sayso"}, "D").port == 5433
    assert database({"D": "postgresql:///sayso"}, "D").path == "/sayso"
    for value in ("db", "mysql://me:secret@db/x", "postgres://me:secret@db:port/x", "postgres://me:secret@db"):
        with pytest.raises(BadSetting) as refused:
            database({"D": value}, "D")
        assert str(refused.value) == "D must be an address such as postgres://user:password@host:5432/name."


def test_a_level_of_the_log_is_one_that_exists():
    assert log_level({}, "L") == "WARNING"
    assert log_level({"L": "info"}, "L") == "INFO"
    with pytest.raises(BadSetting, match=r"^L must be one of DEBUG, INFO, WARNING, ERROR, CRITICAL, not 'LOUD'\.$"):
        log_level({"L": "loud"}, "L")


@pytest.mark.parametrize(
    ("host", "public", "shown"),
    [
        ("127.0.0.1", "", "http://127.0.0.1:8000"),
        ("0.0.0.0", "", "http://127.0.0.1:8000"),
        ("::", "", "http://localhost:8000"),
        ("[::1]", "", "http://localhost:8000"),
        ("10.1.2.3", "", "http://10.1.2.3:8000"),
        ("fd00::1", "", "http://[fd00::1]:8000"),
        ("0.0.0.0", "https://sayso.example.org", "https://sayso.example.org"),
    ],
)
def test_the_address_that_is_shown_can_be_opened(host, public, shown):
    assert address(host=host, port=8000, origin=public) == shown
