// Bringing a list to what it shows now without pulling anything away from under a hand: what stays the same keeps its
// element, and with it the focus, an open fold and a press that has begun.

const PARTS = "a, button, input, select, textarea, summary, [tabindex]";
const GATHER_MS = 400;
const prints = new WeakMap();

/**
 * Bring the children of an element to the items, `{key, print, make}` in order. An element is made anew only where there
 * was none of that key, or where its print, everything that it shows, is another; returns the elements.
 */
export function renew(list, items) {
  const known = new Map([...list.children].map((node) => [node.dataset.key, node]));
  const nodes = items.map(({ key, print = "", make }) => {
    const old = known.get(key);
    known.delete(key);
    if (old && prints.get(old) === print) return old;
    const node = make();
    node.dataset.key = key;
    prints.set(node, print);
    if (old) replace(old, node);
    return node;
  });
  for (const node of known.values()) node.remove();
  // Whatever has no key is not ours to keep.
  for (const node of [...list.children]) if (!nodes.includes(node)) node.remove();
  nodes.forEach((node, index) => { if (list.children[index] !== node) list.insertBefore(node, list.children[index] ?? null); });
  return nodes;
}

/** Put an element in the place of an older one of the same thing; folds that were open are open again. */
export function replace(old, node) {
  const folds = node.querySelectorAll("details");
  old.querySelectorAll("details").forEach(({ open }, index) => { if (open && folds[index]) folds[index].open = true; });
  old.replaceWith(node);
}

/**
 * Remember which part of which row has the focus, before rows are renewed; the returned function gives it back: to the
 * same element, else to the same part of the same row, else to the row that stands in its place. Rows bear `data-key`.
 */
export function keepFocus(root) {
  const part = document.activeElement;
  const row = root.contains(part) ? part.closest("[data-key]") : null;
  if (!row) return () => {};
  const alike = () => [...root.querySelectorAll(`${row.localName}[data-key]`)];
  const index = alike().indexOf(row);
  const place = [...row.querySelectorAll(PARTS)].indexOf(part);
  return () => {
    if (document.activeElement === part) return;
    const rows = alike();
    const now = rows.find((one) => one.dataset.key === row.dataset.key) ?? rows.at(Math.min(index, rows.length - 1));
    const parts = [...(now?.querySelectorAll(PARTS) ?? [])];
    const instead = part === row ? now : parts[place] ?? parts[0];
    (part.isConnected ? part : instead)?.focus({ preventScroll: true });
  };
}

/** Return a function that calls `act` soon, once for all its own calls meanwhile; a hidden page looks when it is shown. */
export function soon(act) {
  let waiting = 0;
  return () => {
    if (waiting || document.hidden) return;
    waiting = setTimeout(() => { waiting = 0; act(); }, GATHER_MS);
  };
}
