// The search view: sends the query of the address, and shows the results, the counts and the filters.
import { ask, describeDetail } from "./api.js";
import * as chips from "./chips.js";
import { $, h } from "./dom.js";
import { bibtex, csv, isCitable, save } from "./export.js";
import * as fields from "./fields.js";
import * as filters from "./filters.js";
import { welcome } from "./home.js";
import { keepSearch } from "./kept.js";
import { nameOf } from "./languages.js";
import { describeSource } from "./places.js";
import * as results from "./results.js";
import { listKey, MAX_RESULTS, MORE_RESULTS, toAddress, variants } from "./state.js";
import { t } from "./strings.js";

// The search that runs, the key of the list that is shown, its documents, and the number of all that match.
let running = null, shownKey = "", shownIds = new Set(), items = [], totalCount = 0;

// `page`: {state, reader, collection(), ready, go, replaceState}, as main.js has them. A list that is shown already stays as it is.
export async function search(page, again = false, { typing = false } = {}) {
  const { state } = page;
  if (!typing) $("q").value = state.q;
  $("each").checked = state.each;
  $("as-typed").checked = state.asTyped;
  $("sort").value = state.sort;
  filters.showCount(state);
  const key = listKey(state, page.reader);
  if (!again && key === shownKey && state.q.trim()) return;
  running?.abort();
  const controller = (running = new AbortController());
  shownKey = "";
  $("trouble").hidden = $("more").hidden = $("export").hidden = $("meant").hidden = $("notes").hidden = true;
  $("results").setAttribute("aria-busy", "true");
  await results.finishDeletions();
  if (controller !== running) return;
  if (!state.q.trim()) {
    clear();
    $("results").setAttribute("aria-busy", "false");
    await page.ready;
    if (controller === running) welcome(page);
    return;
  }
  $("welcome").hidden = true;
  try {
    await showResults(page, controller, key, typing);
  } catch (error) {
    if (error.name !== "AbortError" && controller === running) showError(error, page.retry);
  }
  if (controller === running) $("results").setAttribute("aria-busy", "false");
}
// How long the last answer took.
search.milliseconds = 0;

async function showResults(page, controller, key, typing) {
  const timers = [setTimeout(typing ? () => {} : showPlaceholders, 200), setTimeout(() => { $("status").textContent = t("stillSearching"); }, 2500)];
  const start = performance.now();
  let answer;
  try {
    answer = await requestResults(page, page.state.k, controller.signal);
  } finally {
    timers.forEach(clearTimeout);
  }
  search.milliseconds = performance.now() - start;
  showQueryLanguage(page, answer.query.lang);
  [shownIds, items, totalCount] = [new Set(), [], 0];
  $("results").replaceChildren();
  append(page, answer);
  const count = answer.results.length, milliseconds = search.milliseconds;
  $("status").textContent = count ? results.summary(answer, milliseconds) : "";
  suggestSpelling(answer, page.go);
  showNotes(answer);
  shownKey = key;
  if (!count) await showNothing(page, answer.query);
  const counting = showCounts(page, answer.query.lang, controller.signal).then(() => {
    if (count && shownIds.size === count) $("status").textContent = results.summary(answer, milliseconds, totalCount);
  });
  await Promise.all([counting, results.gloss(items, page.state, page.reader, controller.signal)]);
}

const question = ({ state, reader }, k) => ({ q: state.q, lang: state.lang, to: state.to.join(","), collection: state.collection, where: state.where, variants: variants(state.asTyped), k, reader });
const requestResults = (page, k, signal) => ask("search", { ...question(page, k), each_language: page.state.each, sort: page.state.sort }, { signal });

function append(page, answer) {
  const { state } = page;
  const newResults = answer.results.filter((result) => !shownIds.has(result.id));
  const newItems = results.list(newResults, { ...page, state: { ...state, lang: answer.query.lang }, question: question(page, state.k) });
  items.push(...newItems);
  $("results").append(...newItems.map(({ element }) => element));
  for (const { id } of newResults) shownIds.add(id);
  $("more").hidden = answer.results.length < state.k || state.k >= MAX_RESULTS;
  $("more").onclick = () => showMore(page);
  offerExport(page);
  return newItems;
}

// The list as a kept search, a table, a bibliography or on paper.
function offerExport({ state, go }) {
  const listed = items.map(({ result }) => result);
  $("export").hidden = !listed.length;
  $("as-bibtex").hidden = !listed.some(isCitable);
  $("save-search").onclick = () => { keepSearch(state); go({ view: "kept" }); };
  $("as-csv").onclick = () => save("results.csv", "text/csv", csv(COLUMNS, items.map(makeRow(state))));
  $("as-bibtex").onclick = () => save("results.bib", "application/x-bibtex", bibtex(listed));
  $("as-print").onclick = () => print();
}
const COLUMNS = ["title", "meaning", "language", "fit", "file", "snippet", "rendering", "address"];
const makeRow = (state) => ({ result, titleMeaning, snippetMeaning }) => ({
  title: result.title, meaning: titleMeaning.textContent, language: result.lang, fit: result.fit.toFixed(2), file: describeSource(result).join(" · "), snippet: result.snippet,
  rendering: snippetMeaning.textContent, address: new URL(toAddress({ ...state, view: "read", doc: result.id }), location).href,
});
addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll(".fold")) fold.click(); });

// Results that are shown stay where they are; new ones are added below.
async function showMore(page) {
  const previousCount = shownIds.size;
  page.replaceState({ k: Math.min(page.state.k + MORE_RESULTS, MAX_RESULTS) });
  $("more").hidden = true;
  try {
    const answer = await requestResults(page, page.state.k, running.signal);
    const newItems = append(page, answer);
    $("status").textContent = results.summary(answer, 0, totalCount);
    $("results").children[previousCount]?.focus();
    await results.gloss(newItems, page.state, page.reader, running.signal);
  } catch (error) {
    if (error.name !== "AbortError") showError(error, () => { $("trouble").hidden = true; showMore(page); }, true);
  }
}

function suggestSpelling(answer, go) {
  const text = answer.query.suggestion;
  $("meant").hidden = !text;
  if (text) $("meant").replaceChildren(`${t("meant")} `, h("button", { type: "button", class: "link", dir: "auto", onclick: () => go({ q: text }) }, text), "?");
}

// Operators that could not be used, as the server explains them.
function showNotes(answer) {
  const notes = answer.query.notes || [];
  $("notes").hidden = !notes.length;
  $("notes").replaceChildren(...notes.map((note) => h("p", {}, note)));
}

function clear() {
  $("results").replaceChildren();
  $("export").hidden = true;
  $("chips").replaceChildren();
  $("fields").replaceChildren();
  $("status").textContent = "";
}

function showPlaceholders() {
  $("status").textContent = t("searching");
  const placeholder = () => h("li", { class: "ghost", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  $("results").replaceChildren(placeholder(), placeholder(), placeholder());
}

async function showNothing(page, query) {
  await page.ready;
  const { state, go } = page;
  if (!page.collection()?.documents) {
    clear();
    return welcome(page);
  }
  const idea = (key, onclick) => h("li", {}, h("button", { type: "button", class: "link", onclick }, t(key)));
  const ideas = [idea("sayLanguage", () => { filters.setOpen(true); $("lang").focus(); }), idea("teach", () => go({ view: "glossary" }))];
  if (state.asTyped) ideas.unshift(idea("otherSpellings", () => go({ asTyped: false })));
  if (state.to.length || state.where.length) ideas.unshift(idea("everyLanguage", () => go({ to: [], where: [] })));
  $("results").replaceChildren(h("li", { class: "ghost" }, h("p", {}, h("strong", {}, t("nothing", { q: query.text, lang: nameOf(query.lang) }))),
    ...Object.entries(query.searched || {}).map(([lang, words]) => h("p", { dir: "auto" }, `${nameOf(lang)}: ${words}`)),
    h("p", {}, t("couldDo")), h("ul", {}, ideas)));
}

export function showError(error, retry, keepList = false) {
  if (!keepList) clear();
  const box = $("trouble");
  box.replaceChildren(h("p", {}, h("strong", {}, t("failed")), ` ${error.message}`), ...describeDetail(error.detail), h("button", { type: "button", onclick: retry }, t("again")));
  box.hidden = false;
}

// The language that the query was taken to be in; choosing another one searches again.
function showQueryLanguage({ state, langs }, lang) {
  const codes = [...new Set([...langs(), lang, "en"])].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  $("lang").replaceChildren(
    h("option", { value: "", selected: !state.lang }, state.lang ? t("findOut") : t("foundOut", { lang: nameOf(lang) })),
    ...codes.map((code) => h("option", { value: code, selected: code === state.lang }, nameOf(code))));
}

// Where counts can't be had, the results are shown without them.
async function fetchCounts({ state }, lang, to, signal) {
  const query = { q: state.q, lang: state.lang || lang, to: to.join(","), collection: state.collection, where: state.where, variants: variants(state.asTyped) };
  return ask("counts", query, { signal }).catch((error) => {
    if (error.name === "AbortError") throw error;
    return { of: 0, languages: {}, fields: {} };
  });
}

// A language's count is what its filter would show. With more results than are counted it is a minimum, except for chosen languages, which are counted by themselves.
async function showCounts(page, lang, signal) {
  const { state, go } = page;
  const [all, chosen] = await Promise.all([fetchCounts(page, lang, [], signal), state.to.length ? fetchCounts(page, lang, state.to, signal) : null]);
  const listed = chosen || all;
  totalCount = listed.of;
  const codes = [...new Set([...Object.keys(all.languages), ...state.to])];
  const countOf = (code) => (state.to.includes(code) ? chosen.languages[code] : all.languages[code]) || 0;
  codes.sort((a, b) => (all.languages[b] || 0) - (all.languages[a] || 0) || a.localeCompare(b));
  chips.fill($("chips"), codes.map((code) => {
    const on = state.to.includes(code), count = countOf(code), isMinimum = (on ? listed : all).of >= MAX_RESULTS;
    const toggle = () => go({ to: on ? state.to.filter((other) => other !== code) : [...state.to, code], k: 10 });
    return { code, count, isMinimum, on, toggle, title: t(isMinimum ? "chip.more" : "chip", { n: count, lang: nameOf(code) }) };
  }));
  $("all").hidden = !state.to.length;
  fields.fill(listed.fields, { state, go });
}
