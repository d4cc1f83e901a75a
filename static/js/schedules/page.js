// The schedules of all sessions: by their next run, kept up to date; one opens to its history, a form makes and changes them.
import { read } from "../api.js";
import { happenings } from "../cards.js";
import { notice } from "../live.js";
import { icon, make } from "../parts.js";
import { keepFocus, renew } from "../renewing.js";
import { say } from "../words.js";
import { openDetail, refreshDetail } from "./detail.js";
import { newSchedule } from "./form.js";
import { distance, momentWords, ruleWords, tagsOf } from "./rule.js";

const list = document.querySelector("[data-list]");
const none = document.querySelector("[data-none]");
const moreBox = document.querySelector("[data-more-box]");
const chosen = new URLSearchParams(location.search);
const filter = () => chosen.get("show") ?? "active";
let turn = 0;
let entries = [];
let next = null;

async function show({ more = false } = {}) {
  const mine = ++turn;
  const query = new URLSearchParams();
  if (["active", "inactive"].includes(filter())) query.set("status", filter());
  if (filter() === "undelivered") query.set("undelivered", "true");
  if (more) query.set("after", next);
  try {
    const answer = await read(`/api/schedules?${query}`);
    if (mine !== turn) return;
    entries = [...(more ? entries : []), ...entriesOf(answer)];
    next = answer.next;
    draw();
  } catch (error) {
    if (mine === turn) notice({ key: "list", title: error.message || say("offline_list"), buttons: [{ label: say("review_again"), press: show }] });
  }
  list.setAttribute("aria-busy", "false");
}

/** What cannot be read has no record, but is told of beside. */
function entriesOf({ schedules, beside }) {
  const known = new Map(schedules.map((record) => [record.id, record]));
  return Object.entries(beside).map(([id, facts]) => ({ id, ...facts, record: known.get(id) ?? null }));
}

function draw() {
  const focusBack = keepFocus(list);
  renew(list, entries.map((entry) => ({ key: `${entry.sessionId} ${entry.id}`, print: JSON.stringify(entry), make: () => rowOf(entry) })));
  focusBack();
  none.hidden = entries.length > 0;
  none.querySelector("[data-none-title]").textContent = say(filter() === "active" ? "none_yet" : "none_found");
  none.querySelector("[data-none-more]").textContent = filter() === "active" ? say("none_yet_more") : "";
  moreBox.hidden = !next;
}

function rowOf(entry) {
  const { record } = entry;
  const line = record ? [ruleWords(record), say("of_session", { name: entry.sessionId })] : [say("unreadable")];
  const when = record && record.status === "active" ? nextOf(entry) : [];
  if (record?.status === "inactive" && record.lastDelivery) when.push(make("span", { class: "sch-at" }, say("last_ran", { at: momentWords(record.lastDelivery.deliveredAt) })));
  return make(
    "li",
    { class: "sch", "data-schedule": entry.id },
    make(
      "button",
      { type: "button", class: "sch-main", on: { click: () => openDetail(entry, show) } },
      make("span", { class: "sch-title" }, make("bdi", {}, record?.title ?? entry.title), ...tagsOf(entry)),
      make("span", { class: "sch-line" }, ...line.flatMap((part, index) => [index ? " · " : null, make("bdi", {}, part)])),
    ),
    make("div", { class: "sch-when" }, ...when),
  );
}

function nextOf({ record, options }) {
  const ms = Date.parse(record.scheduledAt);
  const at = make("time", { class: "sch-at", datetime: record.scheduledAt }, momentWords(record.scheduledAt));
  return options.paused ? [at] : [make("span", { class: "sch-next", "data-at": ms }, distance(ms)), at];
}

// What was said of the distance to a run becomes old.
setInterval(() => {
  for (const node of document.querySelectorAll("[data-at]")) node.textContent = distance(Number(node.dataset.at));
}, 1000);

function mark() {
  for (const button of document.querySelectorAll("[data-filter]")) button.setAttribute("aria-pressed", String(button.dataset.filter === filter()));
}
for (const button of document.querySelectorAll("[data-filter]")) {
  button.addEventListener("click", () => {
    chosen.set("show", button.dataset.filter);
    history.replaceState(null, "", `?${chosen}`);
    mark();
    show();
  });
}
moreBox.querySelector("[data-more]").addEventListener("click", () => show({ more: true }));
document.querySelector("[data-new]")?.addEventListener("click", () => newSchedule(show));

function readAgain() {
  show();
  refreshDetail();
}
happenings.addEventListener("told", ({ detail: { about } }) => { if (about === "schedules") readAgain(); });
happenings.addEventListener("ended", readAgain);
happenings.addEventListener("connection", ({ detail: { state } }) => { if (state === "open") show(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) readAgain(); });

mark();
show().then(() => {
  const wanted = entries.find(({ id }) => id === chosen.get("schedule"));
  if (wanted) openDetail(wanted, show);
});
