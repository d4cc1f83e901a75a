"""The rules of captures, plain Python without Django: what a plugin author needs.

    from apps.captures.rules import COVERAGE_KEY, project_turn, turn_source_id

    turn = project_turn(user=user, assistant=assistant)  # None: nothing to capture, send nothing
    if turn is not None:
        source_id = turn_source_id(session_id=session_id, user=user, assistant=assistant)
        metadata = {"kind": "hermes-turn", "session_id": session_id, COVERAGE_KEY: turn.coverage.as_object()}
        # POST {scope_id, source_id, content: turn.text, metadata}

The other two projectors are `plan_checkpoint` (or `project_window`) and `project_gateway_turn`; `project` runs any of
the three on the JSON input of `POST /api/captures/project`. A reader asks `interpret(metadata)`.
`docs/contracts/captures.md` says more.
"""

from apps.captures.rules.coverage import (
    COVERAGE_KEY,
    GATEWAY_TURN,
    HERMES_PRECOMPRESS,
    HERMES_TURN,
    PROFILES,
    Coverage,
    Interpretation,
    declare,
    interpret,
    problem_of,
    size_of,
)
from apps.captures.rules.errors import (
    CaptureIncomplete,
    EvidenceOverBudget,
    InvalidCoverage,
    InvalidRequest,
    SourceConflict,
    SourceNotFound,
    SourcePurged,
    WindowBroken,
)
from apps.captures.rules.evidence import (
    DEFAULT_BUDGET,
    EvidenceWindow,
    estimate_tokens,
    evidence_item,
    evidence_text,
    window_within,
)
from apps.captures.rules.exchange import read_turn
from apps.captures.rules.gateway import GatewayText, project_gateway_turn
from apps.captures.rules.identity import compression_source_id, gateway_source_id, turn_source_id
from apps.captures.rules.journal import Held, Outcome, Tombstone, check_listing, check_window, outcome_of
from apps.captures.rules.messages import message_text
from apps.captures.rules.overlap import already_captured
from apps.captures.rules.payload import SOURCE_TYPE, CaptureRequest, Payload, check_id, check_request, payload_of
from apps.captures.rules.precompress import (
    MODES,
    OFF,
    OPTIONAL,
    REQUIRED,
    Checkpoint,
    Entry,
    WindowText,
    entries_of,
    fingerprints_of,
    new_entries,
    plan_checkpoint,
    project_window,
)
from apps.captures.rules.projecting import Projected, metadata_of, project
from apps.captures.rules.redaction import REDACTED, redact
from apps.captures.rules.turn import TurnText, project_turn

__all__ = [
    "COVERAGE_KEY",
    "DEFAULT_BUDGET",
    "GATEWAY_TURN",
    "HERMES_PRECOMPRESS",
    "HERMES_TURN",
    "MODES",
    "OFF",
    "OPTIONAL",
    "PROFILES",
    "REDACTED",
    "REQUIRED",
    "SOURCE_TYPE",
    "CaptureIncomplete",
    "CaptureRequest",
    "Checkpoint",
    "Coverage",
    "Entry",
    "EvidenceOverBudget",
    "EvidenceWindow",
    "GatewayText",
    "Held",
    "Interpretation",
    "InvalidCoverage",
    "InvalidRequest",
    "Outcome",
    "Payload",
    "Projected",
    "SourceConflict",
    "SourceNotFound",
    "SourcePurged",
    "Tombstone",
    "TurnText",
    "WindowBroken",
    "WindowText",
    "already_captured",
    "check_id",
    "check_listing",
    "check_request",
    "check_window",
    "compression_source_id",
    "declare",
    "entries_of",
    "estimate_tokens",
    "evidence_item",
    "evidence_text",
    "fingerprints_of",
    "gateway_source_id",
    "interpret",
    "message_text",
    "metadata_of",
    "new_entries",
    "outcome_of",
    "payload_of",
    "plan_checkpoint",
    "problem_of",
    "project",
    "project_gateway_turn",
    "project_turn",
    "project_window",
    "read_turn",
    "redact",
    "size_of",
    "turn_source_id",
    "window_within",
]
