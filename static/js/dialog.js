// The one dialog that decides. It shows the server's words as text, and nothing but a person's deliberate act counts:
// a tick, then a press of a button that began after the dialog had been open for a while without any key held.
import { call } from "./api.js";
import { decide, find, happenings, open as openCards, serverNow, stateOf } from "./cards.js";
import { isolate, showLines, showRequester } from "./card_text.js";
import { companions } from "./companions.js";
import { anyHeld, keys } from "./keys.js";
import { announce, dropNotice, notice } from "./live.js";
import { moment, span } from "./time.js";
import { say, sentence } from "./words.js";

const ARMING_MS = 600;
const SETTLE_MS = 400;
const CARRYING_OUT_MS = 30000;
const dialog = document.getElementById("ask");
const part = Object.fromEntries([...dialog.querySelectorAll("[data-part]")].map((node) => [node.dataset.part, node]));

const usualTick = part["tick-label"].textContent;

let current = null;
let armed = false;
let sending = false;
let over = false;
let read = false;
let quietSince = 0;
let armTimer = 0;
let countTimer = 0;
let freshSpace = false;

/** Decided on this very page, so that no notice repeats it. */
export const decidedHere = new Set();

/** Open the dialog for a card; nothing happens while it is open for another one. */
export async function review(id) {
  if (dialog.open) return;
  const entry = await find(id).catch(() => null);
  if (!entry) return notice({ title: sentence("already_ended"), seconds: 8 });
  if (dialog.open) return;
  current = id;
  sending = over = read = false;
  dropNotice(id);
  fill(entry.card);
  part.tick.checked = false;
  part.reason.value = "";
  part.reason.closest("details").open = false;
  part.outcome.hidden = true;
  part.unread.hidden = true;
  part.text.scrollTop = 0;
  arm();
  dialog.showModal();
  part.keep.focus();
  watchReading();
  countTimer = setInterval(showLeft, 1000);
}

/** Tell whether the dialog is open. */
export const isOpen = () => dialog.open;

function fill(card) {
  const names = [card.facts?.title, card.facts?.calendar];
  isolate(part.question, card.question, names);
  isolate(part.consequence, card.consequence, names);
  isolate(part["confirm-label"], card.confirm_label, names);
  part.keep.textContent = card.keep_label;
  part.undo.textContent = card.undo;
  part.undo.classList.toggle("never", card.undo === say("no_undo"));
  part.profile.textContent = card.profile.name;
  part["tick-label"].textContent = card.tick_label || usualTick;
  showLines(part.lines, card.lines);
  part.offers.hidden = !card.offers?.length;
  part.offers.replaceChildren(...(card.offers ?? []).map(offered));
  part["purpose-box"].hidden = !card.purpose;
  part.purpose.textContent = card.purpose;
  showRequester(part.requester, card);
  part.louder.hidden = !card.louder;
  dialog.classList.toggle("louder", card.louder);
  showLeft();
  refresh();
}

/** What is milder than a yes: a link, or a change after which the answer is no. */
function offered({ label, href, instead }) {
  const node = document.createElement(instead ? "button" : "a");
  node.className = "button";
  node.textContent = label;
  if (instead) {
    node.type = "button";
    node.addEventListener("click", () => doInstead(href, label));
  } else {
    node.href = href;
    node.download = "";
  }
  return node;
}

function showLeft() {
  const card = openCards.get(current)?.card;
  if (!card) return;
  const left = card.deadline_ms - serverNow();
  part.left.textContent = left > 0 ? say("left", { time: span(left) }) : say("left_none");
  part.left.parentElement.toggleAttribute("data-urgent", left < (card.deadline_ms - card.asked_at_ms) / 10);
}

// --- Arming: 600 ms without a held key -------------------------------------------------------------------------------
function arm() {
  armed = false;
  quietSince = performance.now();
  dialog.dataset.arming = "";
  checkArmed();
}

function checkArmed() {
  clearTimeout(armTimer);
  if (armed) return;
  if (anyHeld()) quietSince = performance.now();
  const left = ARMING_MS - (performance.now() - quietSince);
  if (left <= 0) {
    armed = true;
    delete dialog.dataset.arming;
    refresh();
  } else if (!anyHeld()) armTimer = setTimeout(checkArmed, left);
}

function restartArming() {
  if (!dialog.open || armed) return;
  quietSince = performance.now();
  checkArmed();
}
keys.addEventListener("held", restartArming);
keys.addEventListener("released", restartArming);

function refresh() {
  const closed = sending || over;
  part.tick.disabled = closed || !read;
  part.confirm.disabled = closed || !armed || !read || !part.tick.checked;
  part.keep.disabled = closed;
  for (const button of part.offers.querySelectorAll("button")) button.disabled = closed || !armed;
  part.keep.setAttribute("aria-disabled", String(closed || !armed));
  part.decide.hidden = part.keep.hidden = part.confirm.hidden = over;
  part.offers.toggleAttribute("inert", closed);
  part.left.parentElement.hidden = over;
  part.close.hidden = !over;
}

// --- Reading: the tick waits until the end of the text was in view -----------------------------------------------------
const reading = new IntersectionObserver(([{ isIntersecting }]) => {
  if (!dialog.open || read) return;
  read = isIntersecting;
  part.unread.hidden = read;
  part.unread.textContent = say("scroll_first");
  part.text.tabIndex = read && part.text.tabIndex < 0 ? -1 : 0;
  if (read) reading.disconnect();
  refresh();
});

function watchReading() {
  part.text.tabIndex = -1;
  reading.disconnect();
  reading.observe(part.end);
}

// --- Keys: held ones do nothing, and a press must begin in here ------------------------------------------------------
dialog.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" && event.key !== " ") return;
  if (event.target === part.reason) return;
  const fresh = !event.repeat && armed;
  if (event.key === " ") freshSpace = fresh;
  if (!fresh) event.preventDefault();
}, true);
dialog.addEventListener("keyup", (event) => {
  if (event.key !== " " || event.target === part.reason) return;
  // A space held while the dialog opened is released here, but was not pressed here.
  if (!freshSpace) event.preventDefault();
  freshSpace = false;
}, true);
part.tick.addEventListener("change", refresh);
part.keep.addEventListener("click", () => send("deny"));
part.confirm.addEventListener("click", () => send("approve"));
part.close.addEventListener("click", shut);
dialog.addEventListener("close", rest);
// While it works, Escape does nothing.
dialog.addEventListener("cancel", (event) => { if (sending) event.preventDefault(); });
dialog.addEventListener("keydown", (event) => { if (sending && event.key === "Escape") event.preventDefault(); });

function shut() {
  dialog.close();
  rest();
}

function rest() {
  // The event comes late: the dialog may be open again, for the next card.
  if (dialog.open) return;
  clearInterval(countTimer);
  clearTimeout(armTimer);
  reading.disconnect();
  current = null;
}

async function doInstead(href, label) {
  if (!armed || sending || over) return;
  const id = current;
  sending = true;
  refresh();
  showOutcome(say("sending"));
  try {
    await call("POST", href);
  } catch (error) {
    sending = false;
    if (current === id) again(error.message);
    return;
  }
  sending = false;
  if (current === id && !over) send("deny", label);
}

// --- Deciding --------------------------------------------------------------------------------------------------------
/** Look once more whether it may go; a look that fails is left to the server's own. */
async function objection(card) {
  const check = companions.get(card?.contract)?.check;
  return check ? check(card).catch(() => "") : "";
}

async function send(decision, instead = "") {
  if (!armed || sending || over || (decision === "approve" && !(part.tick.checked && read))) return;
  const id = current;
  const { card } = openCards.get(id) ?? {};
  sending = true;
  decidedHere.add(id);
  refresh();
  showOutcome(say("sending"));
  const settled = new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const reasons = decision === "approve" ? await objection(card) : "";
  if (reasons) {
    await settled;
    sending = false;
    decidedHere.delete(id);
    return current === id ? again(reasons) : notice({ title: reasons, seconds: 10 });
  }
  try {
    const reason = decision === "deny" ? part.reason.value.trim() || instead : "";
    const answer = await decide(id, { decision, reason });
    // The second click of a double click must still find the dialog.
    await settled;
    sending = false;
    if (answer.type === "decision.taken") taken(id, card, answer);
    else refused(id, answer);
  } catch (error) {
    await settled;
    sending = false;
    decidedHere.delete(id);
    if (current !== id) return notice({ title: say("unknown_sent"), line: card?.question });
    if (error.message === "not sent") again(say("not_sent"));
    else {
      // Shown again, or taken away, as soon as the connection is back.
      sending = true;
      refresh();
      showOutcome(say("unknown_sent"));
    }
  }
}

function taken(id, card, { state, code, detail = "", receipt_id: receipt }) {
  const head = `${say("states")[state]}: ${card?.question ?? ""}`;
  const known = say("codes")[code];
  // The server's own words in brackets, where ours say less.
  const words = detail && detail !== known ? `(${detail})` : "";
  const plain = [say("sentences")[state], known, words].filter(Boolean).join(" ");
  const buttons = receipt ? [{ label: say("receipt"), href: `/receipts/${encodeURIComponent(receipt)}` }] : [];
  if (current === id && state === "executing") return carryingOut(id, plain);
  if (current === id && (state === "executed" || state === "denied")) shut();
  if (current === id) finish(plain, { good: state === "executing" });
  else notice({ title: head, line: plain, buttons, seconds: 10 });
  announce(`${head} ${plain}`);
}

/** Agreed to, and not done yet: the dialog waits for the end, but not for ever. */
function carryingOut(id, plain) {
  sending = true;
  refresh();
  showOutcome(plain, true);
  setTimeout(() => { if (current === id && sending) { sending = false; finish(plain, { good: true }); } }, CARRYING_OUT_MS);
}

function refused(id, { code, detail, state, by, at }) {
  decidedHere.delete(id);
  if (current !== id) return notice({ title: sentence(code, detail), seconds: 10 });
  if (code === "already_ended" || !openCards.has(id)) {
    const who = by && at ? say("decided_by", { by, at: moment(at) }) : "";
    return finish([sentence("already_ended"), say("sentences")[state], who].filter(Boolean).join(" "));
  }
  again(sentence(code, detail));
}

function again(text) {
  part.tick.checked = false;
  showOutcome(text);
  arm();
  refresh();
  part.keep.focus();
}

function finish(text, { good = false } = {}) {
  over = true;
  refresh();
  showOutcome(text, good);
  part.close.focus();
}

function showOutcome(text, good = false) {
  part.outcome.textContent = text;
  part.outcome.classList.toggle("good", good);
  part.outcome.hidden = false;
}

// --- What happens to the card meanwhile --------------------------------------------------------------------------------
happenings.addEventListener("shown", ({ detail: { card } }) => {
  if (!dialog.open || card.id !== current || over) return;
  fill(card);
  if (sending && part.outcome.textContent === say("unknown_sent")) {
    sending = false;
    again(say("not_sent"));
  }
});
happenings.addEventListener("ended", async ({ detail: { id, card, state, by, at } }) => {
  if (!dialog.open || id !== current || over) return;
  if (decidedHere.has(id) && part.outcome.textContent.startsWith(say("sentences").executing)) {
    const facts = await stateOf(id).catch(() => ({ state }));
    sending = false;
    return current === id && !over ? taken(id, card, facts) : undefined;
  }
  if (sending && part.outcome.textContent !== say("unknown_sent")) return;
  sending = false;
  const who = by && at ? say("decided_by", { by, at: moment(at) }) : "";
  finish([say("sentences")[state] ?? sentence("already_ended"), who].filter(Boolean).join(" "), { good: state === "executed" });
});
