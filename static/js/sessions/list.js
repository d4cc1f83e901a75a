// The sessions of a profile by workspace: filtered, searched, and there by themselves as soon as an agent opens one.
import { read } from "../api.js";
import { happenings } from "../cards.js";
import { announce, notice } from "../live.js";
import { hasOpenMenu } from "../menu.js";
import { icon, make } from "../parts.js";
import { keepFocus, renew } from "../renewing.js";
import { moment } from "../time.js";
import { say, sayCount } from "../words.js";
import { menuOf, pageOf } from "./acting.js";

const groups = document.querySelector("[data-groups]");
const search = document.querySelector("[data-search]");
const choice = document.querySelector("[data-workspace]");
const moreBox = document.querySelector("[data-more-box]");
const names = new Map([...choice.options].map((option) => [option.value, option.textContent]));
const chosen = new URLSearchParams(location.search);
const PAGE = 100;
let turn = 0;
let shown = [];
let next = null;

const wanted = () => {
  const query = new URLSearchParams({ limit: PAGE });
  const filter = chosen.get("show") ?? "";
  if (filter) query.set(filter, "true");
  if (filter !== "archived") query.set("archived", "false");
  for (const name of ["workspace", "q"]) if (chosen.get(name)) query.set(name, chosen.get(name));
  return query;
};

/** Read as many rows as are shown, or the first page, and draw them. */
async function show({ more = false } = {}) {
  const mine = ++turn;
  const found = more ? [...shown] : [];
  let before = more ? next : "";
  try {
    do {
      const query = wanted();
      if (before) query.set("before", before);
      const page = await read(`/api/sessions?${query}`);
      if (mine !== turn) return;
      found.push(...page.sessions);
      before = page.next;
      // A search answers in pieces; what was shown before stays shown.
    } while (before && found.length < Math.max(more ? shown.length + 1 : shown.length, 1));
  } catch (error) {
    if (mine === turn) notice({ key: "list", title: error.message || say("offline_list"), buttons: [{ label: say("review_again"), press: show }] });
    groups.setAttribute("aria-busy", "false");
    return;
  }
  shown = found;
  next = before;
  draw();
}

function draw() {
  // Nothing is pulled away from under a hand: it is drawn when the menu closes.
  if (hasOpenMenu(groups)) return;
  const focusBack = keepFocus(groups);
  const byGroup = new Map();
  for (const session of shown) {
    const pinned = session.pinned && !chosen.get("show");
    const key = pinned ? "" : session.workspace;
    byGroup.set(key, [...(byGroup.get(key) ?? []), session]);
  }
  const order = ["", ...names.keys(), ...byGroup.keys()];
  const keys = [...new Set(order)].filter((key) => byGroup.has(key));
  const sections = renew(groups, keys.length ? keys.map((key) => ({ key: `group:${key}`, make: () => groupOf(key) })) : [{ key: "none", print: `${chosen}`, make: empty }]);
  keys.forEach((key, index) => renew(sections[index].querySelector("ul"), byGroup.get(key).map(itemOf)));
  groups.setAttribute("aria-busy", "false");
  moreBox.hidden = !next;
  focusBack();
}

const itemOf = (session) => ({ key: session.id, print: JSON.stringify(session), make: () => rowOf(session) });

function groupOf(key) {
  const name = key ? names.get(key) ?? key : say("pinned_group");
  const head = make("h2", { class: "ses-group" }, key ? null : icon("pin"), make("bdi", {}, name));
  return make("section", { "aria-label": name }, head, make("ul", { class: "ses-list" }));
}

function rowOf(session) {
  const tags = ["running", "live"].filter((name) => session[name]).slice(0, 1);
  if (session.archived) tags.push("archived");
  const of = session.parent && say(session.origin === "subagent" ? "subagent" : "fork", { name: session.parent });
  const facts = [session.title ? session.id : null, of || null, session.events ? sayCount("events", session.events) : say("no_events")];
  return make(
    "li",
    { class: "ses", "data-session": session.id },
    make(
      "div",
      { class: "ses-main" },
      make("a", { class: "ses-name", href: pageOf(session.id) }, make("bdi", {}, session.label)),
      ...tags.map((name) => make("span", { class: `tag is-${name}` }, say(name))),
      make("p", { class: "ses-line" }, ...facts.filter(Boolean).flatMap((fact, index) => [index ? " · " : null, make("bdi", {}, fact)])),
    ),
    make("time", { class: "ses-when" }, moment(session.last_ms || session.created_at_ms)),
    menuOf(session, show),
  );
}

function empty() {
  const plain = !chosen.get("show") && !chosen.get("q") && !chosen.get("workspace");
  return make("div", { class: "empty" }, icon("chat"), make("p", { class: "empty-title" }, say(plain ? "none_yet" : "none_found")), plain ? make("p", {}, say("none_yet_more")) : null);
}

function choose(name, value) {
  if (value) chosen.set(name, value);
  else chosen.delete(name);
  history.replaceState(null, "", `${location.pathname}${chosen.size ? `?${chosen}` : ""}`);
  mark();
  shown = [];
  show();
}

function mark() {
  for (const button of document.querySelectorAll("[data-filter]")) {
    button.setAttribute("aria-pressed", String(button.dataset.filter === (chosen.get("show") ?? "")));
  }
  choice.value = chosen.get("workspace") ?? "";
}

for (const button of document.querySelectorAll("[data-filter]")) button.addEventListener("click", () => choose("show", button.dataset.filter));
choice.addEventListener("change", () => choose("workspace", choice.value));
moreBox.querySelector("[data-more]").addEventListener("click", () => show({ more: true }));
search.elements.q.value = chosen.get("q") ?? "";
let typing = 0;
search.addEventListener("submit", (event) => event.preventDefault());
search.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => choose("q", search.elements.q.value.trim()), 250);
});

groups.addEventListener("menu-closed", draw);
happenings.addEventListener("told", ({ detail: { about } }) => { if (about === "sessions") show(); });
happenings.addEventListener("ended", ({ detail: { card, state } }) => {
  if (card?.contract === "sessions.delete" && state === "executed") announce(say("gone", { name: card.facts?.title || card.facts?.session || "" }));
  show();
});
happenings.addEventListener("connection", ({ detail: { state } }) => { if (state === "open") show(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) show(); });
mark();
show();
