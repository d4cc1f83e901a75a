// What can be done with a session: pin, archive, export, close, ask to delete. The list and the session's page share it.
import { call } from "../api.js";
import { ask } from "../asking.js";
import { announce, notice } from "../live.js";
import { makeMenu } from "../menu.js";
import { say } from "../words.js";

const CLOSE_WAIT_S = 15;
export const mayWrite = document.documentElement.dataset.role !== "viewer";

/** Return where a session lies in the API. */
export const pathOf = (id) => `/api/sessions/${encodeURIComponent(id)}`;
/** Return the page of a session. */
export const pageOf = (id) => `/sessions/${encodeURIComponent(id)}`;
export const exportOf = (id, format) => `${pathOf(id)}/export?format=${format}`;

/** Make the menu of a session as lists and standings describe it; `changed` is called after something was done. */
export function menuOf(session, changed) {
  const { id, label: name } = session;
  const entries = [
    ...(mayWrite ? shelving(session, changed) : []),
    { label: say("export_jsonl"), href: exportOf(id, "jsonl"), file: "" },
    { label: say("export_markdown"), href: exportOf(id, "markdown"), file: "" },
    ...(mayWrite && session.live ? [{ label: say("close_where_open"), press: () => closeSession(session) }] : []),
    ...(mayWrite ? [{ label: say("delete"), name: "delete", danger: true, press: () => askToDelete(session) }] : []),
  ];
  return makeMenu({ label: say("menu", { name }), entries });
}

function shelving(session, changed) {
  const pin = session.pinned ? "unpin" : "pin";
  const archive = session.archived ? "unarchive" : "archive";
  return [pin, archive].map((verb) => ({ label: say(verb), name: verb, press: () => shelve(session, verb, changed) }));
}

/** Pin, unpin, archive or unarchive; tells whether it was done. */
export async function shelve({ id, label: name }, verb, changed = () => {}) {
  try {
    await call("POST", `${pathOf(id)}/${verb}`, { body: {} });
    announce(say(`${verb}_done`, { name }));
    changed();
    return true;
  } catch (error) {
    notice({ title: error.message, seconds: 10 });
    return false;
  }
}

/** Ask the host that holds a session to let it go; tells whether it did. */
export async function closeSession({ id }) {
  const done = notice({ key: "closing", title: say("closing") });
  try {
    // Asked once, then waited for: the wait ends as soon as the host lets go.
    await call("POST", `${pathOf(id)}/close?wait=${CLOSE_WAIT_S}`, { body: {} });
    const { body } = await call("GET", `${pathOf(id)}/standing`);
    notice({ key: "closing", title: say(body.live ? "still_open" : "closed"), seconds: 8 });
    return !body.live;
  } catch (error) {
    done();
    notice({ title: error.message, seconds: 10 });
    return false;
  }
}

/** Ask to delete a session: the dialog opens, or the page says what is in the way and helps with it. */
export async function askToDelete(session) {
  try {
    await ask("POST", "/api/agent-control/session/delete", { sessionId: session.id });
  } catch (error) {
    const helps = error.code === "SESSION_LIVE" ? [{ label: say("close_then_delete"), primary: true, press: () => closeAndDelete(session) }] : [];
    notice({ key: "delete", title: error.message, line: error.words, buttons: helps, seconds: helps.length ? 0 : 12 });
    announce(error.message);
  }
}

async function closeAndDelete(session) {
  if (await closeSession(session)) await askToDelete(session);
}

/** Ask to remove a turn from what the model sees, by its reply or, where there is none that can be named, its number. */
export async function askToRemoveTurn({ id, turn, messageId }) {
  const handle = /^[A-Za-z0-9._:@-]{1,200}$/.test(messageId ?? "") ? { assistantMessageId: messageId } : { turn };
  try {
    const { body } = await ask("POST", "/api/agent-control/turn/delete", { sessionId: id, ...handle });
    return body;
  } catch (error) {
    notice({ key: "remove", title: error.message, line: error.words, seconds: 12 });
    announce(error.message);
    return null;
  }
}
