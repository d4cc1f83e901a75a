// When a schedule runs: in words, and between the API's record and the fields of the form.
import { make } from "../parts.js";
import { addDays, dayText, format, moment, span, wall, zone as myZone } from "../time.js";
import { say } from "../words.js";

const UNITS = [["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];
const pathOf = (sessionId) => `/api/sessions/${encodeURIComponent(sessionId)}/schedules`;

/** Return where a schedule lies in the API. */
export const taskPath = ({ sessionId, id }) => `${pathOf(sessionId)}/${encodeURIComponent(id)}`;
export const newPath = pathOf;

/** Return a day of the week, 1 for Monday, in words. */
export const dayName = (number, style = "long") => dayText(addDays("2026-01-05", number - 1), { weekday: style });

const shortTime = (time) => time.replace(/\.000$/, "").replace(/:00$/, "");
const listed = (names) => new Intl.ListFormat(document.documentElement.lang || "en", { type: "conjunction" }).format(names);

/** Return when a record runs. */
export function ruleWords(record) {
  if (record.kind === "after" || record.kind === "at") return say("rule_once");
  if (record.kind === "every") return everyWords(record.everySeconds);
  const words = {
    daily: () => say("rule_daily", { time: shortTime(record.time) }),
    weekly: () => say("rule_weekly", { days: listed(record.weekdays.map((day) => dayName(day))), time: shortTime(record.time) }),
    cron: () => say("rule_cron", { rule: record.expression }),
  }[record.kind]();
  return record.timeZone === myZone ? words : say("rule_zone", { rule: words, zone: record.timeZone });
}

function everyWords(seconds) {
  const [name, size] = UNITS.find(([, unit]) => seconds % unit === 0);
  const count = seconds / size;
  const words = say("rule_every");
  return (count === 1 && words[`${name}_one`] ? words[`${name}_one`] : words[name]).replace("{count}", count);
}

/** Return how far a moment lies ahead or behind, in words. */
export function distance(ms, now = Date.now()) {
  if (Math.abs(ms - now) < 1000) return say("next_now");
  return ms > now ? say("next_in", { time: span(ms - now) }) : say("overdue", { time: span(now - ms) });
}

/** Return a local date and time as the server writes it, such as `2026-03-29T02:30:00.000`, in words. */
export function wallWords(local) {
  const seconds = local.endsWith(":00.000") ? {} : { second: "2-digit" };
  const fields = { weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", ...seconds };
  return format({ timeZone: "UTC", ...fields }).format(Date.parse(`${local}Z`));
}

export const momentWords = (instant) => moment(Date.parse(instant));

/** Return the words of what a schedule is in besides waiting. */
export function tagsOf({ record, options, undelivered, quarantined }) {
  const tags = [];
  if (record?.status === "inactive") tags.push(["inactive", ""]);
  else if (options.paused) tags.push(["paused", "is-paused"]);
  if (undelivered) tags.push(["undelivered", "is-failed"]);
  if (quarantined) tags.push(["quarantined", "is-failed"]);
  return tags.map(([name, look]) => make("span", { class: `tag ${look}` }, say(name)));
}

// --- Fields ------------------------------------------------------------------------------------------------------------
const whole = (time) => (time.length === 5 ? `${time}:00` : time);

/** Return the one selector of a request that the fields ask for, or null while something is missing. */
export function selectorOf(field) {
  const zone = field.zone.value.trim();
  const seconds = Number(field.amount.value) * Number(field.unit.value);
  const time = field.time.value && whole(field.time.value);
  switch (field.kind.value) {
    case "after": return field.amount.value ? { after_seconds: seconds } : null;
    case "every": return field.amount.value ? { every_seconds: seconds } : null;
    case "at": return field.date.value && field.date_time.value ? { at: { date: field.date.value, time: whole(field.date_time.value), time_zone: zone } } : null;
    case "daily": return time ? { daily: { time, time_zone: zone } } : null;
    case "weekly": {
      const weekdays = [...field.weekday].filter((box) => box.checked).map((box) => Number(box.value));
      return time && weekdays.length ? { weekly: { time, time_zone: zone, weekdays } } : null;
    }
    default: return field.expression.value.trim() ? { cron: { expression: field.expression.value.trim(), time_zone: zone } } : null;
  }
}

/** Return the `change` of an update for a selector. */
export function changeOf(selector) {
  const [name, value] = Object.entries(selector)[0];
  return { kind: name === "every_seconds" ? "every" : name, [name]: value };
}

/** Put the timing of a record into the fields; what ran after a while is shown as the moment that it became. */
export function fillTiming(field, record) {
  field.zone.value = record.timeZone ?? myZone;
  field.kind.value = record.kind === "after" ? "at" : record.kind;
  if (record.kind === "every") {
    const [, size] = UNITS.find(([, unit]) => record.everySeconds % unit === 0);
    field.unit.value = size;
    field.amount.value = record.everySeconds / size;
  }
  if (record.kind === "after" || record.kind === "at") {
    const ms = Date.parse(record.scheduledAt);
    const [date, time] = wall(ms).split("T");
    field.date.value = date;
    field.date_time.value = shortTime(`${time}:${String(new Date(ms).getUTCSeconds()).padStart(2, "0")}`);
  }
  if (record.time) field.time.value = shortTime(record.time);
  if (record.weekdays) for (const box of field.weekday) box.checked = record.weekdays.includes(Number(box.value));
  if (record.expression) field.expression.value = record.expression;
}
