// The inbox and a card's own page: cards come and go by themselves.
import { happenings, open, serverNow } from "./cards.js";
import { isolate } from "./card_text.js";
import { review } from "./dialog.js";
import { span } from "./time.js";
import { say } from "./words.js";

const list = document.querySelector("[data-open-cards]");
const cardPage = document.querySelector("[data-card-page]");

function rowOf(id) {
  return list?.querySelector(`[data-card="${CSS.escape(id)}"]`);
}

function makeRow(card) {
  const row = document.querySelector('[data-template="card"]').content.firstElementChild.cloneNode(true);
  row.dataset.card = card.id;
  row.classList.toggle("louder", card.louder);
  const field = (name) => row.querySelector(`[data-field="${name}"]`);
  field("state").textContent = say("states")[card.state];
  field("state").className = `state state-${card.state}`;
  field("question").href = card.page;
  isolate(field("question"), card.question, [card.facts?.title, card.facts?.calendar]);
  field("consequence").textContent = card.consequence;
  field("who").textContent = card.requester.label;
  field("profile").textContent = card.profile.name;
  field("purpose-box").hidden = !card.purpose;
  field("purpose").textContent = card.purpose;
  return row;
}

function showEmpty() {
  document.querySelector("[data-empty]").hidden = Boolean(list.querySelector("[data-card]:not(.leaving)"));
}

function showLeft() {
  for (const [id, { card }] of open) {
    const left = card.deadline_ms - serverNow();
    const text = left > 0 ? say("left", { time: span(left) }) : say("left_none");
    for (const node of document.querySelectorAll(`[data-card="${CSS.escape(id)}"] [data-field="left"], [data-left-of="${CSS.escape(id)}"]`)) {
      node.textContent = text;
    }
  }
}

/** Read the part of this page again that shows what ended. */
async function renew(selector) {
  const response = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
  if (!response.ok || response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const next = page.querySelector(selector);
  const old = document.querySelector(selector);
  if (!next || !old) return;
  const link = old.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  const fresh = document.importNode(next, true);
  old.replaceWith(fresh);
  if (link) fresh.querySelector(`[href="${CSS.escape(link)}"]`)?.focus({ preventScroll: true });
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-review]");
  if (button) review(button.closest("[data-card]")?.dataset.card ?? cardPage.dataset.cardPage);
});

happenings.addEventListener("shown", ({ detail: { card } }) => {
  if (!list) return;
  const row = makeRow(card);
  const old = rowOf(card.id);
  if (!old) list.append(row);
  else if (!old.contains(document.activeElement)) old.replaceWith(row);
  showEmpty();
  showLeft();
});

happenings.addEventListener("ended", ({ detail: { id } }) => {
  if (list) {
    const row = rowOf(id);
    row?.classList.add("leaving");
    setTimeout(() => row?.remove(), 200);
    showEmpty();
    renew("[data-past]");
  } else if (cardPage?.dataset.cardPage === id) renew("[data-card-page] .sheet");
});

// What the template showed but the server no longer does.
happenings.addEventListener("counted", () => {
  for (const row of list?.querySelectorAll("[data-card]") ?? []) if (!open.has(row.dataset.card)) row.remove();
  if (list) showEmpty();
});

setInterval(showLeft, 1000);
if (cardPage?.dataset.state === "pending") review(cardPage.dataset.cardPage);
