// The one form for events: new, changed, moved, copied, one date or the whole series.
import { ask } from "../asking.js";
import { read } from "../api.js";
import { announce, notice } from "../live.js";
import { make, openPanel, showError } from "../parts.js";
import { addDays, dayOf, dayText, instant, wall, zone as myZone } from "../time.js";
import { say } from "../words.js";
import { showHistory } from "../history.js";
import { bin } from "./agenda.js";
import { calendars, fillChoices, mayWrite } from "./calendars.js";
import { DAYS, fromRule, toRule } from "./recurrence.js";

const panel = document.getElementById("event-panel");
const form = panel.querySelector("form");
const part = (name) => panel.querySelector(`[data-${name}]`);
const profileZone = document.querySelector("[data-profile-zone]").dataset.profileZone || myZone;
const weekStart = Number(document.documentElement.dataset.weekStart || 0);
const ALARMS = [0, 5, 10, 15, 30, 60, 120, 1440, 2880, 10080];
const listeners = [];
let item = null;
let series = null;
let start = null;

/** Call `listener` after something was saved. */
export const onSaved = (listener) => listeners.push(listener);
const saved = () => listeners.forEach((listener) => listener());

/** Open the form for a new event on a day, at a time of day in minutes if one was pressed. */
export function newEvent({ day, minutes = null }) {
  if (!mayWrite) return;
  item = series = null;
  const hour = minutes ?? nextHour(day);
  const at = instant(`${day}T${two(Math.floor(hour / 60))}:${two(hour % 60)}`);
  open(say("new_event"), { title: "", start_ms: at, end_ms: at + 3600000, all_day: false, reminder_minutes: 15, calendar: "", location: "", notes: "" });
}

const two = (number) => String(number).padStart(2, "0");

function nextHour(day) {
  const now = wall(Date.now());
  return now.slice(0, 10) === day ? Math.min(23, Number(now.slice(11, 13)) + 1) * 60 : 540;
}

/** Open the form for an event or one date of a series. */
export async function editEvent(shown) {
  item = shown;
  series = null;
  if (shown.recurring) {
    try {
      series = eventOf(await read(`/api/calendars/events/${encodeURIComponent(shown.series_id ?? shown.id)}`));
    } catch {
      series = null;
    }
  }
  open(say("edit_event"), shown);
}

const eventOf = (answer) => answer.item ?? answer.event ?? answer;

function open(heading, values) {
  form.reset();
  part("heading").textContent = heading;
  fillChoices(form.elements.calendar, values.calendar);
  fill(values);
  const calendar = calendars.all.find((each) => each.name === values.calendar);
  const fixed = !mayWrite || Boolean(item && calendar?.read_only);
  part("readonly").hidden = !(item && calendar?.read_only);
  part("fields").disabled = fixed;
  part("save").hidden = fixed;
  part("scope").hidden = !(item?.recurring && series);
  form.elements.scope.value = "occurrence";
  part("bin-menu").hidden = !item || fixed;
  part("history").hidden = part("duplicate").hidden = !item || !mayWrite;
  closeMenu();
  openPanel(panel);
  if (!fixed) form.elements.title.focus();
}

/** Put an item's values into the fields; what is saved later is what then differs. */
function fill(values) {
  const field = form.elements;
  const allDay = Boolean(values.all_day);
  const first = allDay ? values.start_date ?? dayOf(values.start_ms, profileZone) : dayOf(values.start_ms);
  const end = values.end_ms ?? values.start_ms;
  field.title.value = values.title_missing ? "" : values.title;
  field.all_day.checked = allDay;
  field.from.value = first;
  field.to.value = allDay ? values.last_day ?? first : dayOf(end);
  field.from_time.value = allDay ? "09:00" : wall(values.start_ms).slice(11);
  field.to_time.value = allDay ? "10:00" : wall(end).slice(11);
  field.zone.value = myZone;
  field.location.value = values.location ?? "";
  field.notes.value = values.notes ?? "";
  fillAlarms(values.reminder_minutes ?? 0);
  fillRule(series && form.elements.scope.value === "series" ? series.rrule : values.rrule, first);
  start = snapshot();
  refresh();
}

function fillAlarms(chosen) {
  const choices = ALARMS.includes(chosen) ? ALARMS : [...ALARMS, chosen].sort((a, b) => a - b);
  const words = (minutes) => {
    if (!minutes) return say("alarm_none");
    if (minutes % 1440 === 0) return say("alarm_days", { count: minutes / 1440 });
    return minutes % 60 === 0 ? say("alarm_hours", { count: minutes / 60 }) : say("alarm_minutes", { count: minutes });
  };
  form.elements.alarm.replaceChildren(...choices.map((minutes) => make("option", { value: minutes }, words(minutes))));
  form.elements.alarm.value = chosen;
}

function fillRule(rule, day) {
  const values = fromRule(rule, day);
  for (const name of ["repeat", "interval", "ends", "count", "until", "rrule"]) form.elements[name].value = values[name];
  const order = DAYS.map((_, index) => (index + weekStart) % 7);
  part("when-weekly").replaceChildren(
    ...order.map((index) => {
      const box = make("input", { type: "checkbox", name: "weekday", value: DAYS[index] });
      box.checked = values.days.includes(DAYS[index]);
      // 5 January 2026 is a Monday.
      return make("label", {}, box, make("span", {}, dayText(addDays("2026-01-05", index), { weekday: "short" })));
    }),
  );
}

function snapshot() {
  const field = form.elements;
  const allDay = field.all_day.checked;
  const zone = field.zone.value.trim() || myZone;
  const rule = {
    repeat: field.repeat.value,
    interval: field.interval.value,
    days: [...form.querySelectorAll('[name="weekday"]:checked')].map((box) => box.value),
    ends: field.ends.value,
    count: field.count.value,
    until: field.until.value,
    rrule: field.rrule.value,
  };
  return {
    title: field.title.value.trim(),
    all_day: allDay,
    start_ms: allDay ? instant(field.from.value, profileZone) : instant(`${field.from.value}T${field.from_time.value || "00:00"}`, zone),
    end_ms: allDay ? instant(addDays(field.to.value, 1), profileZone) : instant(`${field.to.value}T${field.to_time.value || "00:00"}`, zone),
    time_zone: allDay ? "" : zone,
    calendar: field.calendar.value,
    reminder_minutes: Number(field.alarm.value),
    rrule: toRule(rule, { day: field.from.value, allDay, zone }),
    location: field.location.value.trim(),
    notes: field.notes.value.trim(),
  };
}

function refresh() {
  const field = form.elements;
  const hide = (name, hidden) => { for (const node of panel.querySelectorAll(`[data-${name}]`)) node.hidden = hidden; };
  const repeat = field.repeat.value;
  hide("timed", field.all_day.checked);
  hide("repeat", Boolean(item?.recurring && series) && field.scope.value !== "series");
  hide("when-repeat", !repeat || repeat === "RAW");
  hide("when-weekly", repeat !== "WEEKLY");
  hide("when-raw", repeat !== "RAW");
  hide("when-count", field.ends.value !== "count");
  hide("when-until", field.ends.value !== "until");
}

// A moved start takes the end along.
let span = null;
form.addEventListener("focusin", (event) => {
  if (event.target.name === "from" || event.target.name === "from_time") {
    const { start_ms: from, end_ms: to } = snapshot();
    span = to - from;
  }
});
form.addEventListener("change", (event) => {
  const field = form.elements;
  if (event.target.name === "scope") {
    const values = field.scope.value === "series" ? series : item;
    fill(values);
  }
  if ((event.target.name === "from" || event.target.name === "from_time") && span !== null && field.from.value) {
    const end = wall(snapshot().start_ms + span, field.all_day.checked ? profileZone : field.zone.value || myZone);
    field.to.value = field.all_day.checked ? addDays(end.slice(0, 10), -1) : end.slice(0, 10);
    if (!field.all_day.checked) field.to_time.value = end.slice(11);
  }
  refresh();
});

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  let now;
  if (!form.elements.from.value || !form.elements.to.value) return showError(panel, say("date_missing"));
  try {
    now = snapshot();
  } catch {
    return showError(panel, say("zone_unknown"));
  }
  if (!now.title) return showError(panel, say("title_missing"));
  if (now.end_ms < now.start_ms) return showError(panel, say("end_early"));
  part("save").disabled = true;
  try {
    const answer = item ? await change(now) : await ask("POST", "/api/calendars/events", without(now));
    if (panel.open && answer.status !== 202) announce(say("saved"));
    panel.close();
    saved();
  } catch (error) {
    showError(panel, error.message);
  } finally {
    part("save").disabled = false;
  }
});

function without(values) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null && value !== ""));
}

/** Send only what differs; emptied texts are cleared. */
function change(now) {
  const whole = form.elements.scope.value === "series" && series;
  const target = whole || item;
  const body = {};
  for (const [name, value] of Object.entries(now)) {
    if (value === start[name]) continue;
    body[name] = value === "" ? null : value;
  }
  if (body.time_zone === null) delete body.time_zone;
  if (item.recurring && !whole) delete body.rrule;
  // The end says where it lies now, not how far it moved.
  if ("start_ms" in body || "all_day" in body) Object.assign(body, { start_ms: now.start_ms, end_ms: now.end_ms });
  const identity = new URLSearchParams({ start_ms: target.start_ms, title: target.title });
  if (!Object.keys(body).length) return { status: 200 };
  return ask("PATCH", `/api/calendars/events/${encodeURIComponent(target.id)}?${identity}`, body);
}

part("duplicate").addEventListener("click", () => {
  const whole = form.elements.scope.value === "series" && series;
  const values = { ...(whole || item) };
  item = series = null;
  part("heading").textContent = say("copy_event");
  for (const name of ["bin-menu", "history", "duplicate", "scope", "readonly"]) part(name).hidden = true;
  part("fields").disabled = false;
  part("save").hidden = false;
  fillChoices(form.elements.calendar, values.calendar);
  start = {};
  refresh();
  form.elements.title.focus();
  form.elements.title.select();
});

part("history").addEventListener("click", () => {
  const id = item.series_id ?? item.id;
  panel.close();
  showHistory(`/api/calendars/events/${encodeURIComponent(id)}`, saved);
});

// --- The bin -----------------------------------------------------------------------------------------------------------
function closeMenu() {
  part("bin-choices").hidden = true;
  part("bin").setAttribute("aria-expanded", "false");
}
part("bin").addEventListener("click", () => {
  if (!item.recurring) return remove("");
  const choices = part("bin-choices");
  choices.hidden = !choices.hidden;
  part("bin").setAttribute("aria-expanded", String(!choices.hidden));
  if (!choices.hidden) choices.querySelector("button").focus();
});
part("bin-menu").addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || part("bin-choices").hidden) return;
  event.preventDefault();
  event.stopPropagation();
  closeMenu();
  part("bin").focus();
});
for (const button of panel.querySelectorAll("[data-remove]")) {
  button.addEventListener("click", () => remove(button.dataset.remove));
}

async function remove(scope) {
  const target = scope === "series" ? series : item;
  panel.close();
  if (!target) return notice({ title: say("not_found"), seconds: 8 });
  await bin(target, { scope: scope === "following" ? "following" : "" });
}
