// A button with a menu below it: arrow keys, Home, End and Escape work as everybody expects.
import { icon, make } from "./parts.js";

let openMenu = null;

/** Tell whether a menu is open in there; a redraw waits for `menu-closed`, which bubbles up from the menu. */
export const hasOpenMenu = (root) => Boolean(openMenu && root.contains(openMenu));

/** Make a menu. An entry is `{label, press}` or `{label, href, file}`; `danger` entries stand apart from those before. */
export function makeMenu({ label, entries }) {
  const list = make("div", { class: "menu-list below", role: "menu", hidden: true });
  const button = make("button", { type: "button", class: "icon-button", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": label, title: label }, icon("more"));
  const box = make("div", { class: "menu", on: { keydown: (event) => onKey(event, { box, button, list }) } }, button, list);
  list.append(...entries.map((entry) => entryOf(entry, box)));
  box.close = () => close({ box, button, list });
  button.addEventListener("click", () => (list.hidden ? show({ box, button, list }) : box.close()));
  return box;
}

function entryOf({ label, press, href, file, danger, name }, box) {
  const shared = { role: "menuitem", tabindex: "-1", class: danger ? "danger" : null, "data-entry": name };
  const node = href ? make("a", { ...shared, href, download: file ?? null }, label) : make("button", { ...shared, type: "button" }, label);
  node.addEventListener("click", () => {
    box.close();
    box.querySelector("button").focus();
    press?.();
  });
  return node;
}

function show({ box, button, list }) {
  openMenu?.close();
  openMenu = box;
  list.hidden = false;
  button.setAttribute("aria-expanded", "true");
  // Above the button where there is no room below.
  const room = floor() - button.getBoundingClientRect().bottom;
  list.classList.toggle("above", room < list.offsetHeight + 16);
  list.firstElementChild?.focus();
}

/** Return where the visible page ends: on narrow windows the navigation covers its foot. */
function floor() {
  const nav = document.querySelector(".nav");
  const covers = nav && getComputedStyle(nav).position === "fixed";
  return covers ? nav.getBoundingClientRect().top : document.documentElement.clientHeight;
}

function close({ box, button, list }) {
  list.hidden = true;
  button.setAttribute("aria-expanded", "false");
  if (openMenu !== box) return;
  openMenu = null;
  // What closes it moves the focus first.
  queueMicrotask(() => box.dispatchEvent(new Event("menu-closed", { bubbles: true })));
}

function onKey(event, { box, button, list }) {
  if (list.hidden) return;
  const items = [...list.children];
  const at = items.indexOf(document.activeElement);
  const steps = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 };
  if (event.key in steps) items.at(steps[event.key] % items.length).focus();
  else if (event.key === "Escape") {
    box.close();
    button.focus();
  } else if (event.key === "Tab") return box.close();
  else return;
  event.preventDefault();
  event.stopPropagation();
}

document.addEventListener("pointerdown", (event) => {
  if (openMenu && !openMenu.contains(event.target)) openMenu.close();
});
