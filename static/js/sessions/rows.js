// Rows of a conversation: messages, tool calls and results folded, ends of turns, and what else the log holds.
// Everything is text that the server made safe; nothing of it is ever read as markup.
import { read } from "../api.js";
import { notice } from "../live.js";
import { icon, make } from "../parts.js";
import { format } from "../time.js";
import { language, say, sayCount } from "../words.js";

const BEGINNING = 90;
const number = new Intl.NumberFormat(language);
const at = (ms) => format({ day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }).format(ms);
const isDate = (ms) => Math.abs(ms) <= 8.64e15;

/** Return when something was written, empty where the log holds no such moment. */
export const timeOf = ({ time_ms: ms }) => (ms && isDate(ms) ? at(ms) : "");

/** Make the row of a message; `names` knows the tool of each call, `whole(seq)` reads all of a text. */
export function messageRow(row, { names, path }) {
  if (row.role === "tool") return toolRow(row, { names, path });
  const kind = row.role === "program" && row.source ? row.source : say("roles")[row.role];
  const head = make("p", { class: "row-head" }, make("span", { class: "row-role" }, make("bdi", {}, kind)), ...tagsOf(row), make("time", {}, timeOf(row)));
  const body = row.blocks.length ? row.blocks.map((block) => blockOf(block, row, path)) : [make("p", { class: "muted" }, say("empty"))];
  const folded = row.role === "system" || row.role === "developer";
  const inner = make("div", { class: "row-body" }, ...body);
  if (!folded) return make("li", { class: `msg role-${row.role}` }, head, inner);
  return make("li", { class: `msg role-${row.role} quiet` }, fold(head.childNodes, row.blocks[0]?.text ?? "", inner));
}

function tagsOf(row) {
  const tags = [];
  if (row.failed) tags.push(make("span", { class: "tag is-failed" }, say("result_failed")));
  if (row.rewritten) tags.push(make("span", { class: "tag" }, say("rewritten")));
  if (!row.seen) tags.push(make("span", { class: "tag not-seen" }, say("not_seen")));
  return tags;
}

function toolRow(row, { names, path }) {
  const name = names.get(row.call);
  const head = [icon("tool"), make("span", { class: "fold-title" }, make("bdi", {}, name ? say("result", { name }) : say("result_plain"))), ...tagsOf(row)];
  const body = make("div", { class: "row-body" }, ...row.blocks.map((block) => blockOf(block, row, path)));
  return make("li", { class: "msg role-tool" }, fold(head, row.blocks[0]?.text ?? "", body));
}

function fold(head, preview, body) {
  const line = preview.trimStart().slice(0, BEGINNING).split("\n", 1)[0];
  return make("details", { class: "fold" }, make("summary", {}, ...[...head].filter(Boolean), line ? make("span", { class: "fold-line" }, make("bdi", {}, line)) : null), body);
}

function blockOf(block, row, path) {
  if (block.kind === "text") return textOf(block, row, path);
  if (block.kind === "attachment") return attachmentOf(block);
  const titles = { reasoning: say("reasoning"), call: say("call", { name: block.name }), other: block.name ? say("other", { name: block.name }) : say("other_plain") };
  const head = [block.kind === "call" ? icon("tool") : null, make("span", { class: "fold-title" }, make("bdi", {}, titles[block.kind] ?? titles.other))];
  return fold(head, block.kind === "call" ? block.text : "", textOf(block, row, path));
}

function textOf(block, row, path) {
  const mono = block.kind === "call" || block.kind === "other" || row.role === "tool";
  const box = make("div", { class: mono ? "text mono" : "text", dir: "auto" }, block.text);
  if (!block.length) return box;
  const place = row.blocks.indexOf(block);
  const button = make("button", { type: "button", class: "button small" }, say("show_all", { count: number.format(block.length) }));
  button.addEventListener("click", async () => {
    const found = await wholeOf(path, row.seq, button);
    if (!found) return;
    const all = found.blocks[place];
    box.textContent = all.text;
    button.replaceWith(...(all.length ? [make("p", { class: "muted" }, say("cut"))] : []));
  });
  return make("div", {}, box, button);
}

async function wholeOf(path, seq, button) {
  button.disabled = true;
  try {
    return await read(`${path}/transcript/${seq}`);
  } catch (error) {
    notice({ title: error.message, seconds: 8 });
    button.disabled = false;
    return null;
  }
}

function attachmentOf(block) {
  const size = block.bytes === undefined ? "" : new Intl.NumberFormat(language, { style: "unit", unit: block.bytes < 1e6 ? "kilobyte" : "megabyte", maximumFractionDigits: 1 }).format(block.bytes / (block.bytes < 1e6 ? 1e3 : 1e6));
  const measure = block.width && block.height ? `${block.width} × ${block.height}` : "";
  const facts = [block.media_type, measure, size].filter(Boolean).join(", ");
  const name = block.name || block.id || say("attachment");
  return make("p", { class: "attachment" }, icon("clip"), make("bdi", {}, facts ? say("attachment_of", { name, facts }) : name));
}

/** Make the row for what else the log holds there: folded, each entry read on request. */
export function entriesRow(rows, { path }) {
  const title = sayCount("entries", rows.length);
  const list = make("ul", { class: "entries" });
  const box = make("details", { class: "fold quiet" }, make("summary", {}, icon("list"), make("span", { class: "fold-title" }, title)), list);
  box.addEventListener("toggle", () => { if (box.open && !list.children.length) list.append(...rows.map((row) => entryOf(row, path))); });
  return make("li", { class: "msg role-entry" }, box);
}

function entryOf(row, path) {
  const button = make("button", { type: "button", class: "button small quiet" }, say("show_entry"));
  const line = make("li", {}, make("span", {}, make("code", {}, `#${row.seq} `), make("bdi", {}, row.type)), make("time", {}, timeOf(row)), button);
  button.addEventListener("click", async () => {
    const found = await wholeOf(path, row.seq, button);
    if (!found) return;
    const texts = found.blocks.map((block) => block.text);
    button.replaceWith(make("div", { class: "text mono", dir: "auto" }, texts.join("\n") || say("empty")));
  });
  return line;
}

/** Make the row of an event that is too long to be sent along. */
export function longRow(row, { path }) {
  const button = make("button", { type: "button", class: "button small" }, say("show_entry"));
  const item = make("li", { class: "msg role-long" }, make("p", { class: "row-head" }, make("bdi", {}, row.type), ...tagsOf(row), make("time", {}, timeOf(row))), make("p", { class: "muted" }, say("long", { count: number.format(row.length) })), button);
  button.addEventListener("click", async () => {
    const found = await wholeOf(path, row.seq, button);
    if (!found) return;
    const texts = found.blocks.map((block) => make("div", { class: "text", dir: "auto" }, block.text));
    button.replaceWith(...texts, ...(found.blocks.some((block) => block.length) ? [make("p", { class: "muted" }, say("cut"))] : []));
  });
  return item;
}
