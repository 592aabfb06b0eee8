// Requests to the server. An error describes in the page's language what happened, with the server's message as its detail.
import { $, h } from "./dom.js";
import { t } from "./strings.js";

let key = sessionStorage.getItem("key") || "";

export class ServerError extends Error {
  constructor(message, detail = "") {
    super(message);
    this.detail = detail;
  }
}

const SENTENCES = { 401: "error.key", 403: "error.readOnly", 404: "error.gone", 408: "error.slow", 413: "error.large", 429: "error.guesses",
  501: "error.missing", 503: "error.busy", 504: "error.slow" };

export function sentence(path, status) {
  const isQuestion = ["search", "counts", "why", "reading", "term"].includes(path) && (status === 400 || status === 422);
  return t(isQuestion ? "error.question" : SENTENCES[status] || "error.other");
}

// The server's message, folded.
export const describeDetail = (detail) => (detail?.trim() ? [h("details", { class: "detail" }, h("summary", {}, t("detail")), h("p", { lang: "en", dir: "ltr" }, detail))] : []);

export function headers(otherHeaders = {}) {
  return key ? { ...otherHeaders, Authorization: `Bearer ${key}` } : otherHeaders;
}

export function address(path, parameters = {}) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (Array.isArray(value)) for (const item of value) query.append(name, item);
    else if (value !== "" && value !== null && value !== undefined && value !== false) query.set(name, value);
  }
  const text = query.toString();
  return text ? `api/${path}?${text}` : `api/${path}`;
}

export async function ask(path, parameters = {}, options = {}) {
  const usedKey = key;
  let answer;
  try {
    answer = await fetch(address(path, parameters), { ...options, headers: headers(options.headers) });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ServerError(t("error.offline"));
  }
  if (answer.status === 401) {
    // Another request may have been given a key meanwhile.
    if (usedKey === key && !(await askForKey(Boolean(usedKey)))) throw new ServerError(t("error.key"));
    return ask(path, parameters, options);
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new ServerError(sentence(path, answer.status), content.error);
  return content;
}

export function send(method, path, body, parameters = {}, signal = undefined) {
  const options = { method, signal, headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  return ask(path, parameters, options);
}

// Resolves to whether a key was given; Esc leaves without one. All waiting requests share one dialog.
let keyDialog = null;
function askForKey(wasWrong) {
  keyDialog ??= new Promise((resolve) => {
    const dialog = $("key");
    $("key-wrong").textContent = wasWrong ? t("key.wrong") : "";
    dialog.returnValue = "";
    dialog.addEventListener("close", () => {
      const wasGiven = dialog.returnValue === "given";
      key = wasGiven ? $("key-value").value.trim() : "";
      sessionStorage.setItem("key", key);
      keyDialog = null;
      resolve(wasGiven);
    }, { once: true });
    dialog.showModal();
    $("key-value").select();
  });
  return keyDialog;
}
