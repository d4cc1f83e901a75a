"""Calls of the gate."""

from tests.endpoints.calls.base import Call


def asked(things):
    return {"confirmation_id": things.asked}


def decision(things):
    row = things.world.card(things.asked)
    nonce = things.clients["person"].get(f"/api/inbox/{row.pk}").json()["nonce"]
    return {"decision": "deny", "acknowledged": True, "digest": row.digest, "nonce": nonce}


CALLS = {
    "confirmations_list": [Call()],
    "confirmations_read": [Call(path=asked)],
    "confirmations_withdraw": [Call(path=asked)],
    "confirmations_events": [Call()],
    "confirmations_allow_again": [Call(by="person", path=lambda things: {"confirmation_id": things.denied})],
    "confirmations_decide": [
        Call(
            by="person",
            path=asked,
            body=decision,
            # A nonce or a digest of another card, and a claim without a tick, have codes of their own.
            missing={"nonce": {409}, "digest": {409}},
        )
    ],
    "inbox_list": [Call(by="person", query=lambda things: {"state": "past"})],
    "inbox_read": [Call(by="person", path=asked)],
    "receipts_read": [Call(path=lambda things: {"receipt_id": things.receipt})],
    "schema_retrieve": [Call(by="nobody")],
}
