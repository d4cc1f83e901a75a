// The next runs of what the form says, with what the changes of the clock within a year do to them.
import { call } from "../api.js";
import { make } from "../parts.js";
import { wall } from "../time.js";
import { say } from "../words.js";
import { wallWords } from "./rule.js";

const SHOWN = 5;
const DAY_MS = 86400000;
const changes = new Map();

/** Return the days within a year on which a zone's clock is changed; none for a zone that is not known. */
function clockChanges(zone) {
  if (!changes.has(zone)) {
    const found = [];
    try {
      const offset = (ms) => Date.parse(`${wall(ms, zone)}Z`) - ms;
      const start = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      for (let day = 0; day < 366; day += 1) {
        if (offset(start + day * DAY_MS) !== offset(start + (day + 1) * DAY_MS)) found.push(start + day * DAY_MS);
      }
    } catch {
      // The server says what is wrong with it.
    }
    changes.set(zone, found);
  }
  return changes.get(zone);
}

const ask = async (selector, more) => (await call("POST", "/api/schedules/preview", { body: { ...selector, ...more } })).body;

/** Return the lines to show for a selector, and a note about the rule. */
export async function nextRuns(selector) {
  const first = await ask(selector, { count: SHOWN });
  const lines = first.occurrences.flatMap(linesOf);
  const zone = Object.values(selector)[0].time_zone;
  const last = Date.parse(first.occurrences.at(-1)?.at);
  const later = selector.at || !zone ? [] : clockChanges(zone).filter((day) => day > last);
  const looks = await Promise.all(later.map((day) => ask(selector, { now: new Date(day - DAY_MS).toISOString(), count: 4 }).catch(() => ({ occurrences: [] }))));
  const known = new Set(first.occurrences.flatMap(({ notes }) => notes.map(({ local }) => local)));
  for (const note of looks.flatMap(({ occurrences }) => occurrences.flatMap(({ notes }) => notes))) {
    if (!known.has(note.local)) lines.push(noteOf(note));
    known.add(note.local);
  }
  const note = selector.cron && first.rule.expression !== selector.cron.expression ? say("cron_as", { rule: first.rule.expression }) : "";
  return { lines, note };
}

const noteOf = ({ kind, local }) => make("li", { class: "sch-note" }, say(`note_${kind}`, { at: wallWords(local) }));

function linesOf({ local, offset, notes, more_notes: more }) {
  const told = notes.map(noteOf);
  if (more) told.push(make("li", { class: "sch-note" }, say("note_more", { count: more })));
  return [...told, make("li", {}, make("span", {}, wallWords(local)), make("span", { class: "muted" }, ` UTC${offset === "+00:00" ? "" : offset}`))];
}
