// The list of what was found: language, fit, title, snippet, what they mean roughly, and what can be done with each.
import { address, ask } from "./api.js";
import { h } from "./dom.js";
import { helps, listed, paint } from "./gloss.js";
import { badge, nameOf } from "./languages.js";
import { meanings } from "./meanings.js";
import { place } from "./places.js";
import { toAddress } from "./state.js";
import { number, t } from "./strings.js";
import { explain } from "./why.js";

// Of a longer title nobody reads the rest; and how long a document that was deleted can still be had back, in milliseconds.
const TITLE = 300, REGRET = 8000;

export const list = (results, page) => results.map((result) => item(result, page));

function item(result, { state, question, go, here }) {
  const open = () => go({ view: "read", doc: result.id });
  const title = h("button", { type: "button", class: result.title ? "" : "untitled", title: result.title.length > 90 ? result.title : null, onclick: open });
  paint(title, result.title.slice(0, 1000) || result.id);
  const snippet = h("p", { class: "snippet", lang: result.lang, dir: "auto" });
  paint(snippet, result.snippet, result.marks);
  const under = h("p", { class: "rendering", dir: "auto", hidden: true });
  const below = h("p", { class: "rendering", dir: "auto", hidden: true });
  const glossed = h("p", { class: "glossed", dir: "auto" });
  const panel = h("div", { class: "why", hidden: true });
  const why = h("button", { type: "button", class: "link", "aria-expanded": "false" }, t("why.short"));
  why.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    why.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) explain(panel, question, result);
  });
  const copy = h("button", { type: "button", class: "link", onclick: async () => {
    await navigator.clipboard?.writeText(new URL(toAddress({ ...state, view: "read", doc: result.id }), location).href);
    copy.textContent = t("copied");
  } }, t("copy"));
  const original = result.original && here()?.originals ? h("a", { class: "link", href: address("original", { id: result.id, collection: state.collection }) + (result.meta.page ? `#page=${result.meta.page}` : ""), target: "_blank" }, t("original")) : null;
  // What it says, asked in its own language.
  const similar = h("button", { type: "button", class: "link", onclick: () => go({ q: `${result.title} ${result.snippet}`.trim().slice(0, 300), lang: result.lang, to: [], where: [], k: 10 }) }, t("similar"));
  const remove = h("button", { type: "button", class: "link writes", onclick: () => forget(element, result, state) }, t("delete"));
  const element = h("li", { class: "result late", tabindex: "-1", "data-id": result.id },
    h("div", { class: "head" },
      badge(result.lang), h("span", { class: "lang" }, nameOf(result.lang)),
      h("span", { class: "place", dir: "auto" }, place(result).join(" · ")),
      fit(result.fit)),
    h("h2", { lang: result.title ? result.lang : null, dir: "auto" }, title), under, snippet, below, glossed,
    h("div", { class: "foot" }, h("button", { type: "button", class: "link", onclick: open }, t("open")), why, menu([original, similar, copy, remove])),
    panel);
  under.addEventListener("click", open);
  return { element, result, title, snippet, under, below, glossed };
}

// Actions that are needed less often. One menu is open at a time.
function menu(actions) {
  const box = h("details", { class: "menu" }, h("summary", { "aria-label": t("actions"), title: t("actions") }, "⋯"), h("div", {}, actions));
  box.addEventListener("toggle", () => {
    if (box.open) for (const other of document.querySelectorAll(".menu[open]")) if (other !== box) other.open = false;
  });
  box.addEventListener("click", (event) => { if (event.target.closest("a, button")) box.open = false; });
  return box;
}
document.addEventListener("click", (event) => {
  for (const box of document.querySelectorAll(".menu[open]")) if (!box.contains(event.target)) box.open = false;
});

// Deleted after a while in which it can be had back; at once when the page is left or something else is asked.
let leaving = new Map();
function forget(element, result, state) {
  const gone = h("li", { class: "ghost", role: "status" }, t("deleted", { title: result.title.slice(0, 80) || result.id }), " ");
  const finish = async () => {
    clearTimeout(timer);
    if (!leaving.delete(result.id)) return;
    gone.querySelector("button")?.remove();
    try {
      await ask(`documents/${encodeURIComponent(result.id)}`, { collection: state.collection }, { method: "DELETE", keepalive: true });
      gone.remove();
    } catch (error) {
      gone.replaceWith(element);
      element.append(h("p", { class: "failed" }, error.message));
    }
  };
  const timer = setTimeout(finish, REGRET);
  const undo = h("button", { type: "button", onclick: () => {
    clearTimeout(timer);
    leaving.delete(result.id);
    gone.replaceWith(element);
    element.focus();
  } }, t("undo"));
  leaving.set(result.id, finish);
  gone.append(undo);
  element.replaceWith(gone);
  undo.focus();
}
export const settle = () => Promise.all([...leaving.values()].map((finish) => finish()));

// A bar of four steps: how likely it is that this is what was asked for.
const STEPS = [0.75, 0.4, 0.15, 0];

function fit(share) {
  const step = STEPS.findIndex((least) => share >= least);
  const word = t(`fit.${step}`);
  return h("span", { class: "fit", title: t("fit.title", { n: Math.round(share * 100) }) },
    h("span", { class: "steps", role: "meter", "aria-label": t("fit"), "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": share.toFixed(2), "aria-valuetext": word },
      STEPS.map((_, filled) => h("i", { class: filled < STEPS.length - step ? "on" : "" }))),
    word);
}

// Glosses come after the results: nobody waits for them, and one that can't be had says so in its place.
export function gloss(items, state, reader, signal) {
  const jobs = items.filter((made) => made.result.lang !== reader).flatMap((made) => {
    const { title, snippet, marks, lang } = made.result;
    const show = (element, said) => {
      const unfold = () => { element.textContent = said.rendering; };
      element.className = "rendering";
      element.replaceChildren(helps(said) ? said.rendering : h("button", { type: "button", class: "link fold", onclick: unfold }, t("read.rough")));
      element.lang = reader;
      element.title = helps(said) ? said.rendering : ""; // the list shows a line or two of it
      element.hidden = !said.rendering;
      made.element.classList.toggle("rendered", !made.below.hidden || !made.under.hidden);
    };
    const failed = () => {
      made.below.className = "failed soft";
      made.below.replaceChildren(t("gloss.failed"), " ", h("button", { type: "button", class: "link", onclick: () => gloss([made], state, reader, signal) }, t("again")));
      made.below.hidden = false;
    };
    const short = Array.from(title.slice(0, 2 * TITLE)).slice(0, TITLE).join("");
    return [
      { text: short, lang, failed, done: (said) => { paint(made.title, title.slice(0, 1000), [], said); show(made.under, said); } },
      { text: snippet, lang, failed, done: (said) => { paint(made.snippet, snippet, marks, said); show(made.below, said); made.glossed.textContent = listed(said); } },
    ].filter((job) => job.text);
  });
  return meanings(jobs, { reader, asked: state.q, collection: state.collection, signal });
}

export function summary(answer, milliseconds, total = "") {
  const langs = new Set(answer.results.map((result) => result.lang)).size;
  const unknown = answer.query.unknown?.length ? ` · ${t("notUnderstood", { words: answer.query.unknown.map((word) => `“${word}”`).join(", ") })}` : "";
  const found = t("inLanguages", { documents: t("documents", { n: answer.results.length }), languages: t("languages", { n: langs }) });
  const took = milliseconds ? ` · ${number(Math.round(milliseconds))} ms` : "";
  return `${found}${total}${took}${unknown}`;
}
