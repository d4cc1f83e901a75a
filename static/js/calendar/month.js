// The month: weeks of days, events as bars and lines, the keyboard from day to day.
import { make } from "../parts.js";
import { addDays, addMonths, clock, dayText, today } from "../time.js";
import { say } from "../words.js";
import { showAgenda } from "./agenda.js";
import { colourOf } from "./calendars.js";
import { daysOf, isBar, lanesOf } from "./spread.js";

const LANE_REM = 1.55;

/** Show the weeks from `from` to `until`. */
export function showMonth(view, facts) {
  const { from, until, items, day, narrow, focus } = facts;
  const grid = make("div", { class: "month", role: "grid", "aria-label": dayText(day, { month: "long", year: "numeric" }) });
  grid.append(headRow(from));
  const rows = [];
  for (let first = from; first < until; first = addDays(first, 7)) {
    const row = make("div", { class: "week", role: "row" });
    const cells = Array.from({ length: 7 }, (_, index) => cellOf(addDays(first, index), facts));
    row.append(...cells);
    grid.append(row);
    rows.push({ first, cells });
  }
  view.replaceChildren(grid);
  if (narrow) {
    const below = make("div", { class: "day-list" });
    view.append(below);
    showAgenda(below, { ...facts, from: day, until: addDays(day, 1), oneDay: true });
    for (const { first, cells } of rows) cells.forEach((cell, index) => addDots(cell, items, addDays(first, index)));
  } else for (const { first, cells } of rows) fillWeek(cells, lanesOf(items, first), facts, first);
  grid.addEventListener("keydown", (event) => move(event, facts));
  if (focus) grid.querySelector(`[data-day="${day}"]`)?.focus();
}

function headRow(from) {
  const names = Array.from({ length: 7 }, (_, index) => addDays(from, index));
  return make("div", { class: "month-head", role: "row" }, ...names.map((day) => make("span", { role: "columnheader", "aria-label": dayText(day, { weekday: "long" }) }, dayText(day, { weekday: "short" }))));
}

function cellOf(day, { items, day: chosen, narrow, create, go }) {
  const count = items.filter((item) => touches(item, day)).length;
  const label = say("day_events", { day: dayText(day, { weekday: "long", day: "numeric", month: "long" }), count });
  const outside = day.slice(0, 7) !== chosen.slice(0, 7);
  const cell = make(
    "div",
    { class: `day${outside ? " outside" : ""}${day === today() ? " is-today" : ""}`, role: "gridcell", tabindex: day === chosen ? 0 : -1, "data-day": day, "data-key": day, "aria-label": label, "aria-selected": narrow ? String(day === chosen) : null, "aria-current": day === today() ? "date" : null },
    make("span", { class: "day-number", "aria-hidden": "true" }, String(Number(day.slice(8)))),
  );
  cell.addEventListener("click", (event) => {
    if (event.target.closest("button")) return;
    if (narrow) go(day);
    else create(day);
  });
  return cell;
}

const touches = (item, day) => daysOf(item)[0] <= day && daysOf(item)[1] >= day;

function addDots(cell, items, day) {
  const colours = items.filter((item) => touches(item, day)).slice(0, 4).map((item) => colourOf(item.calendar));
  cell.append(make("span", { class: "dots", "aria-hidden": "true" }, ...colours.map((colour) => make("span", { vars: { "--c": colour } }))));
}

function fillWeek(cells, pieces, { open, go }, first) {
  const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
  const room = Math.max(1, Math.floor((cells[0].clientHeight / rem - 2.1) / LANE_REM));
  cells.forEach((cell, column) => {
    const here = pieces.filter((piece) => piece.column <= column && piece.column + piece.span > column);
    const hidden = here.filter((piece) => piece.lane >= room - (here.some((each) => each.lane >= room) ? 1 : 0));
    const overflows = here.some((piece) => piece.lane >= room);
    for (const piece of here) {
      if (piece.column === column && !(overflows && hidden.includes(piece)) && fits(piece, pieces, room)) cell.append(chip(piece, open));
    }
    const unseen = here.filter((piece) => (overflows && hidden.includes(piece)) || !fits(piece, pieces, room));
    if (unseen.length) {
      const day = addDays(first, column);
      cell.append(make("button", { type: "button", class: "chip more", vars: { "--lane": room - 1 }, on: { click: () => go(day, { view: "agenda" }) } }, say("more", { count: unseen.length })));
    }
  });
}

/** A bar is shown only if it is shown on each of its days. */
function fits(piece, pieces, room) {
  for (let column = piece.column; column < piece.column + piece.span; column += 1) {
    const crowded = pieces.some((each) => each.column <= column && each.column + each.span > column && each.lane >= room);
    if (piece.lane >= room - (crowded ? 1 : 0)) return false;
  }
  return true;
}

function chip({ item, lane, span, before, after }, open) {
  const bar = isBar(item);
  const time = bar ? "" : clock(item.start_ms);
  return make(
    "button",
    { type: "button", class: `chip${bar ? " bar" : ""}${before ? " before" : ""}${after ? " after" : ""}`, title: item.title, "data-key": `${item.id} ${before}`, vars: { "--c": colourOf(item.calendar), "--lane": lane, "--span": span }, on: { click: () => open(item) } },
    time ? make("span", { class: "chip-time" }, time) : null,
    make("bdi", { class: "chip-title" }, item.title),
  );
}

function move(event, { day, until, from, create, go }) {
  const cell = event.target.closest("[data-day]");
  if (!cell || event.target !== cell || event.ctrlKey || event.metaKey || event.altKey) return;
  const here = cell.dataset.day;
  const back = document.documentElement.dir === "rtl" ? 1 : -1;
  const steps = { ArrowLeft: back, ArrowRight: -back, ArrowUp: -7, ArrowDown: 7 };
  let next = null;
  if (event.key in steps) next = addDays(here, steps[event.key]);
  else if (event.key === "PageUp") next = addMonths(here, -1);
  else if (event.key === "PageDown") next = addMonths(here, 1);
  else if (event.key === "Home") next = addDays(from, Math.floor((Date.parse(here) - Date.parse(from)) / 604800000) * 7);
  else if (event.key === "End") next = addDays(from, Math.floor((Date.parse(here) - Date.parse(from)) / 604800000) * 7 + 6);
  else if (event.key === "Enter" || event.key === " ") {
    event.preventDefault();
    if (!event.repeat) create(here);
    return;
  }
  if (!next) return;
  event.preventDefault();
  event.stopPropagation();
  const known = next >= from && next < until && next.slice(0, 7) === day.slice(0, 7);
  const target = known && cell.closest(".month").querySelector(`[data-day="${next}"]`);
  if (!target) return go(next, { focus: true });
  cell.tabIndex = -1;
  target.tabIndex = 0;
  target.focus();
}
