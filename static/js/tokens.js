// Tokens and phones: copy a secret, pair by QR or code, unpair.
import { call, read } from "./api.js";
import { announce, notice } from "./live.js";
import { keepFocus, renew } from "./renewing.js";
import { moment, span } from "./time.js";
import { say } from "./words.js";

// A page that shows a secret is not made twice by loading it again.
const secret = document.querySelector("[data-secret]");
if (secret) {
  history.replaceState(null, "", "/tokens/");
  secret.focus();
}
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const label = button.querySelector("span");
  try {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
    label.textContent = say("copied");
    announce(say("copied"));
  } catch {
    getSelection().selectAllChildren(document.getElementById(button.dataset.copy));
  }
});

const list = document.querySelector("[data-device-list]");

let known = null;

async function showDevices() {
  const { devices } = await read("/api/devices");
  // A phone that was not there before has used the code up.
  if (known && devices.some((device) => !known.has(device.id))) hideCode();
  known = new Set(devices.map((device) => device.id));
  document.querySelector("[data-device-none]").hidden = devices.length > 0;
  const focusBack = keepFocus(list);
  renew(list, devices.map((device) => ({ key: device.id, print: JSON.stringify(device), make: () => rowOf(device) })));
  focusBack();
}

function rowOf(device) {
  const row = document.querySelector('[data-template="device"]').content.firstElementChild.cloneNode(true);
  const field = (name) => row.querySelector(`[data-field="${name}"]`);
  const name = device.name ?? device.device_name;
  field("name").textContent = name;
  field("online").textContent = say(device.online ? "device_online" : "device_offline");
  const made = [device.brand ?? device.device_brand, device.model ?? device.device_model].filter(Boolean).join(" ");
  const paired = device.paired_at_ms ? say("device_paired", { at: moment(device.paired_at_ms) }) : "";
  const used = device.last_used_ms ? say("device_used", { at: moment(device.last_used_ms) }) : "";
  field("line").textContent = [made, paired, used].filter(Boolean).join(" · ");
  const button = field("end");
  button.textContent = say("device_end");
  button.addEventListener("click", () => unpair(button, device, name));
  return row;
}

async function unpair(button, device, name) {
  if (!button.classList.contains("danger")) {
    button.classList.add("danger");
    button.textContent = say("device_end_sure");
    return;
  }
  try {
    await call("DELETE", `/api/devices/${encodeURIComponent(device.id)}`);
    announce(say("device_ended", { name }));
  } catch (error) {
    notice({ title: error.message, seconds: 8 });
  }
  await showDevices();
}

let timer = 0;

function hideCode() {
  clearInterval(timer);
  document.querySelector("[data-pairing]").hidden = true;
}

document.querySelector("[data-pair]").addEventListener("click", async () => {
  const box = document.querySelector("[data-pairing]");
  try {
    const { body } = await call("POST", "/api/app-connections/authorization-codes/lan");
    const image = box.querySelector("[data-pairing-qr]");
    // As an image, so that nothing in it can run.
    image.src = `data:image/svg+xml,${encodeURIComponent(body.qr_svg)}`;
    box.querySelector("[data-pairing-code]").textContent = body.authorization_code;
    box.hidden = false;
    clearInterval(timer);
    const showLeft = () => {
      const left = body.expires_at_ms - Date.now();
      box.querySelector("[data-pairing-left]").textContent = left > 0 ? say("pair_until", { time: span(left) }) : say("pair_over");
    };
    showLeft();
    timer = setInterval(() => { showLeft(); showDevices().catch(() => {}); }, 5000);
  } catch (error) {
    notice({ title: error.message, seconds: 8 });
  }
});

showDevices().catch((error) => notice({ title: error.message, seconds: 8 }));
