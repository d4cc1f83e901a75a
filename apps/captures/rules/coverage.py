"""The versioned coverage declaration: its form, its check and what a reader may make of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from apps.captures.rules.errors import InvalidCoverage
from apps.core.values import canonical_json

COVERAGE_KEY = "powercontext_capture_coverage"
SCHEMA = "powercontext.capture-coverage.v1"
MAX_BYTES = 512

HERMES_TURN = "hermes-turn-text.v1"
HERMES_PRECOMPRESS = "hermes-precompress-text.v1"
GATEWAY_TURN = "gateway-turn-text.v1"

COMPLETE = "complete"
PARTIAL = "partial"
UNKNOWN = "unknown"
STATUSES = frozenset({COMPLETE, PARTIAL, UNKNOWN})

CHARACTER_LIMIT = "character_limit"
FIELD_BYTE_LIMIT = "field_byte_limit"
TRANSCRIPT_BYTE_LIMIT = "transcript_byte_limit"
UNMEASURED = "unmeasured_projection"


@dataclass(frozen=True, kw_only=True)
class Profile:
    """What a projection counts in, and the losses that can happen to it."""

    unit: str
    losses: frozenset[str]


PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        HERMES_TURN: Profile(unit="user_assistant_text_pair", losses=frozenset({CHARACTER_LIMIT})),
        HERMES_PRECOMPRESS: Profile(unit="new_user_assistant_window", losses=frozenset({CHARACTER_LIMIT})),
        GATEWAY_TURN: Profile(
            unit="gateway_turn_projection", losses=frozenset({FIELD_BYTE_LIMIT, TRANSCRIPT_BYTE_LIMIT})
        ),
    }
)
MEMBERS = frozenset({"schema", "projection", "unit", "status", "reasons"})


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """One valid declaration; making an invalid one raises InvalidCoverage."""

    projection: str
    status: str
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what the check of readers would refuse."""
        if problem := problem_of(self.as_object()):
            raise InvalidCoverage(problem=problem)

    def as_object(self) -> dict[str, Any]:
        """Return the JSON object that travels in the metadata."""
        profile = PROFILES.get(self.projection)
        return {
            "schema": SCHEMA,
            "projection": self.projection,
            "unit": profile.unit if profile else "",
            "status": self.status,
            "reasons": list(self.reasons),
        }


def declare(*, projection: str, losses: Iterable[str], unmeasured: bool = False) -> Coverage:
    """Declare what a projector saw happen: the losses, and whether it could see the whole unit at all."""
    reasons = sorted({*losses, UNMEASURED} if unmeasured else set(losses))
    status = UNKNOWN if unmeasured else PARTIAL if reasons else COMPLETE
    return Coverage(projection=projection, status=status, reasons=tuple(reasons))


def size_of(value: object) -> int:
    """Return the UTF-8 bytes of the value's canonical JSON."""
    return len(canonical_json(value).encode("utf-8", "surrogatepass"))


def problem_of(value: object) -> str | None:
    """Return the code of the first problem of a declaration, None when it is valid."""
    if not isinstance(value, dict):
        return "not_object"
    if not _small(value):
        return "too_large"
    if MEMBERS.difference(value):
        return "missing_field"
    if value.keys() - MEMBERS:
        return "extra_field"
    if value["schema"] != SCHEMA:
        return "unknown_schema"
    profile = PROFILES.get(value["projection"]) if isinstance(value["projection"], str) else None
    if profile is None:
        return "unknown_projection"
    if value["unit"] != profile.unit:
        return "unit_mismatch"
    status = value["status"]
    if not isinstance(status, str) or status not in STATUSES:
        return "bad_status"
    return None if _reasons_fit(value["reasons"], status=status, profile=profile) else "bad_reasons"


def _small(value: dict[Any, Any]) -> bool:
    try:
        return size_of(value) <= MAX_BYTES
    except (TypeError, ValueError, RecursionError):  # no JSON at all: nothing that could be measured
        return False


def _reasons_fit(reasons: object, *, status: str, profile: Profile) -> bool:
    """Tell whether the reasons are distinct, in order, possible in the profile, and what the status asks for."""
    if not isinstance(reasons, list) or not all(isinstance(reason, str) for reason in reasons):
        return False
    if reasons != sorted(set(reasons)) or not set(reasons) <= profile.losses | {UNMEASURED}:
        return False
    if (UNMEASURED in reasons) != (status == UNKNOWN):
        return False
    return bool(reasons) != (status == COMPLETE)


@dataclass(frozen=True, kw_only=True)
class Interpretation:
    """What a reader may say: the declared status, or `unknown` with the problem that keeps it from saying more."""

    status: str
    reasons: tuple[str, ...]
    problem: str | None


def interpret(metadata: object) -> Interpretation:
    """Read the declaration in stored metadata; it is the capturer's claim and grants nothing."""
    if not isinstance(metadata, Mapping) or COVERAGE_KEY not in metadata:
        return Interpretation(status=UNKNOWN, reasons=(), problem="missing")
    declared = metadata[COVERAGE_KEY]
    if problem := problem_of(declared):
        return Interpretation(status=UNKNOWN, reasons=(), problem=problem)
    return Interpretation(status=declared["status"], reasons=tuple(declared["reasons"]), problem=None)
