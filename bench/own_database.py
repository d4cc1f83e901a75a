"""A database of its own for a benchmark that runs in this process: a folder on SQLite, a new one on PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit


@contextlib.contextmanager
def own_database() -> Iterator[None]:
    """Name it in the environment, before Django is set up, and remove it afterwards."""
    url = os.environ.get("DATABASE_URL", "")
    with tempfile.TemporaryDirectory(prefix="sayso-bench-") as folder:
        os.environ["SAYSO_DATA_DIR"] = folder
        if not url:
            yield
            return
        import psycopg

        name = f"sayso_bench_{secrets.token_hex(4)}"
        with psycopg.connect(url, autocommit=True) as link:
            link.execute(f'create database "{name}"')
            os.environ["DATABASE_URL"] = urlunsplit(urlsplit(url)._replace(path=f"/{name}"))
            try:
                yield
            finally:
                link.execute(f'drop database "{name}" with (force)')
