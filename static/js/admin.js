// The admin's delete buttons ask like everybody else: the same request, the same dialog.
import { ask } from "./asking.js";
import { notice } from "./live.js";

for (const button of document.querySelectorAll("[data-ask]")) {
  button.addEventListener("click", async () => {
    try {
      await ask("DELETE", button.dataset.ask, undefined, { profile: button.dataset.askProfile });
    } catch (error) {
      notice({ title: error.message, seconds: 10 });
    }
  });
}
