// Requests to our own server, as the signed-in person.
import { sentence } from "./words.js";

/** What the server answered instead of doing it; `message` is a sentence for the person. */
export class Refused extends Error {
  constructor(status, body) {
    // The routes of agent control name the error in a member of its own.
    const { code = "", message = "", ...more } = body.error ?? { ...body, message: body.detail };
    super(sentence(code, message));
    this.status = status;
    this.code = code;
    this.body = { ...body, ...more };
    /** What the server says itself, where the sentence is ours. */
    this.words = body.error && message && message !== this.message ? `(${message})` : "";
  }
}

const token = () => document.querySelector('meta[name="csrf-token"]').content;

/** Send a request and return `{status, body}`; raise `Refused` for an answer of 400 or more. */
export async function call(method, path, { body, headers = {}, raw, type } = {}) {
  const options = { method, credentials: "same-origin", cache: "no-store", headers: { Accept: "application/json", ...headers } };
  if (method !== "GET") options.headers["X-CSRFToken"] = token();
  if (raw !== undefined) {
    options.body = raw;
    if (type) options.headers["Content-Type"] = type;
  } else if (body !== undefined) {
    options.body = JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  const response = await fetch(path, options);
  const text = await response.text();
  let data = {};
  try {
    data = text ? JSON.parse(text) : {};
  } catch {
    data = { detail: "" };
  }
  if (response.status === 401) document.dispatchEvent(new CustomEvent("sayso:signed-out"));
  if (!response.ok) throw new Refused(response.status, data);
  return { status: response.status, body: data };
}

/** Read something. */
export const read = async (path) => (await call("GET", path)).body;
