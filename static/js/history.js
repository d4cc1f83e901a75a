// Earlier versions of an event or a reminder, each of which can be restored.
import { ask } from "./asking.js";
import { read } from "./api.js";
import { announce } from "./live.js";
import { make, openPanel, showError } from "./parts.js";
import { moment } from "./time.js";
import { say } from "./words.js";

const panel = document.getElementById("history-panel");

/** Show the versions of what lies at `path`; `restored` is called after one came back. */
export async function showHistory(path, restored) {
  const list = panel.querySelector("[data-versions]");
  const none = panel.querySelector("[data-none]");
  list.replaceChildren();
  none.hidden = true;
  openPanel(panel);
  try {
    const answer = await read(`${path}/revisions`);
    const versions = answer.revisions ?? answer.items ?? [];
    none.hidden = versions.length > 0;
    list.replaceChildren(...versions.map((version) => rowOf(version, path, restored)));
  } catch (error) {
    showError(panel, error.message);
  }
}

function rowOf(version, path, restored) {
  const verb = String(version.action ?? "").split(/[._]/).at(-1);
  const known = ["update", "complete", "import", "restore", "delete"].find((name) => String(version.action ?? "").includes(name));
  const action = known ? say(`action_${known}`) : say("action_other", { action: verb });
  const button = make("button", { type: "button", class: "button small" }, say("restore"));
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const answer = await ask("POST", `${path}/revisions/${version.number}/restore`, {});
      panel.close();
      if (answer.status !== 202) announce(say("restored"));
      restored();
    } catch (error) {
      button.disabled = false;
      showError(panel, error.message);
    }
  });
  return make("li", { class: "version" }, make("div", {}, make("strong", {}, make("bdi", {}, version.title || say("untitled"))), make("p", { class: "muted" }, say("version_by", { action, by: version.by_label ?? version.by ?? "", at: moment(version.at_ms) }))), button);
}
