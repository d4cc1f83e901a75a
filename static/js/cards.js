// The open cards of this person: shown, ended, decided. The server's frames are the only source.
import { call, read, Refused } from "./api.js";
import { connect } from "./socket.js";

const ANSWER_WAIT_MS = 10000;
const POLL_MS = 10000;

/** Open cards by id, as `{card, nonce}`; an empty nonce is fetched before deciding. */
export const open = new Map();
/** Tells `shown`, `ended`, `counted`, `connection`, `told` of changes that pages show, `due`; `detail` says what happened. */
export const happenings = new EventTarget();

let offset = 0;
let fresh = null;
let greeted = false;
let connection = null;
let poll = 0;
const answers = new Map();

const tell = (name, detail) => happenings.dispatchEvent(new CustomEvent(name, { detail }));

// Half a list is not counted.
const count = () => { if (greeted && fresh === null) tell("counted"); };

/** Return the server's clock. */
export const serverNow = () => Date.now() + offset;

/** Connect; called once by the frame. */
export function start() {
  connection = connect({ hear, changed });
}

function hear(frame) {
  if (frame.type === "hello") {
    offset = frame.now_ms - Date.now();
    fresh = new Set();
  } else if (frame.type === "card.shown") {
    fresh?.add(frame.card.id);
    put(frame.card, frame.nonce);
  } else if (frame.type === "cards.sent") {
    for (const id of [...open.keys()]) if (!fresh.has(id)) lookUpEnd(id);
    fresh = null;
    greeted = true;
    count();
  } else if (frame.type === "card.ended") {
    end(frame.id, frame);
  } else if (frame.type === "page.told") {
    tell("told", frame);
  } else if (frame.type === "alarm.due") {
    tell("due", frame);
  } else if (frame.type === "decision.taken" || frame.type === "decision.refused") {
    answers.get(frame.id)?.resolve(frame);
  }
}

function put(card, nonce) {
  const isNew = !open.has(card.id);
  open.set(card.id, { card, nonce });
  tell("shown", { card, isNew, live: isNew && greeted && fresh === null });
  if (isNew) count();
}

function end(id, facts) {
  const entry = open.get(id);
  open.delete(id);
  tell("ended", { id, card: entry?.card, ...facts });
  count();
}

function changed(state) {
  tell("connection", { state });
  if (state !== "open") {
    for (const { reject } of answers.values()) reject(new Error("lost"));
    poll ||= setInterval(listByRequest, POLL_MS);
  } else {
    clearInterval(poll);
    poll = 0;
  }
}

/** Read the list over plain HTTP while the socket is down. */
async function listByRequest() {
  try {
    const { cards } = await read("/api/inbox?state=open");
    for (const card of cards) if (!open.has(card.id)) put(card, "");
    for (const id of [...open.keys()]) if (!cards.some((card) => card.id === id)) await lookUpEnd(id);
  } catch {
    // The server is away; the next try comes by itself.
  }
}

/** Find out how a card ended while nobody told us. */
async function lookUpEnd(id) {
  const facts = await stateOf(id).catch(() => ({ state: "" }));
  if (facts.state !== "pending") end(id, facts);
}

/** Return how a card stands by now. */
export async function stateOf(id) {
  const { card, nonce } = await read(`/api/inbox/${encodeURIComponent(id)}`);
  return { state: card.state, by: card.decided_by, at: card.decided_at_ms, code: card.code, detail: card.detail, receipt_id: card.receipt_id, card, nonce };
}

/** Return the entry of an open card, read over HTTP if the socket has not shown it; null if it ended. */
export async function find(id) {
  if (!open.has(id)) {
    const facts = await stateOf(id);
    if (facts.state !== "pending" && facts.state !== "executing") return null;
    if (!open.has(id)) put(facts.card, "");
  }
  return open.get(id);
}

/**
 * Send a decision and return the answer frame (`decision.taken` or `decision.refused`).
 * Raises `Error("not sent")` when the card is known to be still open, `Error("unknown")` when nothing is known.
 */
export async function decide(id, { decision, reason }) {
  const { card, nonce } = open.get(id) ?? {};
  if (!card) return { type: "decision.refused", id, code: "already_ended" };
  const body = { decision, acknowledged: decision === "approve", digest: card.digest, nonce };
  if (reason) body.reason = reason;
  if (!connection.isOpen || !nonce) return decideByRequest(id, body);
  try {
    const answer = answerFor(id);
    connection.send({ type: "decide", id, ...body });
    return keepNonce(id, await answer);
  } catch {
    return afterSilence(id);
  }
}

async function decideByRequest(id, body) {
  try {
    const facts = await stateOf(id);
    if (facts.state !== "pending") return { type: "decision.refused", id, code: "already_ended", ...facts };
    const path = `/api/confirmations/${encodeURIComponent(id)}/decision`;
    return (await call("POST", path, { body: { ...body, nonce: facts.nonce } })).body;
  } catch (error) {
    if (error instanceof Refused) return keepNonce(id, { type: "decision.refused", ...error.body });
    return afterSilence(id);
  }
}

function keepNonce(id, answer) {
  const entry = open.get(id);
  if (entry) entry.nonce = answer.nonce ?? "";
  return answer;
}

async function afterSilence(id) {
  let facts;
  try {
    facts = await stateOf(id);
  } catch {
    throw new Error("unknown");
  }
  if (facts.state === "pending") {
    keepNonce(id, {});
    throw new Error("not sent");
  }
  return { type: "decision.taken", id, ...facts };
}

function answerFor(id) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("silence")), ANSWER_WAIT_MS);
    answers.set(id, {
      resolve: (frame) => { clearTimeout(timer); resolve(frame); },
      reject: (error) => { clearTimeout(timer); reject(error); },
    });
  }).finally(() => answers.delete(id));
}
