// A rule as the form shows it, and back: what the form cannot show stays the text it is.
import { addDays, instant, weekday } from "../time.js";

export const DAYS = ["MO", "TU", "WE", "TH", "FR", "SA", "SU"];

/** Return the form's values for a rule; what it cannot show comes as `{repeat: "RAW", rrule}`. */
export function fromRule(rule, day) {
  const empty = { repeat: "", interval: 1, days: [DAYS[weekday(day)]], ends: "", count: 10, until: addDays(day, 30), rrule: rule ?? "" };
  if (!rule) return empty;
  const parts = Object.fromEntries(rule.replace(/^RRULE:/i, "").toUpperCase().split(";").map((part) => part.split("=")));
  const raw = { ...empty, repeat: "RAW" };
  const { FREQ: freq, INTERVAL: interval = "1", COUNT: count, UNTIL: until, BYDAY: byday, WKST: _, ...rest } = parts;
  const values = { ...empty, repeat: freq, interval: Number(interval) };
  if (count) Object.assign(values, { ends: "count", count: Number(count) });
  if (until) Object.assign(values, { ends: "until", until: `${until.slice(0, 4)}-${until.slice(4, 6)}-${until.slice(6, 8)}` });
  const extra = Object.keys(rest);
  if (freq === "DAILY" || freq === "YEARLY") return extra.length || byday ? raw : values;
  if (freq === "WEEKLY") {
    const days = byday ? byday.split(",") : empty.days;
    return extra.length || days.some((name) => !DAYS.includes(name)) ? raw : { ...values, days };
  }
  if (freq !== "MONTHLY") return raw;
  if (!byday) return extra.length && !(extra.length === 1 && rest.BYMONTHDAY === String(Number(day.slice(8)))) ? raw : values;
  return !extra.length && byday === nthOf(day) ? { ...values, repeat: "NTH" } : raw;
}

/** Return which weekday of its month a day is, as in `2TU`; the fifth counts as the last. */
export function nthOf(day) {
  const number = Math.ceil(Number(day.slice(8)) / 7);
  return `${number > 4 ? -1 : number}${DAYS[weekday(day)]}`;
}

/** Return the rule for the form's values, or null for none. */
export function toRule({ repeat, interval, days, ends, count, until, rrule }, { day, allDay, zone }) {
  if (!repeat) return null;
  if (repeat === "RAW") return rrule.trim().replace(/^RRULE:/i, "") || null;
  const parts = [`FREQ=${repeat === "NTH" ? "MONTHLY" : repeat}`];
  if (Number(interval) > 1) parts.push(`INTERVAL=${Number(interval)}`);
  if (repeat === "WEEKLY") parts.push(`BYDAY=${DAYS.filter((name) => days.includes(name)).join(",") || DAYS[weekday(day)]}`);
  if (repeat === "NTH") parts.push(`BYDAY=${nthOf(day)}`);
  if (ends === "count") parts.push(`COUNT=${Number(count)}`);
  if (ends === "until" && until) parts.push(`UNTIL=${allDay ? until.replaceAll("-", "") : lastInstant(until, zone)}`);
  return parts.join(";");
}

/** Return the last second of a day in a zone, as a UTC time of iCalendar. */
function lastInstant(day, zone) {
  const ms = instant(addDays(day, 1), zone) - 1000;
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}
