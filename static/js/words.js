// The words of the page, in the person's language, as the template rendered them.
const known = {};
for (const block of document.querySelectorAll('script[type="application/json"]')) {
  Object.assign(known, JSON.parse(block.textContent));
}

export const language = document.documentElement.lang || "en";

/** Return the words of that name; `{name}` in them is filled from `values`. */
export function say(name, values = {}) {
  const text = known[name];
  if (typeof text !== "string") return text ?? name;
  return text.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? String(values[key]) : whole));
}

/** Return the sentence for a machine code, else the server's own sentence. */
export function sentence(code = "", detail = "") {
  return known.codes?.[code] || known.codes?.[code.toLowerCase()] || detail || say("failed");
}

/** Return the words for a number of things; one of them may have words of its own under `<name>_one`. */
export function sayCount(name, count) {
  return say(count === 1 && `${name}_one` in known ? `${name}_one` : name, { count: new Intl.NumberFormat(language).format(count) });
}
