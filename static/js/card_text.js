// A card's text: always text, never markup; names from data are kept apart by <bdi>.
import { say } from "./words.js";

/** Put a sentence into a node, each of the names in it isolated, so that its direction cannot bend the rest. */
export function isolate(node, text, names) {
  const wanted = [...new Set(names.filter(Boolean))].sort((a, b) => b.length - a.length);
  const pieces = [];
  let rest = text;
  while (rest) {
    const found = wanted.map((name) => ({ name, at: rest.indexOf(name) })).filter(({ at }) => at >= 0);
    const next = found.sort((a, b) => a.at - b.at || b.name.length - a.name.length)[0];
    if (!next) break;
    if (next.at) pieces.push(rest.slice(0, next.at));
    pieces.push(isolated(next.name));
    rest = rest.slice(next.at + next.name.length);
  }
  node.replaceChildren(...pieces, rest);
}

/** Return a name in an element of its own direction. */
export function isolated(text) {
  const node = document.createElement("bdi");
  node.textContent = text;
  return node;
}

/** Show label and value, line by line. */
export function showLines(list, lines) {
  list.hidden = !lines.length;
  list.replaceChildren(...lines.map(([label, value]) => {
    const row = document.createElement("div");
    const term = document.createElement("dt");
    const details = document.createElement("dd");
    term.textContent = label;
    details.append(isolated(value));
    row.append(term, details);
    return row;
  }));
}

/** Show who asks, for which session and run. */
export function showRequester(node, { requester }) {
  const kind = say(`kind_${requester.kind}`);
  const parts = [`${say("asked_by")} `, isolated(requester.label), ` (${kind})`];
  for (const name of ["session", "run"]) {
    if (requester[name]) parts.push(" · ", isolated(say(name, { name: requester[name] })));
  }
  node.replaceChildren(...parts);
}
