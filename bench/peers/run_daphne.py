"""Run a peer application on the same Daphne as Sayso, with the same backlog and open-file limit."""

from __future__ import annotations

import importlib
import resource
import sys
from pathlib import Path


def main() -> None:
    """`run_daphne.py MODULE PORT`."""
    module, port = sys.argv[1], int(sys.argv[2])
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    sys.path.insert(0, str(Path(__file__).parent))
    from daphne.server import Server

    application = importlib.import_module(module).application
    Server(
        application, endpoints=[f"tcp:port={port}:interface=127.0.0.1:backlog=4096"], verbosity=1, http_timeout=None
    ).run()


main()
