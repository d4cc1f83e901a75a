"""What is known of a session or a log file, for a terminal."""

from __future__ import annotations

from typing import Any

from apps.core.text import visible

NOT_ERASED = "What was hidden is not erased: it is still stored in the log."


def lines_of(report: dict[str, Any]) -> list[str]:
    """Return the report for a terminal; nothing that comes from the log can move its cursor."""
    load, torn = report["load"], report["torn"]
    lines = [
        f"Session {visible(report['header']['id'])}: {report['events']} events, {len(report['surface'])} visible",
        "Opens." if load["ok"] else f"Would not open: {load['code']}: {visible(load['sentence'])}",
    ]
    if report["damage"]:
        lines.append(f"Damaged: {visible(report['damage'])}")
    if report["open_turn"]:
        lines.append("Its last turn is still open.")
    if torn:
        lines.append(f"Its end is cut off: {torn['lines']} lines and {torn['bytes_left']} bytes were dropped.")
    lines += ["", "Turn        stored              visible"]
    for turn in report["turns"]:
        name = "between" if turn["turn"] is None else str(turn["turn"])
        stored, seen = _amount(turn["stored"]), _amount(turn["visible"])
        lines.append(f"{name:<12}{stored:<20}{seen:<20}{'removed' if turn['removed'] else ''}".rstrip())
    for removal in report["removals"]:
        made = "by the first plugin" if removal["legacy"] else f"by {visible(str(removal['producer']))}"
        lines += ["", f"Turn {removal['turn']} was removed {made} at {removal['seq']}: {removal['shadowed']}"]
        left = report["left_behind"].get(str(removal["turn"]), {})
        lines += [f"  still in force: {number} {name}" for name, number in left.items()]
    if report["hidden"]:
        lines += ["", NOT_ERASED]
    for one in report["hidden"]:
        lines.append(f"  {one['seq']} {one['type']} ({one['by']} at {one['by_seq']}): {visible(one['text'])}")
    return lines


def _amount(amount: dict[str, int]) -> str:
    return f"{amount['messages']} ({amount['tokens']} tokens)"
