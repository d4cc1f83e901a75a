// The calendar: which view of which days, and what lies in them.
import { read } from "../api.js";
import { happenings } from "../cards.js";
import { announce, notice } from "../live.js";
import { memory } from "../parts.js";
import { keepFocus, soon } from "../renewing.js";
import { addDays, addMonths, dayText, format, instant, today, weekday, zone } from "../time.js";
import { say } from "../words.js";
import { showAgenda } from "./agenda.js";
import { calendars, loadCalendars, onCalendars } from "./calendars.js";
import { editEvent, newEvent, onSaved } from "./event_form.js";
import { showMonth } from "./month.js";
import { showWeek } from "./week.js";

const view = document.querySelector("[data-cal-view]");
const heading = document.querySelector("[data-title]");
const weekStart = Number(document.documentElement.dataset.weekStart || 0);
const narrow = matchMedia("(width < 48rem)");
const LIMIT = 1000;

const asked = new URLSearchParams(location.search);
const state = {
  view: ["month", "week", "agenda"].includes(asked.get("view")) ? asked.get("view") : memory.get("view", "month"),
  day: /^\d{4}-\d\d-\d\d$/.test(asked.get("day") ?? "") ? asked.get("day") : today(),
  text: "",
  focus: false,
};
let turn = 0;

/** Return the first day of the week that holds a day. */
function weekOf(day) {
  return addDays(day, -((weekday(day) - weekStart + 7) % 7));
}

/** Return the first day and the day after the last of what is shown. */
function range() {
  if (state.text) return [addDays(today(), -90), addDays(today(), 275)];
  if (state.view === "week") return [weekOf(state.day), addDays(weekOf(state.day), 7)];
  if (state.view === "agenda") return [state.day, addDays(state.day, 31)];
  const first = `${state.day.slice(0, 8)}01`;
  const last = addDays(addMonths(first, 1), -1);
  return [weekOf(first), addDays(weekOf(last), 7)];
}

function title([from, until]) {
  if (state.text) return say("search_results", { text: state.text });
  if (state.view === "month") return dayText(state.day, { month: "long", year: "numeric" });
  const zoned = { timeZone: "UTC", day: "numeric", month: "short", year: "numeric" };
  const at = (day) => Date.parse(`${day}T00:00Z`);
  return format(zoned).formatRange(at(from), at(addDays(until, -1)));
}

async function show() {
  const mine = ++turn;
  const [from, until] = range();
  heading.textContent = title([from, until]);
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(!state.text && button.dataset.view === state.view));
  }
  if (!state.text) history.replaceState(null, "", `?view=${state.view}&day=${state.day}`);
  view.setAttribute("aria-busy", "true");
  const query = new URLSearchParams({ start_ms: instant(from), end_ms: instant(until), limit: LIMIT });
  if (state.text) query.set("q", state.text);
  let items = [];
  try {
    const [answer] = await Promise.all([read(`/api/calendars/events?${query}`), loadCalendars()]);
    if (mine !== turn) return;
    items = answer.items ?? answer.events ?? [];
    if (answer.truncated) notice({ key: "truncated", title: say("truncated"), seconds: 8 });
  } catch (error) {
    if (mine !== turn) return;
    notice({ key: "list", title: error.message || say("offline_list"), buttons: [{ label: say("review_again"), press: show }] });
  }
  const shown = items.filter((item) => !calendars.hidden.has(item.calendar));
  const facts = { from, until, items: shown, day: state.day, narrow: narrow.matches, focus: state.focus, open, create, go };
  state.focus = false;
  view.setAttribute("aria-busy", "false");
  const focusBack = facts.focus ? () => {} : keepFocus(view);
  if (state.text) showAgenda(view, { ...facts, search: true });
  else if (state.view === "month") showMonth(view, facts);
  else if (state.view === "week") (narrow.matches ? showAgenda : showWeek)(view, facts);
  else showAgenda(view, facts);
  focusBack();
}

/** Go to a day, in another view if one is named; `focus` puts the keyboard on the day. */
function go(day, { view: name = state.view, focus = false } = {}) {
  Object.assign(state, { day, view: name, focus, text: "" });
  document.querySelector("[data-search]").reset();
  if (name !== memory.get("view")) memory.set("view", name);
  show();
}

const open = (item) => editEvent(item);
const create = (day, minutes = null) => newEvent({ day, minutes });

for (const button of document.querySelectorAll("[data-view]")) {
  button.addEventListener("click", () => go(state.day, { view: button.dataset.view }));
}
for (const button of document.querySelectorAll("[data-step]")) {
  button.addEventListener("click", () => step(Number(button.dataset.step)));
}
document.querySelector("[data-today]").addEventListener("click", () => go(today()));
document.querySelector("[data-new]")?.addEventListener("click", () => newEvent({ day: state.view === "month" && state.day.slice(0, 7) !== today().slice(0, 7) ? state.day : today() }));

function step(count) {
  if (state.view === "month") go(addMonths(state.day, count));
  else go(addDays(state.day, count * (state.view === "week" ? 7 : 31)));
  announce(heading.textContent);
}

const search = document.querySelector("[data-search]");
let typing = 0;
search.addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => {
    state.text = search.elements.q.value.trim();
    show();
  }, 250);
});

// Single letters, where nobody types: today, the three views, a new event, search, earlier and later.
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (document.querySelector("dialog[open]") || event.target.matches("input, textarea, select")) return;
  const acts = {
    t: () => go(today()),
    m: () => go(state.day, { view: "month" }),
    w: () => go(state.day, { view: "week" }),
    a: () => go(state.day, { view: "agenda" }),
    n: () => document.querySelector("[data-new]")?.click(),
    "/": () => search.elements.q.focus(),
    PageUp: () => step(-1),
    PageDown: () => step(1),
  };
  if (!acts[event.key]) return;
  event.preventDefault();
  acts[event.key]();
});

onSaved(show);
onCalendars(show);
const showSoon = soon(show);
happenings.addEventListener("told", ({ detail: { about } }) => { if (about === "calendar") showSoon(); });
happenings.addEventListener("ended", ({ detail: { state: end } }) => { if (end === "executed" || !end) show(); });
narrow.addEventListener("change", show);
document.addEventListener("visibilitychange", () => { if (!document.hidden) show(); });
if (matchMedia("(width < 70rem)").matches) document.querySelector("[data-side]").open = false;
document.documentElement.dataset.viewZone = zone;
show();
