"""The vectors of captures that need no server: declarations, their interpretation, the three projectors.

`capture` needs a server and a database: `captures_server.py`.
"""

from apps.captures.rules import (
    GATEWAY_TURN,
    HERMES_PRECOMPRESS,
    HERMES_TURN,
    entries_of,
    fingerprints_of,
    interpret,
    new_entries,
    problem_of,
    project,
    project_gateway_turn,
    project_turn,
    project_window,
    size_of,
)


def expanded(value):
    """Write out `$repeat` and `$concat` at every depth."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"$repeat", "times"}:
        return expanded(value["$repeat"]) * value["times"]
    if value.keys() == {"$concat"}:
        return "".join(expanded(part) for part in value["$concat"])
    return {key: expanded(item) for key, item in value.items()}


def wanted(expect):
    """Leave out the remark for readers."""
    return {key: value for key, value in expect.items() if key != "note"}


def coverage_validate(given, expect):
    coverage = expanded(given["coverage"])
    problem = problem_of(coverage)
    facts = {"valid": problem is None, "problem": problem}
    assert wanted(expect) == (facts if problem else {**facts, "bytes": size_of(coverage)})


def coverage_interpret(given, expect):
    metadata = expanded(given.get("metadata"))
    before = repr(metadata)
    found = vars(interpret(metadata))
    authority_changed = found.keys() != {"status", "reasons", "problem"} or repr(metadata) != before
    assert {**found, "reasons": list(found["reasons"]), "authority_changed": authority_changed} == wanted(expect)


def project_case(given, expect):
    given = expanded(given)
    if "pairs" in given:
        found = facts_of_pairs(given)
    else:
        found = {**facts_of(project(given)), **FACTS[given["profile"]](given)}
    facts = wanted(expect)
    assert facts.keys() <= found.keys(), f"unknown facts: {sorted(facts.keys() - found.keys())}"
    if isinstance(facts.get("kinds"), dict):
        kinds = found["kinds"]
        found["kinds"] = {"first": kinds[0], "last": kinds[-1], "count": len(kinds)}
    assert {key: found[key] for key in facts} == facts


def facts_of_pairs(given):
    found = [project({"profile": given["profile"], **pair}) for pair in given["pairs"]]
    return {
        "same_source_id": len({one.source_id for one in found}) == 1,
        "same_text": len({one.text for one in found}) == 1,
        "source_ids": [one.source_id for one in found],
        "coverages": [brief(one.coverage) for one in found],
    }


def brief(coverage):
    return coverage and {"status": coverage.status, "reasons": list(coverage.reasons)}


def facts_of(found):
    """Say what every profile has."""
    facts = {"captured": found.captured, "error": found.error, "source_id": found.source_id, "metadata": found.metadata}
    if found.captured:
        facts |= {"text": found.text, "chars": len(found.text), "coverage": brief(found.coverage)}
    return facts


def facts_of_turn(given):
    found = project_turn(user=given.get("user"), assistant=given.get("assistant"))
    said = given.get("assistant")
    visible = found is not None and isinstance(said, str) and bool(said.strip()) and said.strip() in found.text
    return {"assistant_visible": visible}


def facts_of_window(given):
    snapshot = fingerprints_of(entries_of(given.get("previous") or []))
    entries = entries_of(given["messages"])
    new = new_entries(entries, snapshot=snapshot)
    window = project_window(new)
    facts = {"entries_new": len(new), "message_count": len(new)}
    if window:
        facts |= {"entries_whole": window.whole, "entries_cut": window.cut, "entries_dropped": window.dropped}
    return facts


def facts_of_gateway(given):
    found = project_gateway_turn(given)
    if found is None:
        return {}
    return {
        "bytes": len(found.text.encode()),
        "steps_total": found.steps,
        "steps_kept": found.steps - found.omitted,
        "omitted_steps": found.omitted,
        "fields_cut": len(found.cuts),
        "bytes_cut": list(found.cuts),
        "kinds": list(found.kinds),
    }


FACTS = {HERMES_TURN: facts_of_turn, HERMES_PRECOMPRESS: facts_of_window, GATEWAY_TURN: facts_of_gateway}
OPS = {"coverage_validate": coverage_validate, "coverage_interpret": coverage_interpret, "project": project_case}
