// The list of what was found: language, fit, title, snippet, and what they mean roughly.
import { ask, send } from "./api.js";
import { $, h, plural } from "./dom.js";
import { paint } from "./gloss.js";
import { hue, nameOf, ownName } from "./languages.js";
import { explain } from "./why.js";

export function list(answer, state) {
  const items = answer.results.map((result) => item(result, state));
  $("results").replaceChildren(...items.map((made) => made.element));
  return items;
}

function item(result, state) {
  const title = h("button", { type: "button", class: result.title ? "" : "untitled", title: result.title.length > 90 ? result.title : null, onclick: () => open(result, state) });
  paint(title, result.title || result.id);
  const snippet = h("p", { class: "snippet", lang: result.lang, dir: "auto" });
  paint(snippet, result.snippet, result.marks);
  const under = h("p", { class: "rendering", dir: "auto", hidden: true });
  const below = h("p", { class: "rendering", dir: "auto", hidden: true });
  const panel = h("div", { class: "why", hidden: true });
  const why = h("button", { type: "button", class: "link", "aria-expanded": "false" }, "Why this?");
  why.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    why.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) explain(panel, state, result);
  });
  const element = h("li", { class: "result late", tabindex: "-1", "data-id": result.id },
    h("div", { class: "head" },
      h("span", { class: "dot", "--hue": hue(result.lang) }),
      h("span", { class: "lang" }, nameOf(result.lang), ownName(result.lang) ? h("span", { lang: result.lang }, ` · ${ownName(result.lang)}`) : null),
      fit(result.fit)),
    h("h2", { lang: result.title ? result.lang : null, dir: "auto" }, title), under, snippet, below,
    h("div", { class: "foot" }, why, h("button", { type: "button", class: "link", onclick: () => open(result, state) }, "Open")),
    panel);
  return { element, result, title, snippet, under, below, why };
}

// A bar of four steps: how likely it is that this is what was asked for.
const STEPS = [[0.75, "very likely"], [0.4, "likely"], [0.15, "perhaps"], [0, "unlikely"]];

function fit(share) {
  const step = STEPS.findIndex(([least]) => share >= least);
  const word = STEPS[step][1];
  const filled = STEPS.length - step;
  return h("span", { class: "fit", title: `of 100 documents with this fit about ${Math.round(share * 100)} are what was asked for` },
    h("span", { class: "steps", role: "meter", "aria-label": "fit", "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": share.toFixed(2), "aria-valuetext": word },
      STEPS.map((_, place) => h("i", { class: place < filled ? "on" : "" }))),
    word);
}

// Glosses come after the results: nobody waits for them.
export async function gloss(items, state, reader, signal) {
  const foreign = items.filter((made) => made.result.lang !== reader);
  if (!foreign.length) return;
  const texts = foreign.flatMap(({ result }) => [
    { text: result.title, lang: result.lang }, { text: result.snippet, lang: result.lang }]);
  const said = await send("POST", "gloss", { texts, to: reader, asked: state.q }, { collection: state.collection }, signal);
  foreign.forEach((made, place) => {
    const [title, snippet] = [said.glosses[2 * place], said.glosses[2 * place + 1]];
    if (made.result.title) paint(made.title, made.result.title, [], title);
    paint(made.snippet, made.result.snippet, made.result.marks, snippet);
    for (const [element, rendering] of [[made.under, title.rendering], [made.below, snippet.rendering]]) {
      element.textContent = rendering;
      element.lang = reader;
      element.hidden = !rendering;
    }
  });
}

async function open(result, state) {
  const dialog = $("document");
  const close = h("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const text = h("div", { class: "text", lang: result.lang, dir: "auto" }, "Loading …");
  const head = h("h2", { id: "document-title", lang: result.title ? result.lang : null, dir: "auto" }, result.title || result.id);
  dialog.replaceChildren(h("header", {}, head, close), h("p", { class: "soft" }, `${nameOf(result.lang)} · ${result.id}`), text);
  dialog.showModal();
  try {
    const kept = await ask(`documents/${encodeURIComponent(result.id)}`, { collection: state.collection });
    text.textContent = kept.text || kept.title;
    const reader = $("reader").value;
    if (kept.lang !== reader) {
      const start = Array.from(kept.text).slice(0, 6000).join("");
      const said = await send("POST", "gloss", { texts: [{ text: start, lang: kept.lang }], to: reader, asked: state.q }, { collection: state.collection });
      paint(text, kept.text, [], said.glosses[0]);
    }
  } catch (error) {
    if (text.textContent === "Loading …") text.textContent = error.message;
  }
}

export function summary(answer, milliseconds) {
  const count = answer.results.length;
  const langs = new Set(answer.results.map((result) => result.lang)).size;
  const unknown = answer.query.unknown?.length ? ` · not understood: ${answer.query.unknown.map((word) => `“${word}”`).join(", ")}` : "";
  return `${plural(count, "document")} in ${plural(langs, "language")} · ${Math.round(milliseconds)} ms${unknown}`;
}
