// Beside the card that deletes a session: a last look whether it may go at all.
import { read } from "../api.js";
import { companions } from "../companions.js";
import { sentence } from "../words.js";

const spellings = (id) => (id.startsWith("session-") && id !== "session-" ? [id, id.slice(8)] : [id, `session-${id}`]);

companions.set("sessions.delete", {
  /** Read the list again before a deletion is sent; the server looks once more by itself. */
  async check(card) {
    const id = card.facts?.session;
    if (!id) return "";
    const { sessions } = await read("/api/agent-control/sessions");
    const row = sessions.find(({ sessionId }) => spellings(id).includes(sessionId));
    if (!row) return sentence("TARGET_NOT_FOUND");
    return row.live ? sentence("SESSION_LIVE") : "";
  },
});
