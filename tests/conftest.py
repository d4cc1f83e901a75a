"""What every run shares: the options, the browser, and an end that is strict in CI."""

import os
from pathlib import Path

import pytest
from django.conf import settings

from tests.browser.chromium import ChromiumMissing
from tests.browser.chromium import chromium as find_chromium

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
