// Asking for a deletion from a page: the same request that an agent sends, then the same dialog.
import { call } from "./api.js";
import { review } from "./dialog.js";

let running = 0;

/** Tell whether this page is asking right now; its own card then needs no notice. */
export const asking = () => running > 0;

/** Ask with `DELETE`, `PATCH` or `POST`; opens the dialog when a person has to decide, else returns the answer; `profile` names another one than the page's. */
export async function ask(method, path, body, { profile = "" } = {}) {
  running += 1;
  try {
    const answer = await call(method, path, { body, headers: { Prefer: "respond-async", ...(profile && { "X-Hermes-Profile": profile }) } });
    if (answer.status === 202) await review(answer.body.confirmation_id);
    return answer;
  } finally {
    running -= 1;
  }
}
