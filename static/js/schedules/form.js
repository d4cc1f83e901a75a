// The one form for schedules, with the next runs always in sight; an edit that somebody else overtook is shown, not lost.
import { call, read } from "../api.js";
import { announce } from "../live.js";
import { make, openPanel, showError } from "../parts.js";
import { dayOf, wall, zone as myZone } from "../time.js";
import { say } from "../words.js";
import { nextRuns } from "./preview.js";
import { changeOf, dayName, fillTiming, momentWords, newPath, ruleWords, selectorOf, taskPath } from "./rule.js";

const PREVIEW_MS = 250;
const panel = document.getElementById("schedule-form");
const form = panel.querySelector("form");
const field = form.elements;
const part = (name) => panel.querySelector(`[data-${name}]`);
const weekStart = Number(document.documentElement.dataset.weekStart || 0);
let editing = null;
let timing = "";
let done = () => {};
let turn = 0;
let timer = 0;

/** Open the form for a new schedule. */
export async function newSchedule(saved) {
  await open({ heading: say("title_new"), saved, schedule: null });
  const { sessions } = await read("/api/sessions?archived=false&limit=100").catch(() => ({ sessions: [] }));
  field.session.replaceChildren(...sessions.map(({ id, label }) => make("option", { value: id }, label === id ? id : `${label} (${id})`)));
  if (!sessions.length) showError(panel, say("no_session"));
}

/** Open the form for a schedule as it was read: `{id, sessionId, record, options}`. */
export function editSchedule(schedule, saved) {
  return open({ heading: say("title_edit"), saved, schedule });
}

async function open({ heading, saved, schedule }) {
  form.reset();
  done = saved;
  part("heading").textContent = heading;
  part("session-field").hidden = Boolean(schedule);
  part("conflict").hidden = true;
  field.zone.value = myZone;
  // In an hour, on the hour.
  const [date, time] = wall(Date.now() + 3600000).split("T");
  field.date.value = date;
  field.date_time.value = `${time.slice(0, 2)}:00`;
  field.kind.querySelector("[value=after]").hidden = Boolean(schedule);
  fillWeekdays();
  take(schedule);
  openPanel(panel);
  field[schedule ? "title" : "session"].focus();
}

function fillWeekdays() {
  const order = [1, 2, 3, 4, 5, 6, 7].map((_, index) => ((index + weekStart) % 7) + 1);
  part("weekdays").replaceChildren(
    ...order.map((number) => {
      const box = make("input", { type: "checkbox", name: "weekday", value: number });
      box.checked = number <= 5;
      return make("label", {}, box, make("span", {}, dayName(number, "short")));
    }),
  );
}

/** Fill the fields from what is stored, which later saving expects to find. */
function take(schedule) {
  editing = schedule && structuredClone({ id: schedule.id, sessionId: schedule.sessionId, record: schedule.record, options: schedule.options });
  if (editing) {
    const { record, options } = editing;
    field.title.value = record.title;
    field.prompt.value = record.prompt;
    fillTiming(field, record);
    field.missed.value = options.missed;
    field.grace.value = Math.round(options.grace_s / 60);
    field.until.value = options.until ? dayOf(Date.parse(options.until)) : "";
    field.max_runs.value = options.max_runs ?? "";
  }
  timing = JSON.stringify(selectorOf(field));
  // Seconds are asked for only where there are some.
  for (const name of ["time", "date_time"]) field[name].step = /:\d\d:(?!00)/.test(field[name].value) ? 1 : 60;
  part("more-options").open = Boolean(editing && JSON.stringify(optionsOf()) !== JSON.stringify({ missed: "latest", grace_s: 3600, until: null, max_runs: null }));
  refresh();
}

function optionsOf() {
  const zone = field.zone.value.trim() || myZone;
  const kept = editing?.options.until && dayOf(Date.parse(editing.options.until)) === field.until.value ? editing.options.until : null;
  const until = kept ?? (field.until.value ? { date: field.until.value, time: "23:59:59", time_zone: zone } : null);
  return { missed: field.missed.value, grace_s: Number(field.grace.value || 0) * 60, until, max_runs: field.max_runs.value ? Number(field.max_runs.value) : null };
}

function refresh() {
  for (const node of panel.querySelectorAll("[data-for]")) node.hidden = !node.dataset.for.split(" ").includes(field.kind.value);
  for (const node of panel.querySelectorAll("[data-for-missed]")) node.hidden = node.dataset.forMissed !== field.missed.value;
  clearTimeout(timer);
  timer = setTimeout(preview, PREVIEW_MS);
}

// --- The next runs ---------------------------------------------------------------------------------------------------------
async function preview() {
  const mine = ++turn;
  const selector = selectorOf(field);
  if (!selector) return showPreview([], say("preview_none"));
  try {
    const { lines, note } = await nextRuns(selector);
    if (mine === turn) showPreview(lines, note);
  } catch (error) {
    if (mine === turn) showPreview([], error.message, true);
  }
}

function showPreview(lines, note, wrong = false) {
  part("preview").replaceChildren(...lines);
  part("preview-note").textContent = note;
  part("preview-note").classList.toggle("danger-text", wrong);
}

form.addEventListener("input", refresh);
form.addEventListener("change", refresh);

// --- Saving ----------------------------------------------------------------------------------------------------------------
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const selector = selectorOf(field);
  if (!field.title.value.trim() || !field.prompt.value.trim()) return showError(panel, say("title_missing"));
  if (!selector) return showError(panel, say("preview_none"));
  part("save").disabled = true;
  showError(panel, "");
  try {
    if (editing) await change(selector);
    else await call("POST", newPath(field.session.value), { body: { title: field.title.value, prompt: field.prompt.value, ...selector, options: optionsOf() } });
    announce(say("saved"));
    panel.close();
    done();
  } catch (error) {
    if (error.code === "schedule_conflict") await showConflict();
    else showError(panel, error.message);
  }
  part("save").disabled = false;
});

/** Send only what differs, and what it was changed from. */
function change(selector) {
  const { record, options } = editing;
  const body = { expected: bare(record) };
  if (field.title.value.trim() !== record.title) body.title = field.title.value;
  if (field.prompt.value.trim() !== record.prompt) body.prompt = field.prompt.value;
  if (JSON.stringify(selector) !== timing) body.change = changeOf(selector);
  const wanted = optionsOf();
  const { paused, ...before } = options;
  if (JSON.stringify(wanted) !== JSON.stringify(before)) body.options = wanted;
  return call("PATCH", taskPath(editing), { body });
}

/** Return the record alone, without what lists tell beside it. */
function bare({ sessionId, status, lastDelivery, state, deliveryMode, ...record }) {
  return record;
}

// --- Somebody else was faster --------------------------------------------------------------------------------------------
let stored = null;

async function showConflict() {
  try {
    const body = await read(taskPath(editing));
    stored = { id: editing.id, sessionId: editing.sessionId, record: body.record, options: body.options, status: body.status };
  } catch (error) {
    return showError(panel, error.message);
  }
  const mine = { ...editing.record, title: field.title.value.trim(), prompt: field.prompt.value.trim() };
  const rows = [];
  const differ = (name, theirs, own) => { if (theirs !== own) rows.push(say("conflict_row", { name: say(name), theirs, mine: own })); };
  differ("field_title", stored.record.title, mine.title);
  differ("field_prompt", stored.record.prompt, mine.prompt);
  differ("field_rule", ruleWords(stored.record), ruleWords(editing.record));
  differ("field_next", momentWords(stored.record.scheduledAt), momentWords(editing.record.scheduledAt));
  const ended = stored.status !== "active";
  part("conflict-title").textContent = say(ended ? "ended_meanwhile" : "conflict");
  part("conflict-rows").replaceChildren(...rows.map((row) => make("li", {}, make("bdi", {}, row))));
  part("keep-mine").hidden = ended;
  part("conflict").hidden = false;
  part("conflict").scrollIntoView({ block: "nearest" });
  panel.querySelector(ended ? "[data-take-theirs]" : "[data-keep-mine]").focus();
}

part("keep-mine").addEventListener("click", () => {
  // What is in the fields stays; only what it is compared with is newer.
  const timingBefore = timing;
  Object.assign(editing, structuredClone({ record: stored.record, options: stored.options }));
  timing = timingBefore;
  part("conflict").hidden = true;
  form.requestSubmit();
});
part("take-theirs").addEventListener("click", () => {
  part("conflict").hidden = true;
  take(stored);
  field.title.focus();
});
