// Drawing a conversation: rows keep their elements as long as they stay, and a removed turn hides exactly its own rows.
//
// Every row carries the number of the turn that owns it; what belongs to no turn is never hidden.
import { icon, make } from "../parts.js";
import { keepFocus, replace } from "../renewing.js";
import { moment } from "../time.js";
import { say } from "../words.js";
import { mayWrite } from "./acting.js";
import { entriesRow, longRow, messageRow, timeOf } from "./rows.js";

const LEAVING_MS = 220;
const drawn = new WeakMap();
const timers = new WeakMap();
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Bring the list to what is shown; `animate` lets rows that have just been removed leave visibly. */
export function draw(list, shown, { animate }) {
  const known = drawn.get(list) ?? new Map();
  const removed = new Map((shown.standing?.removed ?? []).map((one) => [one.turn, one]));
  const items = itemsOf(shown, removed);
  const next = new Map();
  const focusBack = keepFocus(list);
  let place = list.firstElementChild;
  for (const item of items) {
    // A notice stands once; a turn that others interrupt has a heading each time.
    if (next.has(item.key)) {
      if (item.key.startsWith("note:")) continue;
      item.key += `:${next.size}`;
    }
    let node = known.get(item.key);
    if (!node || node.dataset.print !== item.print) {
      const fresh = item.make();
      Object.assign(fresh.dataset, { key: item.key, print: item.print });
      if (item.turn !== null && item.turn !== undefined) fresh.dataset.turn = item.turn;
      if (item.seq !== undefined) fresh.dataset.seq = item.seq;
      if (node && node === place) place = fresh;
      if (node) replace(node, fresh);
      node = fresh;
    }
    next.set(item.key, node);
    if (node === place) place = place.nextElementSibling;
    else list.insertBefore(node, place);
  }
  for (const [key, node] of known) if (!next.has(key) && node.isConnected) drop(node);
  drawn.set(list, next);
  hide(list, { removed, shown, animate });
  placeBins(list, shown, removed);
  focusBack();
}

function drop(node) {
  if (!timers.has(node)) node.remove();
  else node.dataset.dropped = "";
}

/** Hide the rows of removed turns by their number, and show again at once what is no longer removed. */
function hide(list, { removed, shown, animate }) {
  for (const node of list.querySelectorAll(":scope > [data-turn]")) {
    const turn = Number(node.dataset.turn);
    const gone = removed.has(turn) && !shown.revealed.has(turn);
    node.classList.toggle("is-removed", removed.has(turn) && !gone);
    if (!gone) {
      clearTimeout(timers.get(node));
      timers.delete(node);
      node.classList.remove("leaving");
      node.hidden = false;
    } else if (!node.hidden && !timers.has(node)) {
      if (!animate || still.matches) node.hidden = true;
      else leave(node);
    }
  }
}

function leave(node) {
  node.classList.add("leaving");
  timers.set(node, setTimeout(() => {
    timers.delete(node);
    node.hidden = true;
    node.classList.remove("leaving");
    if ("dropped" in node.dataset) node.remove();
  }, LEAVING_MS));
}

// --- What stands in the list, in order --------------------------------------------------------------------------------
function itemsOf(shown, removed) {
  const { rows, view, path } = shown;
  const items = [];
  const names = new Map(rows.flatMap((row) => (row.blocks ?? []).filter((block) => block.kind === "call").map((block) => [block.call, block.name])));
  const open = shown.standing?.open_turn ?? null;
  let turn;
  let entries = [];
  const flush = () => {
    if (entries.length) items.push({ key: `entries:${entries[0].seq}`, print: `${entries.length}`, turn: entries[0].turn, make: entriesRow.bind(null, entries, { path }) });
    entries = [];
  };
  for (const row of rows) {
    if (row.turn !== turn) {
      flush();
      turn = row.turn;
      if (removed.has(turn)) items.push(noteItem(turn, removed.get(turn), shown));
      else if (turn !== null) items.push(headItem(row, open));
      else if (items.length) items.push({ key: `gap:${row.seq}`, print: "", make: () => make("li", { class: "gap", "aria-hidden": "true" }) });
    }
    if (view === "seen" && row.removes !== undefined) items.push(noteItem(row.removes, removed.get(row.removes) ?? row, shown));
    else if (row.kind === "entry" || row.removes !== undefined) entries.push(row);
    else if (row.kind === "turn_end") {
      flush();
      if (row.ended && row.ended !== "completed") items.push(endItem(row));
    } else if (row.kind !== "turn_start") items.push(rowItem(row, { names, path }));
  }
  flush();
  return items;
}

function rowItem(row, context) {
  const makers = { message: messageRow, long: longRow, title: titleRow };
  const name = row.role === "tool" ? context.names.get(row.call) ?? "" : "";
  return { key: `row:${row.seq}`, seq: row.seq, turn: row.turn, print: `${row.kind}${row.seen}${name}`, make: () => makers[row.kind](row, context) };
}

function headItem(row, open) {
  const text = say(row.turn === open ? "turn_open" : "turn", { number: row.turn });
  const make_ = () => make("li", { class: "turn-head" }, make("h2", {}, text), make("time", {}, timeOf(row)));
  return { key: `turn:${row.turn}`, turn: row.turn, print: text, make: make_ };
}

function endItem(row) {
  const text = say("turn_ended")[row.ended] ?? say("turn_ended_other", { kind: row.ended });
  return { key: `end:${row.seq}`, turn: row.turn, print: text, make: () => make("li", { class: "turn-end" }, icon("warn"), make("span", {}, text)) };
}

function titleRow(row) {
  return make("li", { class: "row-title" }, make("span", {}, say("title_set")), make("bdi", {}, row.blocks[0].text));
}

/** The notice in the place of a removed turn belongs to no turn itself, so nothing hides it. */
function noteItem(turn, removal, { view, revealed, rows }) {
  const stored = view === "stored" && rows.some((row) => row.turn === turn);
  const open = revealed.has(turn);
  const make_ = () =>
    make(
      "li",
      { class: "removed-note", "data-removed": turn },
      icon("bin"),
      make("p", {}, `${say("removed", { number: turn, at: moment(removal.time_ms) })} `, make("span", { class: "muted" }, say("removed_stored"))),
      stored ? make("button", { type: "button", class: "button small quiet", "data-reveal": turn, "aria-expanded": String(open) }, say(open ? "removed_hide" : "removed_show")) : null,
    );
  return { key: `note:${turn}`, print: `${stored}${open}${removal.time_ms}`, make: make_ };
}

// --- Bins: one beside the last reply of each finished turn ----------------------------------------------------------------
function placeBins(list, { rows, standing }, removed) {
  if (!mayWrite || !standing) return;
  const busy = standing.running || standing.open_turn !== null || standing.compacting;
  const places = new Map();
  for (const row of rows) {
    if (row.turn === null || removed.has(row.turn)) continue;
    if (row.kind === "turn_start" && !places.has(row.turn)) places.set(row.turn, { whole: true });
    if (row.kind === "turn_end" && places.get(row.turn)?.whole) places.get(row.turn).ended = true;
    if (row.kind === "message" && row.role === "assistant") places.set(row.turn, { seq: row.seq, message: row.message_id ?? "" });
  }
  const wanted = new Map();
  for (const [turn, { seq, message, ended }] of places) {
    if (turn === standing.open_turn) continue;
    const node = seq !== undefined ? list.querySelector(`:scope > [data-seq="${seq}"]`) : ended && list.querySelector(`:scope > .turn-head[data-turn="${turn}"]`);
    if (node) wanted.set(node, { turn, message: message ?? "" });
  }
  for (const bin of list.querySelectorAll("[data-bin]")) if (!wanted.has(bin.parentElement)) bin.remove();
  for (const [node, { turn, message }] of wanted) {
    const bin = node.querySelector(":scope > [data-bin]") ?? node.appendChild(make("button", { type: "button", class: "icon-button small bin" }, icon("bin")));
    Object.assign(bin.dataset, { bin: turn, message });
    bin.disabled = busy;
    const label = say("bin_turn", { number: turn });
    bin.setAttribute("aria-label", label);
    bin.title = busy ? say("bin_running") : label;
  }
}
