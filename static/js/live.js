// What the page says by itself: live regions, the number in the title, notices that take no focus.
import { say } from "./words.js";

const title = document.title;

/** Read a sentence out; `urgent` interrupts. */
export function announce(text, { urgent = false } = {}) {
  const region = document.querySelector(`[data-live="${urgent ? "assertive" : "polite"}"]`);
  region.textContent = "";
  // Two equal sentences in a row are two announcements.
  requestAnimationFrame(() => { region.textContent = text; });
}

/** Show how many cards wait, in the title and at the inbox. */
export function showCount(count) {
  document.title = count ? say("title_count", { count, title }) : title;
  const badge = document.querySelector("[data-pending-badge]");
  if (badge) {
    badge.hidden = !count;
    badge.querySelector("[data-pending-count]").textContent = count;
  }
}

/** Show a notice; returns a function that takes it away. Buttons are `{label, press, href, primary}`. */
export function notice({ title: head, line = "", buttons = [], asking = false, seconds = 0, key = "" }) {
  const place = document.querySelector("[data-notices]");
  if (!place) return () => {};
  const node = document.querySelector('[data-template="notice"]').content.firstElementChild.cloneNode(true);
  const gone = () => node.remove();
  if (key) {
    place.querySelector(`[data-key="${CSS.escape(key)}"]`)?.remove();
    node.dataset.key = key;
  }
  node.classList.toggle("asking", asking);
  node.querySelector('[data-part="title"]').textContent = head;
  node.querySelector('[data-part="line"]').textContent = line;
  const row = node.querySelector('[data-part="buttons"]');
  for (const { label, press, href, primary } of [...buttons, { label: say(asking ? "later" : "close") }]) {
    const button = document.createElement(href ? "a" : "button");
    button.className = `button small${primary ? " primary" : ""}`;
    button.textContent = label;
    if (href) button.href = href;
    else {
      button.type = "button";
      button.addEventListener("click", () => { gone(); press?.(); });
    }
    row.append(button);
  }
  place.append(node);
  if (seconds) {
    let timer = setTimeout(gone, seconds * 1000);
    node.addEventListener("pointerenter", () => clearTimeout(timer));
    node.addEventListener("focusin", () => clearTimeout(timer));
    node.addEventListener("pointerleave", () => { timer = setTimeout(gone, seconds * 1000); });
  }
  return gone;
}

/** Take the notice of a key away. */
export function dropNotice(key) {
  document.querySelector(`[data-notices] [data-key="${CSS.escape(key)}"]`)?.remove();
}
