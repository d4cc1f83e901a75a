// Which turns a person removed: read once for everybody who asks, anew after "turns changed".
import { read } from "../api.js";
import { happenings } from "../cards.js";
import { pathOf } from "./acting.js";

const known = new Map();
/** Tells `changed` when the removed turns of a session may be others; the session's id is in `detail`. */
export const turns = new EventTarget();

/** Return how a session stands, its removed turns among it; many who ask at once make one request. */
export function standingOf(session) {
  if (!known.has(session)) {
    const reading = read(`${pathOf(session)}/standing`);
    known.set(session, reading);
    // A failed read is asked again.
    reading.catch(() => { if (known.get(session) === reading) known.delete(session); });
  }
  return known.get(session);
}

/** Say that the turns of a session changed, or that changing them failed. */
export function turnsChanged(session) {
  known.delete(session);
  turns.dispatchEvent(new CustomEvent("changed", { detail: session }));
}

happenings.addEventListener("ended", ({ detail: { card, state } }) => {
  if (card?.contract === "sessions.delete_turn" && ["executed", "failed", "uncertain"].includes(state)) turnsChanged(card.facts?.session);
});
