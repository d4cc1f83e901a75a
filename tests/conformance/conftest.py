"""The vectors become tests: one for each, named after its id."""

import json
from pathlib import Path


def pytest_generate_tests(metafunc):
    """Give each test of vectors the vectors of its file; a file that the directory lacks gives none."""
    kind = getattr(metafunc.function, "vectors", None)
    if kind is not None:
        cases = list(kind(metafunc.config.getoption("--vectors")))
        metafunc.parametrize("case", [case for _, case in cases], ids=[name for name, _ in cases])


def pytest_collection_modifyitems(items):
    """Forget the tests of files that are not there: nothing of them is part of this run."""
    items[:] = [item for item in items if not item.name.endswith("[NOTSET]")]


def read(directory: Path, file: str):
    """Return the vectors of a file with their test ids."""
    path = directory / file
    if not path.exists():
        return []
    return [(f"{file}::{vector['id']}", vector) for vector in json.loads(path.read_text(encoding="utf-8"))]
