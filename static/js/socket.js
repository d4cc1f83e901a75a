// The one connection to /ws/confirmations/: it comes back by itself and asks for what it missed.
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 15000;
const SIGNED_OUT = 4401;

/** Connect; frames go to `hear(frame)`, the state (`open`, `lost`, `signed-out`) to `changed(state)`. */
export function connect({ hear, changed }) {
  const seen = new Map();
  let socket = null;
  let waitMs = FIRST_WAIT_MS;
  let timer = 0;

  function open() {
    clearTimeout(timer);
    if (socket && socket.readyState <= WebSocket.OPEN) return;
    const numbers = [...seen].map(([profile, number]) => `${profile}:${number}`).join(",");
    const url = new URL("/ws/confirmations/", location.href);
    url.protocol = location.protocol === "https:" ? "wss:" : "ws:";
    if (numbers) url.search = `seen=${numbers}`;
    const mine = new WebSocket(url);
    socket = mine;
    mine.addEventListener("message", (event) => receive(JSON.parse(event.data)));
    mine.addEventListener("close", (event) => {
      if (socket !== mine) return;
      if (event.code === SIGNED_OUT) return changed("signed-out");
      changed("lost");
      // A little chance in the wait, so that many pages do not return at once.
      timer = setTimeout(open, waitMs * (0.75 + Math.random() / 2));
      waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS);
    });
  }

  function receive(frame) {
    if (frame.type === "hello") {
      waitMs = FIRST_WAIT_MS;
      for (const [profile, number] of Object.entries(frame.seen)) seen.set(profile, number);
      changed("open");
    } else if (frame.seq !== undefined) {
      const profile = frame.profile ?? frame.card?.profile.id;
      seen.set(profile, Math.max(seen.get(profile) ?? 0, frame.seq));
    }
    hear(frame);
  }

  open();
  addEventListener("online", open);
  document.addEventListener("visibilitychange", () => { if (!document.hidden) open(); });
  return {
    get isOpen() { return socket?.readyState === WebSocket.OPEN; },
    send(frame) { socket.send(JSON.stringify(frame)); },
    drop() { socket?.close(); },
  };
}
