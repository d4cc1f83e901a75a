// The week: hours down, days across, what overlaps side by side.
import { icon, make } from "../parts.js";
import { addDays, clocks, dayText, today, wall } from "../time.js";
import { say } from "../words.js";
import { colourOf } from "./calendars.js";
import { columnsOf, daysOf, isBar, lanesOf } from "./spread.js";

/** Show seven days from `from`. */
export function showWeek(view, { from, items, day, open, create, focus }) {
  const days = Array.from({ length: 7 }, (_, index) => addDays(from, index));
  const bars = lanesOf(items.filter(isBar), from);
  const lanes = Math.max(1, ...bars.map(({ lane }) => lane + 1));
  const head = make("div", { class: "hours-head" }, make("span", { class: "corner" }), ...days.map((each) => dayHead(each, create)));
  const whole = make(
    "div",
    { class: "whole", vars: { "--lanes": lanes } },
    make("span", { class: "corner" }, say("all_day")),
    ...days.map((each, column) => make("div", { class: "whole-day" }, ...bars.filter((bar) => bar.column === column).map((bar) => barOf(bar, open)))),
  );
  const body = make("div", { class: "hours" }, make("div", { class: "clocks", "aria-hidden": "true" }, ...Array.from({ length: 24 }, (_, hour) => make("span", {}, hour ? `${String(hour).padStart(2, "0")}:00` : ""))));
  for (const each of days) body.append(column(each, items, open, create));
  const scroll = make("div", { class: "hours-scroll", tabindex: 0, role: "group", "aria-label": say("all_hours"), "data-from": from }, body);
  const before = view.querySelector(`.hours-scroll[data-from="${from}"]`);
  const top = before?.scrollTop;
  view.replaceChildren(make("div", { class: "week-view" }, head, whole, scroll));
  const first = Math.min(8, ...items.filter((item) => !isBar(item)).map((item) => Number(wall(item.start_ms).slice(11, 13))));
  scroll.scrollTop = before ? top : Math.max(0, first - 0.5) * (body.scrollHeight / 24);
  if (focus) head.querySelector(`[data-day="${day}"]`)?.focus();
}

function dayHead(day, create) {
  const label = say("new_on", { day: dayText(day, { weekday: "long", day: "numeric", month: "long" }) });
  return make("button", { type: "button", class: `hour-day${day === today() ? " is-today" : ""}`, "data-day": day, "data-key": day, "aria-label": label, title: label, on: { click: () => create(day) } }, make("span", {}, dayText(day, { weekday: "short" })), make("strong", {}, String(Number(day.slice(8)))));
}

function barOf({ item, span, lane, before, after }, open) {
  return make("button", { type: "button", class: `chip bar${before ? " before" : ""}${after ? " after" : ""}`, title: item.title, "data-key": item.id, vars: { "--c": colourOf(item.calendar), "--span": span, "--lane": lane }, on: { click: () => open(item) } }, make("bdi", { class: "chip-title" }, item.title), item.recurring ? icon("repeat") : null);
}

function column(day, items, open, create) {
  const mine = items.filter((item) => !isBar(item) && daysOf(item)[0] === day);
  const node = make("div", { class: `hour-column${day === today() ? " is-today" : ""}`, "data-day": day });
  for (const { item, top, length, column: place, columns } of columnsOf(mine, day)) {
    node.append(
      make(
        "button",
        { type: "button", class: `block${length < 40 ? " short" : ""}`, title: item.title, "data-key": item.id, vars: { "--c": colourOf(item.calendar), "--top": top, "--length": length, "--place": place, "--places": columns }, on: { click: () => open(item) } },
        make("bdi", { class: "block-title" }, item.title),
        make("span", { class: "block-time" }, clocks(item)),
        item.location ? make("bdi", { class: "block-place" }, item.location) : null,
      ),
    );
  }
  if (day === today()) {
    const now = wall(Date.now());
    node.append(make("span", { class: "now", vars: { "--top": Number(now.slice(11, 13)) * 60 + Number(now.slice(14, 16)) } }));
  }
  node.addEventListener("click", (event) => {
    if (event.target !== node) return;
    create(day, Math.floor(((event.offsetY / node.clientHeight) * 1440) / 30) * 30);
  });
  return node;
}
