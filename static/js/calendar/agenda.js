// The agenda: day by day, one line for each event, with its bin.
import { ask } from "../asking.js";
import { notice } from "../live.js";
import { icon, make } from "../parts.js";
import { addDays, clock, clocks, dayText, today } from "../time.js";
import { say } from "../words.js";
import { colourOf, mayWrite } from "./calendars.js";
import { daysOf } from "./spread.js";

/** Show the days of a range that hold something. */
export function showAgenda(view, { from, until, items, open, create, search = false, oneDay = false }) {
  const list = make("div", { class: "agenda" });
  for (let day = from; day < until; day = addDays(day, 1)) {
    const mine = items.filter((item) => touches(item, day, from)).sort((a, b) => Number(b.all_day) - Number(a.all_day) || a.start_ms - b.start_ms);
    if (!mine.length && !oneDay) continue;
    const label = dayText(day, { weekday: "long", day: "numeric", month: "long", ...(day.slice(0, 4) === today().slice(0, 4) ? {} : { year: "numeric" }) });
    const head = make("h2", { class: `agenda-day${day === today() ? " is-today" : ""}` }, label);
    const rows = mine.length ? make("ul", {}, ...mine.map((item) => row(item, day, open))) : make("p", { class: "muted agenda-empty" }, say("nothing"));
    list.append(make("section", {}, head, rows));
    if (oneDay && mayWrite) list.append(make("button", { type: "button", class: "button small", on: { click: () => create(day) } }, icon("plus"), say("new_on", { day: dayText(day, { day: "numeric", month: "short" }) })));
  }
  if (!list.children.length) list.append(make("p", { class: "empty" }, say(search ? "none_found" : "nothing")));
  view.replaceChildren(list);
}

/** Events of several days stand at their first day, or where the list begins. */
function touches(item, day, from) {
  const [first, last] = daysOf(item);
  return first === day || (day === from && first < from && last >= from);
}

function row(item, day, open) {
  const [first, last] = daysOf(item);
  let time = item.all_day ? say("all_day") : clocks(item);
  if (first !== last) time = `${item.all_day ? "" : `${clock(item.start_ms)} `}– ${dayText(last, { day: "numeric", month: "short" })}`;
  return make(
    "li",
    { class: "agenda-row", "data-key": `${item.id} ${day}`, vars: { "--c": colourOf(item.calendar) } },
    make("span", { class: "agenda-time" }, time),
    make(
      "button",
      { type: "button", class: "agenda-main", on: { click: () => open(item) } },
      make("span", { class: "agenda-title" }, make("bdi", {}, item.title), item.recurring ? icon("repeat") : null),
      make("span", { class: "agenda-line" }, make("bdi", {}, item.calendar), item.location ? " · " : null, item.location ? make("bdi", {}, item.location) : null),
    ),
    mayWrite ? make("button", { type: "button", class: "icon-button", title: say("bin", { title: item.title }), "aria-label": say("bin", { title: item.title }), on: { click: () => bin(item) } }, icon("bin")) : null,
  );
}

/** Ask to delete one event or one date of a series; the dialog opens. */
export async function bin(item, { scope = "" } = {}) {
  const query = new URLSearchParams({ start_ms: item.start_ms, title: item.title });
  if (scope) query.set("scope", scope);
  try {
    await ask("DELETE", `/api/calendars/events/${encodeURIComponent(item.id)}?${query}`);
  } catch (error) {
    notice({ title: error.message, seconds: 10 });
  }
}
