// The page of a session: what is stored by turn, or what the model sees; it grows by itself and forgets nothing by guess.
import { read } from "../api.js";
import { happenings } from "../cards.js";
import { announce, notice } from "../live.js";
import { hasOpenMenu } from "../menu.js";
import { moment } from "../time.js";
import { say, sayCount } from "../words.js";
import { askToRemoveTurn, menuOf, pathOf } from "./acting.js";
import { draw } from "./drawing.js";
import { standingOf, turns, turnsChanged } from "./turns.js";

const page = document.querySelector("[data-page=session]");
const part = (name) => page.querySelector(`[data-${name}]`);
const { session: id, sessionKey: key } = page.dataset;
const path = pathOf(id);
const PAGE = 100;
const LONGEST = 500;

/** What is shown: rows in order, where the page before begins, how the session stands. */
const shown = { view: new URLSearchParams(location.search).get("view") === "seen" ? "seen" : "stored", rows: [], before: null, standing: null, revealed: new Set(), path };
let reading = null;
let again = false;
let gone = false;

const ask = async (query) => {
  const { view } = shown;
  return { view, ...(await read(`${path}/transcript?${new URLSearchParams({ view, ...query })}`)) };
};
const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 80;

// --- Reading: the newest page first, earlier ones on request, new rows as they come ---------------------------------------
async function load() {
  const answer = await ask({ limit: PAGE });
  take(answer, answer.rows, answer.before);
  page.querySelector("[data-rows]").setAttribute("aria-busy", "false");
  scrollTo(0, document.documentElement.scrollHeight);
}

function take(answer, rows, before) {
  // The answer to a question about the other view comes too late.
  if (answer.view !== shown.view) return;
  Object.assign(shown, { rows, before, standing: answer.standing });
  refresh();
}

async function older() {
  const button = part("older");
  button.disabled = true;
  const first = page.querySelector("[data-rows] > [data-seq]:not([hidden])");
  const top = first?.getBoundingClientRect().top;
  try {
    const answer = await ask({ limit: PAGE, before: shown.before });
    take(answer, [...answer.rows, ...shown.rows], answer.before);
    if (first?.isConnected) scrollBy(0, first.getBoundingClientRect().top - top);
  } catch (error) {
    notice({ title: error.message, seconds: 8 });
  }
  button.disabled = false;
}

/** Read what is new; one request at a time, and once more when something changed meanwhile. */
function sync() {
  if (gone) return;
  again = true;
  reading ??= follow().finally(() => { reading = null; });
}

async function follow() {
  while (again) {
    again = false;
    try {
      await catchUp();
    } catch (error) {
      if (error.status === 404) return leave();
    }
  }
}

async function catchUp() {
  const wasAtEnd = atEnd();
  const last = shown.rows.at(-1)?.seq ?? -1;
  const count = shown.rows.length;
  if (shown.view === "stored") {
    const answer = await ask({ after: last, limit: LONGEST });
    const grown = answer.rows.some((row) => row.kind === "message" && row.removes === undefined);
    // What the model no longer sees, or more than a page can hold: read anew what is shown.
    if (answer.more || answer.standing.replaces !== shown.standing?.replaces) await reload(count + answer.rows.length);
    else take(answer, [...shown.rows, ...answer.rows], shown.before);
    if (grown) came(wasAtEnd);
  } else {
    await reload(count + PAGE);
    if ((shown.rows.at(-1)?.seq ?? -1) > last) came(wasAtEnd);
  }
}

async function reload(count) {
  const answer = await ask({ limit: Math.min(LONGEST, Math.max(PAGE, count)) });
  take(answer, answer.rows, answer.before);
}

function came(wasAtEnd) {
  if (wasAtEnd) scrollTo(0, document.documentElement.scrollHeight);
  else part("below").hidden = false;
}

// --- Showing ------------------------------------------------------------------------------------------------------------
function refresh() {
  draw(part("rows"), shown, { animate: false });
  const { standing } = shown;
  part("older-box").hidden = shown.before === null;
  const nothing = !shown.rows.length;
  part("none").hidden = !nothing;
  part("none").textContent = say(shown.view === "seen" ? "nothing_seen" : "nothing_said");
  part("label").textContent = standing.label;
  part("facts").textContent = [standing.events ? sayCount("events", standing.events) : say("no_events"), moment(standing.last_ms || standing.created_at_ms), ...["archived", "pinned"].filter((name) => standing[name]).map((name) => say(name)), standing.parent ? say(standing.origin === "subagent" ? "subagent" : "fork", { name: standing.parent }) : ""].filter(Boolean).map((fact) => ` · ${fact}`).join("");
  const busy = standing.running || standing.open_turn !== null || standing.compacting;
  part("state").textContent = busy ? say("is_running") : standing.live ? say("is_live") : "";
  part("state").classList.toggle("busy", busy);
  showMenu(standing);
}

function showMenu(standing) {
  const place = part("menu");
  const facts = ["label", "live", "pinned", "archived"].map((name) => standing[name]).join("\n");
  if (place.dataset.print === facts || hasOpenMenu(place)) return;
  const focused = place.contains(document.activeElement);
  place.dataset.print = facts;
  place.replaceChildren(menuOf(standing, sync));
  if (focused) place.querySelector("button").focus();
}

// What changed while it was open.
part("menu").addEventListener("menu-closed", () => showMenu(shown.standing));

/** A notice of a removed turn opens what is stored of it, and closes it again. */
page.addEventListener("click", async (event) => {
  const reveal = event.target.closest("[data-reveal]");
  const bin = event.target.closest("[data-bin]");
  if (reveal) {
    const turn = Number(reveal.dataset.reveal);
    if (!shown.revealed.delete(turn)) shown.revealed.add(turn);
    draw(part("rows"), shown, { animate: false });
    page.querySelector(`[data-reveal="${turn}"]`)?.focus();
  } else if (bin && !bin.disabled) {
    const turn = Number(bin.dataset.bin);
    const answer = await askToRemoveTurn({ id, turn, messageId: bin.dataset.message });
    if (answer?.alreadyDeleted) turnsChanged(id);
  }
});

// --- After a removal: the answer is read again, once, and exactly the rows of that number go ---------------------------------
turns.addEventListener("changed", async ({ detail }) => {
  if (detail !== id || gone) return;
  const before = new Set(shown.standing?.removed.map((one) => one.turn));
  const standing = await standingOf(id).catch(() => null);
  if (!standing) return;
  const removed = standing.removed.filter((one) => !before.has(one.turn));
  shown.standing = { ...shown.standing, removed: standing.removed };
  for (const { turn } of removed) shown.revealed.delete(turn);
  draw(part("rows"), shown, { animate: removed.length > 0 });
  for (const { turn } of removed) announce(say("removal_done", { number: turn }));
  sync();
});

function leave() {
  gone = true;
  location.assign("/sessions/");
}

happenings.addEventListener("told", ({ detail }) => { if (detail.about === "sessions" && detail.session === key) sync(); });
happenings.addEventListener("ended", ({ detail: { card, state } }) => {
  const mine = card?.contract === "sessions.delete" && card.facts?.session === id;
  if (mine && state === "executed") leave();
});
happenings.addEventListener("connection", ({ detail: { state } }) => { if (state === "open" && shown.standing) sync(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden && shown.standing) sync(); });

// --- The switch, earlier rows, new ones below ----------------------------------------------------------------------------
function mark() {
  for (const button of page.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === shown.view));
}
for (const button of page.querySelectorAll("[data-view]")) {
  button.addEventListener("click", async () => {
    if (shown.view === button.dataset.view) return;
    shown.view = button.dataset.view;
    history.replaceState(null, "", shown.view === "seen" ? "?view=seen" : location.pathname);
    mark();
    Object.assign(shown, { rows: [], before: null });
    part("rows").replaceChildren();
    await begin();
  });
}
part("older").addEventListener("click", older);
part("below").addEventListener("click", () => {
  part("below").hidden = true;
  scrollTo(0, document.documentElement.scrollHeight);
});
addEventListener("scroll", () => { if (atEnd()) part("below").hidden = true; }, { passive: true });

async function begin() {
  try {
    await load();
  } catch (error) {
    if (error.status === 404) return leave();
    part("rows").setAttribute("aria-busy", "false");
    notice({ key: "list", title: error.message || say("offline_list"), buttons: [{ label: say("review_again"), press: begin }] });
  }
}
mark();
begin();
