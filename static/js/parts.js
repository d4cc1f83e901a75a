// Small pieces that pages make by hand: always from elements and text, never from markup.

/** Make an element; `attributes` that are null are left out, children may be texts. */
export function make(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key === "class") node.className = value;
    else if (key === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (key === "vars") for (const [property, amount] of Object.entries(value)) node.style.setProperty(property, amount);
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** Return one of the page's icons. */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const node = document.createElementNS(space, "svg");
  const use = document.createElementNS(space, "use");
  node.classList.add("icon");
  node.setAttribute("aria-hidden", "true");
  use.setAttribute("href", `#i-${name}`);
  node.append(use);
  return node;
}

/** Open a panel; its close buttons work by themselves. */
export function openPanel(panel) {
  if (!panel.dataset.wired) {
    panel.dataset.wired = "yes";
    panel.addEventListener("click", (event) => {
      if (event.target.closest("[data-close]")) panel.close();
    });
  }
  showError(panel, "");
  if (!panel.open) panel.showModal();
}

/** Show in a panel why something did not work. */
export function showError(panel, text) {
  const place = panel.querySelector("[data-error]");
  place.textContent = text;
  place.hidden = !text;
  if (text) place.scrollIntoView({ block: "nearest" });
}

/** Remember a choice in this browser; a browser that refuses forgets it. */
export const memory = {
  get(name, otherwise) {
    try {
      return JSON.parse(localStorage.getItem(`sayso.${name}`)) ?? otherwise;
    } catch {
      return otherwise;
    }
  },
  set(name, value) {
    try {
      localStorage.setItem(`sayso.${name}`, JSON.stringify(value));
    } catch {
      // Private windows may refuse.
    }
  },
};
