// Reminders: overdue, today, later, undated, done; made, changed, ticked off, and deleted after a person's tick.
import { ask } from "./asking.js";
import { read } from "./api.js";
import { happenings } from "./cards.js";
import { showHistory } from "./history.js";
import { announce, notice } from "./live.js";
import { icon, make, openPanel, showError } from "./parts.js";
import { keepFocus, renew, soon } from "./renewing.js";
import { dayOf, dayText, instant, moment, today, wall } from "./time.js";
import { say } from "./words.js";

const DAY_MS = 86400000;
const SPAN_MS = 390 * DAY_MS;
const mayWrite = document.documentElement.dataset.role !== "viewer";
const profileZone = document.querySelector("[data-profile-zone]").dataset.profileZone;
const lists = document.querySelector("[data-lists]");
const panel = document.getElementById("reminder-panel");
const form = panel.querySelector("form");
const part = (name) => panel.querySelector(`[data-${name}]`);
const search = document.querySelector("[data-search]");
let calendars = [];
let editing = null;
let turn = 0;

async function show() {
  const mine = ++turn;
  const text = search.elements.q.value.trim();
  const more = text ? { q: text } : {};
  const now = Date.now();
  const open = new URLSearchParams({ end_ms: now + SPAN_MS, limit: 1000, ...more });
  // The server looks at 400 days at once; what is due later is asked for piece by piece.
  const far = [1, 2, 3, 4].map((part) => new URLSearchParams({ start_ms: now + part * SPAN_MS, end_ms: now + (part + 1) * SPAN_MS, limit: 200, ...more }));
  const done = new URLSearchParams({ start_ms: now - 60 * DAY_MS, end_ms: now + 300 * DAY_MS, include_completed: "true", limit: 1000, ...more });
  try {
    const list = (query) => read(`/api/calendars/reminders?${query}`);
    const [known, finished, ...waiting] = await Promise.all([read("/api/calendars"), list(done), ...[open, ...far].map(list)]);
    if (mine !== turn) return;
    calendars = known.calendars;
    const focusBack = keepFocus(document.querySelector("main"));
    showOpen(nextOnly(waiting.flatMap(({ items }) => items).filter((item) => !item.completed)), text);
    showDone(finished.items.filter((item) => item.completed));
    focusBack();
  } catch (error) {
    if (mine === turn) notice({ key: "list", title: error.message || say("offline_list"), buttons: [{ label: say("review_again"), press: show }] });
  }
  lists.setAttribute("aria-busy", "false");
}

/** Of each series only what is due next, and what is overdue. */
function nextOnly(items) {
  const seen = new Set();
  return items.filter((item) => {
    if (!item.series_id || item.due_ms < Date.now()) return true;
    if (seen.has(item.series_id)) return false;
    return seen.add(item.series_id);
  });
}

function groupOf(item) {
  if (item.due_ms === undefined) return "undated";
  const day = item.due_date ?? dayOf(item.due_ms);
  if (item.due_date ? day < today() : item.due_ms < Date.now()) return "overdue";
  return day === today() ? "today" : "later";
}

function showOpen(items, text) {
  const groups = { overdue: [], today: [], later: [], undated: [] };
  for (const item of items) groups[groupOf(item)].push(item);
  const shown = Object.entries(groups).filter(([, rows]) => rows.length);
  const nothing = say(text ? "none_found" : "nothing_open");
  const sections = renew(lists, shown.length ? shown.map(([name]) => ({ key: `group:${name}`, make: () => sectionOf(name) })) : [{ key: "none", print: nothing, make: () => make("p", { class: "empty" }, nothing) }]);
  shown.forEach(([, rows], index) => renew(sections[index].querySelector("ul"), rows.map(itemOf)));
}

const sectionOf = (name) => make("section", { class: `rem-group ${name}` }, make("h2", {}, say(name)), make("ul", { class: "rem-list" }));
// Dates of one series may share an id; what is late looks so.
const itemOf = (item) => ({ key: `${item.id} ${item.due_ms ?? ""}`, print: `${groupOf(item)} ${JSON.stringify(item)}`, make: () => rowOf(item) });

function showDone(items) {
  const box = document.querySelector("[data-done]");
  box.hidden = !items.length;
  items.sort((a, b) => (b.completed_ms ?? 0) - (a.completed_ms ?? 0));
  const place = box.querySelector("[data-done-list]");
  const [list] = renew(place, [{ key: "done", make: () => make("ul", { class: "rem-list" }) }]);
  renew(list, items.map(itemOf));
}

function dueText(item) {
  if (item.completed && item.completed_ms) return say("done_at", { at: moment(item.completed_ms) });
  if (item.due_ms === undefined) return "";
  const day = { weekday: "short", day: "numeric", month: "short", year: "numeric" };
  return say("due", { at: item.due_date ? dayText(item.due_date, day) : moment(item.due_ms) });
}

function priorityOf(item) {
  if (!item.priority) return null;
  const name = item.priority < 5 ? "high" : item.priority === 5 ? "middle" : "low";
  return make("span", { class: `tag priority-${name}` }, say(`priority_${name}`));
}

function rowOf(item) {
  const name = { title: item.title };
  const tick = make("input", { type: "checkbox", class: "rem-tick", "aria-label": say(item.completed ? "open_again" : "tick_off", name), disabled: !mayWrite });
  tick.checked = Boolean(item.completed);
  tick.addEventListener("change", () => complete(item, tick));
  return make(
    "li",
    { class: `rem${item.completed ? " done" : ""}` },
    tick,
    make(
      "button",
      { type: "button", class: "rem-main", on: { click: () => open(item) } },
      make("span", { class: "rem-title" }, make("bdi", {}, item.title), priorityOf(item), item.recurring ? icon("repeat") : null),
      make("span", { class: "rem-line" }, make("span", { class: groupOf(item) === "overdue" && !item.completed ? "late" : null }, dueText(item)), dueText(item) ? " · " : null, make("bdi", {}, item.calendar), item.notes ? ` · ${item.notes.split("\n")[0].slice(0, 80)}` : null),
    ),
    mayWrite ? make("button", { type: "button", class: "icon-button", title: say("bin", name), "aria-label": say("bin", name), on: { click: () => bin(item) } }, icon("bin")) : null,
  );
}

const pathOf = (item) => `/api/calendars/reminders/${encodeURIComponent(item.id)}`;
const identity = (item) => (item.due_ms === undefined ? "" : `?start_ms=${item.due_ms}`);

async function complete(item, tick) {
  try {
    await ask("POST", `${pathOf(item)}/complete`, { completed: tick.checked, title: item.title, due_ms: item.due_ms });
  } catch (error) {
    notice({ title: error.message, seconds: 8 });
  }
  await show();
  // A row that is still there stands as before.
  tick.checked = Boolean(item.completed);
}

async function bin(item) {
  try {
    await ask("DELETE", `${pathOf(item)}${identity(item)}`);
  } catch (error) {
    notice({ title: error.message, seconds: 10 });
  }
}

// --- The form ----------------------------------------------------------------------------------------------------------
function open(item) {
  editing = item;
  form.reset();
  const field = form.elements;
  const writable = calendars.filter((calendar) => !calendar.read_only || calendar.name === item?.calendar);
  field.calendar.replaceChildren(...writable.map((calendar) => make("option", { value: calendar.id }, calendar.name)));
  const chosen = writable.find((calendar) => (item ? calendar.name === item.calendar : calendar.is_default)) ?? writable[0];
  if (chosen) field.calendar.value = chosen.id;
  field.title.value = item && !item.title_missing ? item.title : "";
  field.notes.value = item?.notes ?? "";
  const priority = item?.priority ?? 0;
  field.priority.value = !priority ? 0 : priority < 5 ? 1 : priority === 5 ? 5 : 9;
  if (item?.due_ms !== undefined) {
    field.due.value = item.due_date ?? dayOf(item.due_ms);
    field.due_time.value = item.due_date ? "" : wall(item.due_ms).slice(11);
  }
  part("heading").textContent = say(item ? "edit_reminder" : "new_reminder");
  part("bin").hidden = part("history").hidden = !item || !mayWrite;
  part("fields").disabled = !mayWrite;
  part("save").hidden = !mayWrite;
  form.dataset.start = JSON.stringify(snapshot());
  openPanel(panel);
  field.title.focus();
}

function snapshot() {
  const field = form.elements;
  const whole = Boolean(field.due.value && !field.due_time.value);
  const due = () => (whole ? instant(field.due.value, profileZone) : instant(`${field.due.value}T${field.due_time.value}`));
  return {
    title: field.title.value.trim(),
    due_ms: field.due.value ? due() : null,
    all_day: field.due.value ? whole : null,
    priority: Number(field.priority.value),
    calendar: field.calendar.value,
    notes: field.notes.value.trim() || null,
  };
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const now = snapshot();
  if (!now.title) return showError(panel, say("title_missing"));
  const before = editing ? JSON.parse(form.dataset.start) : {};
  const body = Object.fromEntries(Object.entries(now).filter(([name, value]) => (editing ? value !== before[name] : value !== null)));
  if (body.all_day === null) delete body.all_day;
  if ("all_day" in body && now.due_ms !== null) body.due_ms = now.due_ms;
  try {
    if (!editing) await ask("POST", "/api/calendars/reminders", body);
    else if (Object.keys(body).length) await ask("PATCH", `${pathOf(editing)}${identity(editing)}`, body);
    panel.close();
    announce(say("saved"));
    await show();
  } catch (error) {
    showError(panel, error.message);
  }
});
part("bin").addEventListener("click", () => {
  panel.close();
  bin(editing);
});
part("history").addEventListener("click", () => {
  panel.close();
  showHistory(`/api/calendars/reminders/${encodeURIComponent(editing.series_id ?? editing.id)}`, show);
});
document.querySelector("[data-new]")?.addEventListener("click", () => open(null));
document.querySelector("[data-quick]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = event.target.elements.title;
  const title = field.value.trim();
  if (!title) return;
  try {
    await ask("POST", "/api/calendars/reminders", { title });
    field.value = "";
    announce(say("saved"));
    await show();
  } catch (error) {
    notice({ title: error.message, seconds: 8 });
  }
});

let typing = 0;
search.addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(show, 250);
});
happenings.addEventListener("ended", show);
const showSoon = soon(show);
happenings.addEventListener("told", ({ detail: { about } }) => { if (about === "calendar") showSoon(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) show(); });
show();
