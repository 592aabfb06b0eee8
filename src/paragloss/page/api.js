// Everything that is asked of the server. An error is thrown with the server's own sentence.
import { $ } from "./dom.js";

let key = sessionStorage.getItem("key") || "";

export class Trouble extends Error {
  constructor(message, status) {
    super(message);
    this.status = status;
  }
}

export function headers(more = {}) {
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== "" && value !== null && value !== undefined && value !== false) query.set(name, value);
  }
  const tail = query.toString();
  return tail ? `api/${path}?${tail}` : `api/${path}`;
}

export async function ask(path, parameters = {}, options = {}) {
  let answer;
  try {
    answer = await fetch(address(path, parameters), { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble("The server does not answer. Is it still running?", 0);
  }
  if (answer.status === 401) {
    await askForKey();
    return ask(path, parameters, options);
  }
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Trouble(said.error || `The server answered ${answer.status}.`, answer.status);
  return said;
}

export function send(method, path, body, parameters = {}, signal = undefined) {
  const options = { method, signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return ask(path, parameters, options);
}

let asking = null;
function askForKey() {
  asking ??= new Promise((resolve) => {
    const dialog = $("key");
    dialog.addEventListener("close", () => {
      key = $("key-value").value.trim();
      sessionStorage.setItem("key", key);
      asking = null;
      resolve();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}
