// Where events lie: the days that each touches, lanes for bars, columns for what overlaps.
import { addDays, dayOf, daysBetween, wall } from "../time.js";

/** Return the first and the last civil day that an item touches, in the person's zone. */
export function daysOf(item) {
  if (item.all_day && item.start_date) return [item.start_date, item.last_day ?? item.start_date];
  const first = dayOf(item.start_ms);
  const last = item.end_ms > item.start_ms ? dayOf(item.end_ms - 1) : first;
  return [first, last];
}

/** Tell whether an item is a bar: all day, or longer than a day. */
export const isBar = (item) => item.all_day || daysOf(item)[0] !== daysOf(item)[1];

/** Return the bars and chips of one week as `{item, column, span, lane, from, until}`; lanes never overlap. */
export function lanesOf(items, firstDay, count = 7) {
  const lastDay = addDays(firstDay, count - 1);
  const pieces = [];
  for (const item of items) {
    const [first, last] = daysOf(item);
    if (last < firstDay || first > lastDay) continue;
    const from = first < firstDay ? firstDay : first;
    const until = last > lastDay ? lastDay : last;
    pieces.push({ item, column: daysBetween(firstDay, from), span: daysBetween(from, until) + 1, before: first < firstDay, after: last > lastDay });
  }
  pieces.sort((a, b) => a.column - b.column || b.span - a.span || Number(isBar(b.item)) - Number(isBar(a.item)) || a.item.start_ms - b.item.start_ms);
  const taken = [];
  for (const piece of pieces) {
    let lane = 0;
    const columns = Array.from({ length: piece.span }, (_, index) => piece.column + index);
    while (columns.some((column) => taken[column]?.has(lane))) lane += 1;
    for (const column of columns) (taken[column] ??= new Set()).add(lane);
    piece.lane = lane;
  }
  return pieces;
}

/** Return the timed pieces of one day as `{item, top, length, column, columns}` in minutes; what overlaps stands side by side. */
export function columnsOf(items, day) {
  const pieces = items
    .map((item) => {
      const start = wall(item.start_ms);
      const end = wall(Math.max(item.end_ms ?? item.start_ms, item.start_ms + 60000));
      const top = start.slice(0, 10) < day ? 0 : minutesOf(start);
      const bottom = end.slice(0, 10) > day ? 1440 : minutesOf(end);
      return { item, top, length: Math.max(bottom - top, 24) };
    })
    .sort((a, b) => a.top - b.top || b.length - a.length);
  let group = [];
  let end = -1;
  const close = () => {
    const columns = Math.max(0, ...group.map((piece) => piece.column + 1));
    for (const piece of group) piece.columns = columns;
    group = [];
  };
  for (const piece of pieces) {
    if (piece.top >= end) close();
    const used = new Set(group.filter((other) => other.top + other.length > piece.top).map((other) => other.column));
    piece.column = 0;
    while (used.has(piece.column)) piece.column += 1;
    group.push(piece);
    end = Math.max(end, piece.top + piece.length);
  }
  close();
  return pieces;
}

const minutesOf = (text) => Number(text.slice(11, 13)) * 60 + Number(text.slice(14, 16));
