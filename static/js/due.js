// What is due is told on every open page: reminders that were sent to sessions, alarms and reminders of the calendars.
import { read } from "./api.js";
import { happenings } from "./cards.js";
import { announce, notice } from "./live.js";
import { clock } from "./time.js";
import { say } from "./words.js";

const SHOWN_S = 60;
let fired = Number(document.documentElement.dataset.fired || 0);

/** Begin; called once by the frame. */
export function watchDue() {
  happenings.addEventListener("told", ({ detail: { about } }) => { if (about === "schedules") lookFired(); });
  happenings.addEventListener("due", ({ detail }) => ring(detail));
  happenings.addEventListener("connection", ({ detail: { state } }) => { if (state === "open") lookFired(); });
}

/** What was sent to sessions is read as the person who looks: a frame says only that something changed. */
async function lookFired() {
  const answer = await read(`/api/schedules/fired?after=${fired}`).catch(() => null);
  if (!answer || answer.next <= fired) return;
  fired = answer.next;
  for (const one of answer.fired.reverse()) {
    const href = `/schedules/?show=&schedule=${encodeURIComponent(one.id)}`;
    tell({ key: `fired ${one.id}`, title: one.title, line: say("fired_in", { name: one.sessionId }), href });
  }
}

function ring({ kind, item, title, at, missed }) {
  const words = [say(`due_${kind}`, { at: clock(at) })];
  if (missed) words.push(say("due_missed", { count: missed }));
  tell({ key: `due ${item}`, title, line: words.join(" · "), href: kind === "event" ? "/calendar/" : "/reminders/" });
}

function tell({ key, title, line, href }) {
  notice({ key, title, line, seconds: SHOWN_S, buttons: [{ label: say("fired_look"), href, primary: true }] });
  announce(`${title}. ${line}`);
}
