"""The inbox: what waits for the person, what ended, one card, one receipt."""

from __future__ import annotations

import json
from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone, translation
from django.views.decorators.http import require_POST

from apps.accounts.queries import deciding_places
from apps.confirmations import queries
from apps.confirmations.actions import allow_again
from apps.confirmations.models import Confirmation
from apps.confirmations.rules import Decider, check_before
from apps.confirmations.serializers import card, past_card, safe
from apps.core.contracts import UnknownContract, contract_named
from apps.core.errors import NotFound
from apps.core.values import now_ms
from apps.ledger.models import Receipt
from apps.ledger.queries import receipt_for
from apps.web.views.person import back_to, caller_in, signed_in

PAGE_SIZE = 20


@signed_in
def inbox(request: Any) -> HttpResponse:
    """Show the open cards, then those that ended, the latest first."""
    places = deciding_places(request.places)
    before = check_before(request.GET.get("before", ""))
    rows = queries.past_cards(profile_ids=list(places), limit=PAGE_SIZE + 1, before=before)
    last = rows[PAGE_SIZE - 1] if len(rows) > PAGE_SIZE else None
    context = {
        "section": "inbox",
        "open_cards": [] if before else [shown(request, row) for row in queries.open_cards(profile_ids=list(places))],
        "past_cards": [ended(request, row) for row in rows[:PAGE_SIZE]],
        "older": f"{last.decided_at_ms}.{last.change_seq}" if last else "",
        "before": before,
    }
    return render(request, "inbox/index.html", context)


def shown(request: Any, row: Confirmation) -> dict[str, Any]:
    """Return an open card as the page shows it."""
    return card(row, **view_of(request, row))


def ended(request: Any, row: Confirmation) -> dict[str, Any]:
    """Return an ended card as the page shows it."""
    return past_card(row, **view_of(request, row))


def view_of(request: Any, row: Confirmation) -> dict[str, Any]:
    """Return for whom a card is put into words."""
    place = deciding_places(request.places)[row.profile_id]
    return {"place": place, "language": translation.get_language(), "time_zone": request.caller.time_zone}


@signed_in
def card_page(request: Any, confirmation_id: str) -> HttpResponse:
    """Show one card with everything that is known of it; hidden and missing look alike."""
    row = queries.card_for(profile_ids=list(deciding_places(request.places)), confirmation_id=confirmation_id)
    if row is None:
        raise Http404
    return render(request, "inbox/card.html", {"section": "inbox", "card": ended(request, row)})


@require_POST
@signed_in
def ask_again(request: Any, confirmation_id: str) -> HttpResponse:
    """Let a denied request be asked again at once."""
    who = Decider(user_id=request.caller.user_id, label=request.caller.label, session="")
    allow_again(by=who, confirmation_id=confirmation_id, now_ms=now_ms())
    return redirect(back_to(request))


@signed_in
def receipt_page(request: Any, receipt_id: str) -> HttpResponse:
    """Show what was decided and done, as it was written down."""
    row = find_receipt(request, receipt_id)
    body = json.loads(row.body)
    facts = safe(body.get("shown", {}))
    try:
        words = contract_named(body.get("contract", "")).words(facts, timezone.get_current_timezone())
    except UnknownContract:
        words = None
    context = {
        "section": "inbox",
        "receipt": safe(body),
        "row": row,
        "words": words,
        "raw": json.dumps(body, indent=2, sort_keys=True),
    }
    return render(request, "inbox/receipt.html", context)


def find_receipt(request: Any, receipt_id: str) -> Receipt:
    """Return a receipt of any of the person's profiles."""
    for place in request.places:
        try:
            return receipt_for(by=caller_in(request, place), receipt_id=receipt_id)
        except NotFound:
            continue
    raise Http404
