// Moments in the person's zone and language. Civil days travel as "2026-03-04", minutes as "2026-03-04T09:30".
import { language, say } from "./words.js";

export const zone = document.documentElement.dataset.zone || "UTC";
const tag = language === "zh-hans" ? "zh-Hans-CN" : language === "en" ? "en-GB" : language;
const formats = new Map();

/** Return a cached Intl format in the person's language; `timeZone` may be another than the person's. */
export function format(options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(tag, { timeZone: zone, ...options }));
  return formats.get(key);
}

/** Return a moment as day and time. */
export function moment(ms) {
  return format({ weekday: "short", day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" }).format(ms);
}

/** Return the time of day of a moment. */
export function clock(ms, timeZone = zone) {
  return format({ hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone }).format(ms);
}

/** Return when something starts and ends, or its one moment. */
export function clocks({ start_ms: start, end_ms: end }) {
  return end > start ? `${clock(start)}–${clock(end)}` : clock(start);
}

/** Return how long a span of milliseconds is, in its two largest units. */
export function span(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const units = [["days", 86400], ["hours", 3600], ["minutes", 60], ["seconds", 1]];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first < 0) return say("seconds", { count: 0 });
  const [name, size] = units[first];
  const parts = [say(name, { count: Math.floor(seconds / size) })];
  if (first < 3) {
    const [small, smallSize] = units[first + 1];
    const rest = Math.floor((seconds % size) / smallSize);
    if (rest || first === 2) parts.push(say(small, { count: rest }));
  }
  return parts.join(" ");
}

const fields = { year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };

/** Return the wall clock of a moment in a zone as "2026-03-04T09:30". */
export function wall(ms, timeZone = zone) {
  const key = `wall ${timeZone}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-US", { ...fields, timeZone, era: "short" }));
  const parts = Object.fromEntries(formats.get(key).formatToParts(ms).map((part) => [part.type, part.value]));
  return `${parts.year.padStart(4, "0")}-${parts.month}-${parts.day}T${parts.hour}:${parts.minute}`;
}

/** Return the moment of a wall clock in a zone; a time that a clock change skips moves on, one that comes twice is the first. */
export function instant(text, timeZone = zone) {
  const naive = Date.parse(`${text.length === 10 ? `${text}T00:00` : text}Z`);
  const offset = (ms) => Date.parse(`${wall(ms, timeZone)}Z`) - Math.floor(ms / 60000) * 60000;
  const before = naive - offset(naive - 86400000);
  const after = naive - offset(naive + 86400000);
  if (naive - offset(before) === before) return before;
  return naive - offset(after) === after ? after : before;
}

/** Return the civil day of a moment. */
export function dayOf(ms, timeZone = zone) {
  return wall(ms, timeZone).slice(0, 10);
}

/** Return the civil day some days later. */
export function addDays(day, count) {
  return new Date(Date.parse(`${day}T00:00Z`) + count * 86400000).toISOString().slice(0, 10);
}

/** Return the same day some months later, at most the last of that month. */
export function addMonths(day, count) {
  const [year, month, date] = day.split("-").map(Number);
  const last = new Date(Date.UTC(year, month - 1 + count + 1, 0)).getUTCDate();
  return new Date(Date.UTC(year, month - 1 + count, Math.min(date, last))).toISOString().slice(0, 10);
}

/** Return the number of whole days from one civil day to another. */
export function daysBetween(from, to) {
  return Math.round((Date.parse(`${to}T00:00Z`) - Date.parse(`${from}T00:00Z`)) / 86400000);
}

/** Return the day of the week, 0 for Monday. */
export function weekday(day) {
  return (new Date(`${day}T00:00Z`).getUTCDay() + 6) % 7;
}

/** Return a civil day in words. */
export function dayText(day, options) {
  return format({ timeZone: "UTC", ...options }).format(Date.parse(`${day}T00:00Z`));
}

/** Return today's civil day in the person's zone. */
export function today() {
  return dayOf(Date.now());
}
