"""Small shared values: ids, canonical JSON, hashes and the clock."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import time
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Protocol

import orjson


def new_id() -> str:
    """Return 32 hex digits: 48 bits of Unix milliseconds, then 80 random bits, so that rows sort by age."""
    return f"{time.time_ns() // 1_000_000:012x}{os.urandom(10).hex()}"


# Made once: json.dumps with options of its own makes an encoder for every call.
_canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
_FAST = orjson.OPT_SORT_KEYS | orjson.OPT_PASSTHROUGH_SUBCLASS | orjson.OPT_PASSTHROUGH_DATACLASS


def canonical_json(value: Any) -> str:
    """Return JSON with sorted keys, no blanks and no escapes beyond JSON's own (RFC 8785 in spirit)."""
    return _canonical.encode(value)


def canonical_texts(value: Any) -> str:
    """Return `canonical_json` of texts and whole numbers, several times as fast; of fractions the form may differ."""
    try:
        return orjson.dumps(value, option=_FAST).decode()
    except TypeError:
        # A lone surrogate, a number beyond 64 bits.
        return _canonical.encode(value)


def sha256_hex(text: str) -> str:
    """Return the SHA-256 of the text's UTF-8 as 64 hex digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digest_of(value: Any) -> str:
    """Return the SHA-256 over the canonical JSON of a value; raises ValueError for what is no number."""
    return sha256_hex(canonical_json(value))


def digest_of_texts(value: Any) -> str:
    """Return `digest_of` a value of texts and whole numbers, several times as fast."""
    return sha256_hex(canonical_texts(value))


@lru_cache(maxsize=4096)
def name_hash(*, profile_id: str, name: str) -> str:
    """Return by what a record that never changes names a thing whose own name may have to go."""
    return digest_of_texts([profile_id, name])


class Timer(Protocol):
    """What `Clock.call_at` returns."""

    def cancel(self) -> None:
        """Forget the call."""


class Clock(Protocol):
    """Where time comes from; tests inject their own."""

    def now_ms(self) -> int:
        """Return Unix milliseconds."""

    def call_at(self, at_ms: int, callback: Callable[[], None]) -> Timer:
        """Run the callback on the running loop once the clock reads `at_ms`."""


class SystemClock:
    """The machine's own clock."""

    def now_ms(self) -> int:
        """Return Unix milliseconds."""
        return time.time_ns() // 1_000_000

    def call_at(self, at_ms: int, callback: Callable[[], None]) -> Timer:
        """Run the callback on the running loop once the clock reads `at_ms`."""
        delay_s = max(0.0, (at_ms - self.now_ms()) / 1000)
        return asyncio.get_running_loop().call_later(delay_s, callback)


_clock: Clock = SystemClock()


def clock() -> Clock:
    """Return the clock in force."""
    return _clock


def set_clock(other: Clock) -> None:
    """Put another clock in force (tests only)."""
    global _clock
    _clock = other


def now_ms() -> int:
    """Return the clock's Unix milliseconds; only edges call this, the rest gets `now_ms` as an argument."""
    return _clock.now_ms()
