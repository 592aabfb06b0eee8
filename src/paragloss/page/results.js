// The list of results: for each its language, fit, title, snippet, their rough meaning, and actions.
import { address, ask } from "./api.js";
import { h, isPlainClick } from "./dom.js";
import { isHelpful, listMeanings, paint, paintRendering } from "./gloss.js";
import { badge, nameOf } from "./languages.js";
import { meanings } from "./meanings.js";
import { describeSource } from "./places.js";
import { makeLanguageChoice } from "./relabel.js";
import { MAX_RESULTS, toAddress } from "./state.js";
import { number, t } from "./strings.js";
import { explain } from "./why.js";

// Characters of a title that are glossed and that are shown, and milliseconds in which a deletion can be undone.
const MAX_GLOSSED_TITLE = 300, MAX_TITLE = 1000, UNDO_TIME = 8000;

export const list = (results, page) => results.map((result) => makeItem(result, page));

// An item: {element, result, title, snippet, titleMeaning, snippetMeaning, glossed}.
function makeItem(result, page) {
  const { state, question, go } = page;
  const title = h("span", { class: result.title ? "title" : "title untitled", lang: result.title ? result.lang : null, dir: "auto", title: result.title.length > 90 ? result.title : null });
  paint(title, result.title.slice(0, MAX_TITLE) || result.id);
  const snippet = h("p", { class: "snippet", lang: result.lang, dir: "auto" });
  paint(snippet, result.snippet, result.marks);
  const titleMeaning = h("span", { class: "rendering", dir: "auto", hidden: true });
  const snippetMeaning = h("p", { class: "rendering", dir: "auto", hidden: true });
  const glossed = h("p", { class: "glossed", dir: "auto" });
  const panel = h("div", { class: "why", hidden: true });
  const element = h("li", { class: "result late", tabindex: "-1", "data-id": result.id });
  const item = { element, result, title, snippet, titleMeaning, snippetMeaning, glossed };
  const language = h("span", { class: "lang" }, badge(result.lang), nameOf(result.lang));
  const actions = makeActions(result, element, { state, go });
  actions.splice(-1, 0, makeRelabelButton(item, language, page));
  element.append(
    h("div", { class: "head" }, language, makeSource(result), makeFitMeter(result.fit)),
    h("h2", {}, makeReadLink(result.id, page, {}, title, titleMeaning)), snippet, snippetMeaning, glossed, ...makeCopies(result, page),
    h("div", { class: "foot" }, makeReadLink(result.id, page, { class: "link" }, t("open")), makeWhyButton(panel, question, result), makeMenu(actions)),
    panel);
  return item;
}

// A link to the reading view of a document.
function makeReadLink(id, { state, go }, attributes, ...children) {
  const onclick = (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    go({ view: "read", doc: id });
  };
  return h("a", { ...attributes, href: toAddress({ ...state, view: "read", doc: id }), onclick }, ...children);
}

// The number of copies of a document, and the id of each, which opens it; nothing where it has none.
function makeCopies({ id, copies = [] }, page) {
  if (!copies.length) return [];
  const makeCopy = (copyId) => h("li", {}, makeReadLink(copyId, page, { class: "link", dir: "auto" }, copyId));
  return [h("div", { class: "copies" }, t("copies", { n: copies.length + 1 }), h("ul", {}, [id, ...copies].map(makeCopy)))];
}

// Replaces the name of the language by a choice of languages; then the meanings are asked for again.
function makeRelabelButton(item, language, page) {
  const { result } = item;
  const onChange = (lang) => {
    result.lang = item.snippet.lang = lang;
    language.replaceChildren(badge(lang), nameOf(lang));
    gloss([item], page.state, page.reader, new AbortController().signal);
  };
  const choose = () => {
    language.replaceChildren(makeLanguageChoice(result, { langs: page.langs(), collection: page.state.collection, onChange }));
    language.querySelector("select").focus();
  };
  return h("button", { type: "button", class: "link writes", onclick: choose }, t("language.wrong"));
}

// Each part has its own direction: a file name and a date may be in different scripts.
function makeSource(result) {
  const parts = describeSource(result).flatMap((part, i) => [i ? " · " : "", h("bdi", {}, part)]);
  return h("span", { class: "place" }, parts);
}

function makeWhyButton(panel, question, result) {
  const button = h("button", { type: "button", class: "link", "aria-expanded": "false" }, t("why.short"));
  button.addEventListener("click", () => {
    panel.hidden = !panel.hidden;
    button.setAttribute("aria-expanded", String(!panel.hidden));
    if (!panel.hidden) explain(panel, question, result);
  });
  return button;
}

// Actions that are needed less often: open the file, search for similar documents, copy a link, delete.
function makeActions(result, element, { state, go }) {
  const copy = h("button", { type: "button", class: "link", onclick: async () => {
    await navigator.clipboard?.writeText(new URL(toAddress({ ...state, view: "read", doc: result.id }), location).href);
    copy.textContent = t("copied");
  } }, t("copy"));
  const pageAnchor = result.meta.page ? `#page=${result.meta.page}` : "";
  const original = result.original ? h("a", { class: "link opens", href: address("original", { id: result.id, collection: state.collection }) + pageAnchor, target: "_blank" }, t("original")) : null;
  const query = `${result.title} ${result.snippet}`.trim().slice(0, 300);
  const similar = h("button", { type: "button", class: "link", onclick: () => go({ q: query, lang: result.lang, to: [], where: [], k: 10 }) }, t("similar"));
  const remove = h("button", { type: "button", class: "link writes", onclick: () => deleteLater(element, result, state) }, t("delete"));
  return [original, similar, copy, remove];
}

// One menu is open at a time.
function makeMenu(actions) {
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

// Deletions that can still be undone: id -> a function that carries it out. Leaving the page or another search does that at once.
const pendingDeletions = new Map();

function deleteLater(element, result, state) {
  const notice = h("li", { class: "ghost", role: "status" }, t("deleted", { title: result.title.slice(0, 80) || result.id }), " ");
  const finish = async () => {
    clearTimeout(timer);
    if (!pendingDeletions.delete(result.id)) return;
    notice.querySelector("button")?.remove();
    try {
      await ask(`documents/${encodeURIComponent(result.id)}`, { collection: state.collection }, { method: "DELETE", keepalive: true });
      notice.remove();
    } catch (error) {
      notice.replaceWith(element);
      element.append(h("p", { class: "failed" }, error.message));
    }
  };
  const timer = setTimeout(finish, UNDO_TIME);
  const undo = h("button", { type: "button", onclick: () => {
    clearTimeout(timer);
    pendingDeletions.delete(result.id);
    notice.replaceWith(element);
    element.focus();
  } }, t("undo"));
  pendingDeletions.set(result.id, finish);
  notice.append(undo);
  element.replaceWith(notice);
  undo.focus();
}
export const finishDeletions = () => Promise.all([...pendingDeletions.values()].map((finish) => finish()));

// A meter of four steps for the probability that a document answers the query.
const FIT_STEPS = [0.75, 0.4, 0.15, 0];

function makeFitMeter(fit) {
  const step = FIT_STEPS.findIndex((minimum) => fit >= minimum);
  const word = t(`fit.${step}`);
  return h("span", { class: "fit", title: t("fit.title", { n: Math.round(fit * 100) }) },
    h("span", { class: "steps", role: "meter", "aria-label": t("fit"), "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": fit.toFixed(2), "aria-valuetext": word },
      FIT_STEPS.map((_, i) => h("i", { class: i < FIT_STEPS.length - step ? "on" : "" }))),
    h("span", { class: "likely" }, word));
}

// Glosses arrive after the results; one that can't be had is reported in its place.
export function gloss(items, state, reader, signal) {
  const jobs = items.filter(({ result }) => result.lang !== reader).flatMap((item) => {
    const { title, snippet, marks, lang } = item.result;
    const failed = () => showGlossFailure(item, () => gloss([item], state, reader, signal));
    const shortTitle = Array.from(title.slice(0, 2 * MAX_GLOSSED_TITLE)).slice(0, MAX_GLOSSED_TITLE).join("");
    return [
      { text: shortTitle, lang, failed, done: (titleGloss) => {
        paint(item.title, title.slice(0, MAX_TITLE), [], titleGloss);
        showRendering(item, item.titleMeaning, titleGloss, reader);
      } },
      { text: snippet, lang, failed, done: (snippetGloss) => {
        paint(item.snippet, snippet, marks, snippetGloss);
        showRendering(item, item.snippetMeaning, snippetGloss, reader);
        item.glossed.textContent = listMeanings(snippetGloss);
      } },
    ].filter((job) => job.text);
  });
  return meanings(jobs, { reader, query: state.q, collection: state.collection, signal });
}

function showRendering(item, element, textGloss, reader) {
  const isTitle = element === item.titleMeaning, helpful = isHelpful(textGloss);
  const unfold = () => paintRendering(element, textGloss, isTitle ? [] : item.result.marks);
  element.className = "rendering";
  if (helpful) unfold();
  else element.replaceChildren(h("button", { type: "button", class: "link fold", onclick: unfold }, t("read.rough")));
  element.lang = reader;
  element.title = helpful ? textGloss.rendering : ""; // the list shows a line or two of it
  element.hidden = !textGloss.rendering || (isTitle && !helpful); // a title of which half is unknown is a name
  // What the reader can read comes first; a folded meaning stays below the original.
  item.element.classList.toggle(isTitle ? "titled" : "rendered", helpful && Boolean(textGloss.rendering));
}

function showGlossFailure(item, retry) {
  item.snippetMeaning.className = "failed soft";
  item.snippetMeaning.replaceChildren(t("gloss.failed"), " ", h("button", { type: "button", class: "link", onclick: retry }, t("again")));
  item.snippetMeaning.hidden = false;
}

// `total` is the number of all matching documents, as far as they are counted.
export function summary(answer, milliseconds, total = 0) {
  const shown = answer.results.length;
  const languageCount = new Set(answer.results.map((result) => result.lang)).size;
  const unknownWords = answer.query.unknown?.length ? ` · ${t("notUnderstood", { words: answer.query.unknown.map((word) => `“${word}”`).join(", ") })}` : "";
  const languages = t("languages", { n: languageCount });
  const counts = total > shown || total >= MAX_RESULTS ? t(total < MAX_RESULTS ? "summary.of" : "summary.ofMany", { n: total, shown, languages })
    : t("inLanguages", { documents: t("documents", { n: shown }), languages });
  const duration = milliseconds ? ` · ${number(Math.round(milliseconds))} ms` : "";
  return `${counts}${duration}${unknownWords}`;
}
