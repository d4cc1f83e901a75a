"""Alarms of the wall clock: a callback at an instant, and at once when somebody sets the clock.

A loop's own timers follow a clock that nobody can set, so that a wall clock moved on by three days would be noticed
three days late. Linux has timers of the wall clock itself (`timerfd_create(2)`), without any polling.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import sys
import time
from collections.abc import Callable

from apps.core.values import SystemClock, Timer, clock

_FLAGS = os.O_NONBLOCK | os.O_CLOEXEC
_ABSOLUTE_AND_CANCELLED_ON_SET = 3
_NS = 1_000_000


class _Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_int64), ("nanoseconds", ctypes.c_int64)]


class _Setting(ctypes.Structure):
    _fields_ = [("interval", _Time), ("value", _Time)]


class WallAlarm:
    """One alarm on the running loop; it rings once, early if the clock is set: look at the clock again then."""

    def __init__(self, at_ms: int, callback: Callable[[], None]) -> None:
        """Set the alarm; raises OSError where there is no such thing."""
        self.callback = callback
        self.loop = asyncio.get_running_loop()
        seconds, rest = divmod(max(at_ms, 1), 1000)
        setting = _Setting(_Time(0, 0), _Time(seconds, rest * _NS))
        self.handle = _library().timerfd_create(time.CLOCK_REALTIME, _FLAGS)
        if self.handle < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        if _library().timerfd_settime(self.handle, _ABSOLUTE_AND_CANCELLED_ON_SET, ctypes.byref(setting), None):
            os.close(self.handle)
            raise OSError(ctypes.get_errno(), "timerfd_settime")
        self.loop.add_reader(self.handle, self.ring)

    def ring(self) -> None:
        """Call back: the moment has come, or the clock was set."""
        with contextlib.suppress(OSError):
            os.read(self.handle, 8)
        self.cancel()
        self.callback()

    def cancel(self) -> None:
        """Forget the call."""
        if self.handle >= 0:
            if not self.loop.is_closed():
                self.loop.remove_reader(self.handle)
            os.close(self.handle)
            self.handle = -1


def alarm_at(at_ms: int, callback: Callable[[], None]) -> Timer:
    """Call back once the wall clock reads `at_ms` or is set by anybody; runs on the loop.

    Where the system has no such timers the loop's own is used, and a clock that is set is noticed at the next wake.
    """
    now = clock()
    if isinstance(now, SystemClock) and sys.platform == "linux":
        with contextlib.suppress(OSError):
            return WallAlarm(at_ms, callback)
    return now.call_at(at_ms, callback)


def _library() -> ctypes.CDLL:
    global _loaded
    if _loaded is None:
        _loaded = ctypes.CDLL(None, use_errno=True)
    return _loaded


_loaded: ctypes.CDLL | None = None
