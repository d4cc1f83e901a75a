// The pages of captures: rendered by the server and read again when something changed; a purge asks as an agent does.
import { ask } from "../asking.js";
import { happenings } from "../cards.js";
import { announce, notice } from "../live.js";

const place = () => document.querySelector("[data-renewed]");
let reading = false;
let again = false;

/** Read this page once more and show what changed; one request at a time, and another if something changed meanwhile. */
async function renew() {
  again = true;
  if (reading) return;
  reading = true;
  while (again) {
    again = false;
    await readAgain().catch(() => {}); // The server is away; the next connection reads it.
  }
  reading = false;
}

async function readAgain() {
  const response = await fetch(location.href, { credentials: "same-origin", cache: "no-store" });
  // What is not here any more has no conflicts to compare: back to where it was listed.
  if (response.status === 404) return void location.assign("/captures/");
  if (response.redirected) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const next = page.querySelector("[data-renewed]");
  // Nothing is pulled away from under a hand or an eye that reads.
  if (next && next.innerHTML !== place().innerHTML) place().replaceWith(document.importNode(next, true));
}

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-purge]");
  if (!button) return;
  const { scope, source } = place().dataset;
  button.disabled = true;
  try {
    await ask("DELETE", `/api/captures/sources/${encodeURIComponent(source)}?${new URLSearchParams({ scope_id: scope })}`);
  } catch (error) {
    notice({ key: "purge", title: error.message, line: error.words, seconds: 12 });
    announce(error.message);
  }
  button.disabled = false;
});

happenings.addEventListener("told", ({ detail: { about } }) => { if (about === "captures") renew(); });
happenings.addEventListener("ended", ({ detail: { card } }) => { if (card?.contract?.startsWith("captures.")) renew(); });
happenings.addEventListener("connection", ({ detail: { state } }) => { if (state === "open") renew(); });
document.addEventListener("visibilitychange", () => { if (!document.hidden) renew(); });
