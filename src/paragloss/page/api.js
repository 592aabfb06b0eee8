// Everything that is asked of the server. An error says in the page's words what happened; what the server said is its detail.
import { $, h } from "./dom.js";
import { t } from "./strings.js";

let key = sessionStorage.getItem("key") || "";

export class Trouble extends Error {
  constructor(message, detail = "") {
    super(message);
    this.detail = detail;
  }
}

const SENTENCES = { 401: "error.key", 403: "error.readOnly", 404: "error.gone", 408: "error.slow", 413: "error.large", 429: "error.guesses",
  501: "error.missing", 503: "error.busy", 504: "error.slow" };

export function sentence(path, status) {
  const asks = ["search", "counts", "why", "reading"].includes(path) && (status === 400 || status === 422);
  return t(asks ? "error.question" : SENTENCES[status] || "error.other");
}

// For whoever looks after the server.
export const told = (detail) => (detail?.trim() ? [h("details", { class: "detail" }, h("summary", {}, t("detail")), h("p", { lang: "en", dir: "ltr" }, detail))] : []);

export function headers(more = {}) {
  return key ? { ...more, Authorization: `Bearer ${key}` } : more;
}

export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) for (const one of value) query.append(name, one);
    else if (value !== "" && value !== null && value !== undefined && value !== false) query.set(name, value);
  }
  const tail = query.toString();
  return tail ? `api/${path}?${tail}` : `api/${path}`;
}

export async function ask(path, parameters = {}, options = {}) {
  const used = key;
  let answer;
  try {
    answer = await fetch(address(path, parameters), { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Trouble(t("error.offline"));
  }
  if (answer.status === 401) {
    // Another request may have been given a key meanwhile.
    if (used === key && !(await askForKey(Boolean(used)))) throw new Trouble(t("error.key"));
    return ask(path, parameters, options);
  }
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Trouble(sentence(path, answer.status), said.error);
  return said;
}

export function send(method, path, body, parameters = {}, signal = undefined) {
  const options = { method, signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return ask(path, parameters, options);
}

// Whether a key was given; Esc leaves without one. All requests that wait share the one question.
let asking = null;
function askForKey(wrong) {
  asking ??= new Promise((resolve) => {
    const dialog = $("key");
    $("key-wrong").textContent = wrong ? t("key.wrong") : "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      const given = dialog.returnValue === "given";
      key = given ? $("key-value").value.trim() : "";
      sessionStorage.setItem("key", key);
      asking = null;
      resolve(given);
    }, { once: true });
    dialog.showModal();
    $("key-value").select();
  });
  return asking;
}
