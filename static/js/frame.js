// Every signed-in page: theme, choices, the person's zone, the cards that arrive, the reminders of their deadlines.
import { call } from "./api.js";
import { happenings, open, serverNow, start } from "./cards.js";
import { decidedHere, isOpen, review } from "./dialog.js";
import { announce, dropNotice, notice, showCount } from "./live.js";
import { asking } from "./asking.js";
import { moment, span } from "./time.js";
import { say } from "./words.js";
import { watchDue } from "./due.js";
import "./sessions/beside.js";

const root = document.documentElement;
root.classList.add("scripted");

// --- Theme, language, profile, zone -------------------------------------------------------------------------------------
document.querySelector("[data-theme-switch]")?.addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  const secure = location.protocol === "https:" ? "; secure" : "";
  document.cookie = `sayso_theme=${root.dataset.theme}; path=/; max-age=31536000; samesite=lax${secure}`;
});
for (const form of document.querySelectorAll("[data-submit-on-change]")) {
  form.addEventListener("change", () => form.requestSubmit());
}
if ("zoneUnknown" in root.dataset) {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const body = new URLSearchParams({ time_zone: zone });
  call("POST", "/settings/zone", { raw: body }).catch(() => {});
}

// --- Cards that arrive and go -------------------------------------------------------------------------------------------
function isTyping() {
  const node = document.activeElement;
  return Boolean(node?.matches("input, textarea, select, [contenteditable]:not([contenteditable=false])"));
}

happenings.addEventListener("shown", ({ detail: { card, live } }) => {
  remind(card);
  if (!live || (card.requester.kind === "person" && asking())) return;
  announce(say("new_card", { question: card.question }), { urgent: true });
  const free = !isTyping() && !document.querySelector("dialog[open]") && document.visibilityState === "visible";
  if (free && card.requester.kind !== "person") return review(card.id);
  notice({
    key: card.id,
    asking: true,
    title: card.question,
    line: `${say("asked_by")} ${card.requester.label}`,
    buttons: [{ label: say("review"), primary: true, press: () => review(card.id) }],
  });
});

happenings.addEventListener("ended", ({ detail: { id, card, state, by, at } }) => {
  dropNotice(id);
  forget(id);
  if (!card || !state || decidedHere.has(id) || isOpen()) return;
  const facts = { state: say("states")[state], question: card.question, by, at: at ? moment(at) : "" };
  const title = say(by && at ? "ended_by" : "ended", facts);
  notice({ title, seconds: 8 });
  announce(title);
});
happenings.addEventListener("counted", () => showCount(open.size));

// --- Reminders at half and at nine tenths of the time ------------------------------------------------------------------
const reminders = new Map();

function remind(card) {
  forget(card.id);
  const whole = card.deadline_ms - card.asked_at_ms;
  const timers = [["remind_half", 0.5], ["remind_last", 0.9]].map(([name, share]) => {
    const waitMs = card.asked_at_ms + whole * share - serverNow();
    // Browsers fire at once what lies further ahead than 2^31 ms.
    if (waitMs < 0 || waitMs > 2 ** 31 - 1) return 0;
    return setTimeout(() => remindNow(card.id, name), waitMs);
  });
  reminders.set(card.id, timers);
}

function remindNow(id, name) {
  const card = open.get(id)?.card;
  if (!card) return;
  const title = say(name, { question: card.question, time: span(card.deadline_ms - serverNow()) });
  announce(title, { urgent: name === "remind_last" });
  if (!isOpen()) notice({ key: id, asking: true, title, buttons: [{ label: say("review"), primary: true, press: () => review(id) }] });
}

function forget(id) {
  for (const timer of reminders.get(id) ?? []) clearTimeout(timer);
  reminders.delete(id);
}

// --- The connection --------------------------------------------------------------------------------------------------
let lostTimer = 0;
happenings.addEventListener("connection", ({ detail: { state } }) => {
  const banner = document.querySelector("[data-offline]");
  document.querySelector("[data-connection]")?.setAttribute("data-connection", state);
  clearTimeout(lostTimer);
  if (state === "signed-out") return signedOut();
  if (!banner) return;
  if (state === "open") banner.hidden = true;
  else {
    // A short gap needs no words.
    lostTimer = setTimeout(() => {
      banner.hidden = false;
      banner.querySelector("[data-offline-text]").textContent = say("offline");
    }, 1500);
  }
});

function signedOut() {
  const here = encodeURIComponent(location.pathname + location.search);
  notice({ key: "signed-out", title: say("signed_out"), buttons: [{ label: say("sign_in"), href: `/login/?next=${here}`, primary: true }] });
  announce(say("signed_out"), { urgent: true });
}
document.addEventListener("sayso:signed-out", signedOut);

start();
watchDue();
