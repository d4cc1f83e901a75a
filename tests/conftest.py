"""What every run shares: the options, the browser, and an end that is strict in CI."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

import pytest

# Before the settings are read, which make keys and name the database file: tests never touch `data/`.
if "SAYSO_DATA_DIR" not in os.environ:
    os.environ["SAYSO_DATA_DIR"] = tempfile.mkdtemp(prefix="sayso-tests-")
    atexit.register(shutil.rmtree, os.environ["SAYSO_DATA_DIR"], ignore_errors=True)
(Path(os.environ["SAYSO_DATA_DIR"]) / "static").mkdir(parents=True, exist_ok=True)
os.environ["DJANGO_SETTINGS_MODULE"] = "project.settings"

import django  # noqa: E402
from django.conf import settings  # noqa: E402

django.setup()

from tests.browser.chromium import ChromiumMissing  # noqa: E402
from tests.browser.chromium import chromium as find_chromium  # noqa: E402
from tests.conformance.process import ServerProcess  # noqa: E402

STRICT = bool(os.environ.get("SAYSO_CI") or os.environ.get("CI"))
VECTORS = Path(__file__).parent / "vectors"


def pytest_addoption(parser):
    parser.addoption(
        "--vectors", default=VECTORS, type=Path, metavar="DIR", help="read the conformance vectors from DIR"
    )


def database_vendor():
    return settings.DATABASES["default"]["ENGINE"].rpartition(".")[2].removesuffix("3")


def pytest_collection_modifyitems(config, items):
    """Leave out what belongs to the other database: it is no part of this run, so it is not a skip either."""
    vendor = database_vendor()
    elsewhere = [item for item in items if (mark := item.get_closest_marker("only_on")) and mark.args != (vendor,)]
    if elsewhere:
        config.hook.pytest_deselected(items=elsewhere)
        items[:] = [item for item in items if item not in elsewhere]


def pytest_sessionfinish(session, exitstatus):
    """In CI a skipped test hides a missing part: fail."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if STRICT and reporter and exitstatus == pytest.ExitCode.OK and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter):
    if STRICT and (skipped := terminalreporter.stats.get("skipped")):
        names = ", ".join(sorted({report.nodeid for report in skipped}))
        terminalreporter.write_line(f"In CI a skipped test is a failure: {names}", red=True)


@pytest.fixture(scope="session")
def chromium():
    """The path of a Chromium that starts; without one the test fails and says what to install."""
    try:
        return find_chromium()
    except ChromiumMissing as error:
        pytest.fail(str(error), pytrace=False)


@pytest.fixture(scope="session")
def server():
    """One server process for all stories; each begins by emptying its database."""
    process = ServerProcess()
    try:
        yield process.start(now_ms=1_796_025_600_000)
    finally:
        process.destroy()
