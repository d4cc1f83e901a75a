// One schedule: its rule, what it says, what was delivered page by page, and what can be done with it.
import { call, read } from "../api.js";
import { ask } from "../asking.js";
import { announce, notice } from "../live.js";
import { make, openPanel, showError } from "../parts.js";
import { keepFocus, renew } from "../renewing.js";
import { pageOf } from "../sessions/acting.js";
import { span } from "../time.js";
import { say, sayCount } from "../words.js";
import { editSchedule } from "./form.js";
import { distance, momentWords, ruleWords, tagsOf, taskPath } from "./rule.js";

const PAGE = 10;
const panel = document.getElementById("schedule-panel");
const part = (name) => panel.querySelector(`[data-${name}]`);
let current = null;
let before = null;
let done = () => {};

/** Open a schedule as the list shows it; `changed` is called after something was done. */
export async function openDetail(entry, changed) {
  current = { id: entry.id, sessionId: entry.sessionId };
  done = changed;
  fill(entry);
  part("deliveries").replaceChildren();
  openPanel(panel);
  await Promise.all([refreshDetail(), deliveries()]);
}

/** Read the open schedule again; one that is gone closes. */
export async function refreshDetail() {
  if (!panel.open || !current) return;
  const mine = current;
  try {
    const body = await read(taskPath(mine));
    if (mine !== current || !panel.open) return;
    const before_ = part("facts").dataset.runs;
    fill({ ...body, id: mine.id, record: body.record && { ...body.record, status: body.status, lastDelivery: body.lastDelivery } });
    if (before_ !== undefined && before_ !== part("facts").dataset.runs) await deliveries();
  } catch (error) {
    if (error.status === 404 && mine === current) panel.close();
  }
}

function fill(entry) {
  const { record, options } = entry;
  Object.assign(current, { record, options });
  part("title").textContent = record?.title ?? entry.title ?? "";
  part("tags").replaceChildren(...tagsOf(entry));
  part("facts").dataset.runs = `${entry.runs} ${entry.missed} ${record?.lastDelivery?.messageId ?? ""}`;
  const focusBack = keepFocus(part("facts"));
  renew(part("facts"), factsOf(entry).map(([label, ...value]) => {
    const row = make("div", {}, make("dt", {}, label), make("dd", {}, ...value));
    return { key: label, print: row.textContent, make: () => row };
  }));
  focusBack();
  const active = record?.status === "active" && !entry.quarantined;
  if (!part("acts")) return;
  part("acts").hidden = !active;
  panel.querySelector("[data-act=pause]").hidden = Boolean(options?.paused);
  panel.querySelector("[data-act=resume]").hidden = !options?.paused;
  part("edit").hidden = !active;
}

function factsOf({ record, options, runs, missed, undelivered, sessionId }) {
  if (!record) return [[say("when"), say("unreadable")]];
  const rows = [[say("when"), make("bdi", {}, ruleWords(record))], [say("next_run"), ...nextRun(record, options)]];
  rows.push([say("session_of"), make("a", { href: pageOf(sessionId) }, make("bdi", {}, sessionId))]);
  rows.push([say("says"), make("bdi", { class: "sch-prompt" }, record.prompt)]);
  if (undelivered) {
    const line = undelivered.retryAt ? say("problem_line", { count: undelivered.failures, at: momentWords(undelivered.retryAt) }) : say("problem_plain", { count: undelivered.failures });
    rows.push([say("problem"), make("span", { class: "danger-text" }, make("bdi", {}, undelivered.reason), ` ${line}`)]);
  }
  rows.push([say("runs_so_far"), String(runs)]);
  if (missed) rows.push([say("missed_so_far"), String(missed)]);
  if (options.missed !== "latest") rows.push([say("if_missed"), say("missed")[options.missed].replace("{time}", span(options.grace_s * 1000))]);
  const ends = [options.until && say("ends_until", { at: momentWords(options.until) }), options.max_runs && say("ends_runs", { count: options.max_runs })].filter(Boolean);
  if (ends.length) rows.push([say("ends"), ends.join(" · ")]);
  return rows;
}

function nextRun(record, options) {
  if (record.status === "inactive") return [say("no_next")];
  const at = momentWords(record.scheduledAt);
  if (options.paused) return [say("next_paused", { at })];
  return [`${at} · `, make("span", { "data-at": Date.parse(record.scheduledAt) }, distance(Date.parse(record.scheduledAt)))];
}

// --- Deliveries ----------------------------------------------------------------------------------------------------------
async function deliveries({ older = false } = {}) {
  const mine = current;
  const query = new URLSearchParams({ limit: PAGE, ...(older && { before }) });
  let page;
  try {
    page = await read(`${taskPath(mine)}/deliveries?${query}`);
  } catch (error) {
    if (error.code === "delivery_cursor_not_found" && older) {
      announce(say("cursor_gone"));
      return deliveries();
    }
    if (error.status !== 404) showError(panel, error.message);
    return;
  }
  if (mine !== current) return;
  const list = part("deliveries");
  const rows = [...page.records.map(sentRow), ...page.passed.map(passedRow)].sort((a, b) => b.at - a.at || b.order - a.order).map(({ node }) => node);
  if (older) list.append(...rows);
  else list.replaceChildren(...rows);
  before = page.nextBefore ?? null;
  part("older").hidden = !before;
  if (part("purge")) part("purge").hidden = !page.earlierRecordsPruned || Boolean(before);
  const notes = [];
  if (!list.children.length) notes.push(say("none_delivered"));
  if (!before && page.earlierRecordsPruned) notes.push(say("pruned"));
  else if (!before && page.earlierRecordsUnavailable) notes.push(say("earlier_unknown"));
  part("deliveries-note").textContent = notes.join(" ");
}

function sentRow(record, order) {
  const facts = [record.origin === "manual" ? say("delivered_by_hand") : say("delivered_for", { at: momentWords(record.scheduledAt) })];
  if (record.missed) facts.push(sayCount("missed_count", record.missed));
  return rowOf(Date.parse(record.deliveredAt), -order, say("delivered", { at: momentWords(record.deliveredAt) }), facts, record.prompt);
}

function passedRow(record, order) {
  const facts = [say("delivered_for", { at: momentWords(record.scheduledAt) })];
  // It counts itself.
  if (record.missed > 1) facts.push(sayCount("missed_count", record.missed - 1));
  return rowOf(Date.parse(record.decidedAt), -order, say("outcomes")[record.outcome] ?? record.outcome, facts, "");
}

function rowOf(at, order, head, facts, prompt) {
  const node = make("li", { class: "sch-delivery" }, make("p", {}, make("strong", {}, head), ` · ${facts.join(" · ")}`), prompt ? make("p", { class: "muted sch-prompt" }, make("bdi", {}, prompt)) : null);
  return { at, order, node };
}

// --- Acting --------------------------------------------------------------------------------------------------------------
async function act(name, button) {
  const path = taskPath(current);
  button.disabled = true;
  showError(panel, "");
  try {
    if (name === "run" || name === "skip") await call("POST", `${path}/${name}`, { body: {} });
    else await call("PATCH", path, { body: { options: { paused: name === "pause" } } });
    announce(say({ run: "ran", skip: "skipped_next", pause: "is_paused", resume: "resumed" }[name]));
    await refreshDetail();
    panel.querySelector(name === "pause" ? "[data-act=resume]" : name === "resume" ? "[data-act=pause]" : `[data-act=${name}]`)?.focus();
    done();
  } catch (error) {
    showError(panel, error.message);
  }
  button.disabled = false;
}

for (const button of panel.querySelectorAll("[data-act]")) button.addEventListener("click", () => act(button.dataset.act, button));
part("older").addEventListener("click", () => deliveries({ older: true }));
part("edit")?.addEventListener("click", () => {
  panel.close();
  editSchedule(current, () => done());
});
async function remove(path) {
  panel.close();
  try {
    await ask("DELETE", path);
  } catch (error) {
    notice({ title: error.message, seconds: 10 });
  }
}
part("bin")?.addEventListener("click", () => remove(taskPath(current)));
part("purge")?.addEventListener("click", () => remove(`${taskPath(current)}/deliveries`));
