// Which keys are held down at this moment, known from before any dialog opens.
const down = new Set();
export const keys = new EventTarget();

addEventListener("keydown", (event) => {
  down.add(event.code || event.key);
  keys.dispatchEvent(new Event("held"));
}, true);
addEventListener("keyup", (event) => {
  // While Meta is down, some systems report no other key's release.
  if (event.key === "Meta") down.clear();
  down.delete(event.code || event.key);
  keys.dispatchEvent(new Event("released"));
}, true);
addEventListener("blur", () => {
  down.clear();
  keys.dispatchEvent(new Event("released"));
});

/** Tell whether any key is held. */
export const anyHeld = () => down.size > 0;
