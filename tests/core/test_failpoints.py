"""Points where a test may kill the process cost nothing and do nothing while they are not armed."""

import signal
import subprocess
import sys

from apps.core.failpoints import POINTS, reach

SCRIPT = "from apps.core.failpoints import reach; reach('{name}'); print('alive')"


def run(name, *, armed):
    environment = {"SAYSO_FAIL_AT": armed} if armed else {}
    return subprocess.run(
        [sys.executable, "-c", SCRIPT.format(name=name)], env=environment, capture_output=True, check=False
    )


def test_an_unarmed_point_does_nothing():
    for name in POINTS:
        reach(name)


def test_an_armed_point_kills_the_process_at_once():
    assert run("decide.locked", armed="decide.locked").returncode == -signal.SIGKILL
    assert run("decide.locked", armed="a,decide.locked").returncode == -signal.SIGKILL
    assert run("decide.locked", armed="execute.acted").stdout == b"alive\n"
