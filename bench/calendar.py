"""A calendar of 10,000 events: reading a week, writing one event, importing the file, a kill in the middle.

Radicale, `recurring-ical-events`, a Django `.values()` read and the bare `icalendar` parse stand beside it.
"""

from __future__ import annotations

import sys
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def give_way() -> None:
    """Be the standard library's `calendar` for whoever imports that name with this folder on the path."""
    path = Path(sysconfig.get_path("stdlib")) / "calendar.py"
    spec = spec_from_file_location("calendar", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules["calendar"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    from calendar_run import main

    main()
else:
    give_way()
