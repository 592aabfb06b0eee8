// The search view: asks what the address says, shows what was found, and more of it.
import { ask, told } from "./api.js";
import * as chips from "./chips.js";
import { $, h } from "./dom.js";
import { bibtex, citable, csv, save } from "./export.js";
import * as fields from "./fields.js";
import { welcome } from "./home.js";
import { keepSearch } from "./kept.js";
import { nameOf } from "./languages.js";
import { place } from "./places.js";
import * as results from "./results.js";
import { listed, MORE, MOST, toAddress } from "./state.js";
import { number, t } from "./strings.js";

let asked = null, shown = "", ids = new Set(), items = [], total = "";

// `page`: {state, reader, here(), ready, go, keep}, as main.js has them. A list that is here already stays as it is.
export async function search(page, anew = false) {
  const { state, go } = page;
  $("q").value = state.q;
  $("each").checked = state.each;
  $("sort").value = state.sort;
  const wanted = listed(state, page.reader);
  if (!anew && wanted === shown && state.q.trim()) return;
  asked?.abort();
  const mine = (asked = new AbortController());
  shown = "";
  $("trouble").hidden = $("more").hidden = $("export").hidden = $("meant").hidden = true;
  $("results").setAttribute("aria-busy", "true");
  await results.settle();
  if (mine !== asked) return;
  if (!state.q.trim()) {
    clear();
    $("results").setAttribute("aria-busy", "false");
    await page.ready;
    if (mine === asked) welcome(page.here(), go);
    return;
  }
  $("welcome").hidden = true;
  const slow = [setTimeout(ghosts, 200), setTimeout(() => { $("status").textContent = t("stillSearching"); }, 2500)];
  const started = performance.now();
  try {
    const answer = await find(page, state.k, mine.signal);
    slow.forEach(clearTimeout);
    understood(page, answer.query.lang);
    [ids, items, total] = [new Set(), [], ""];
    $("results").replaceChildren();
    append(page, answer);
    const took = performance.now() - started;
    $("status").textContent = answer.results.length ? results.summary(answer, took) : "";
    meant(answer, go);
    shown = wanted;
    if (!answer.results.length) await nothing(page, answer.query);
    const counted = count(page, answer.query.lang, mine.signal).then(() => { if (answer.results.length && ids.size === answer.results.length) $("status").textContent = results.summary(answer, took, total); });
    await Promise.all([counted, results.gloss(items, state, page.reader, mine.signal)]);
  } catch (error) {
    slow.forEach(clearTimeout);
    if (error.name !== "AbortError" && mine === asked) trouble(error, () => search(page, true));
  }
  if (mine === asked) $("results").setAttribute("aria-busy", "false");
}

const question = ({ state, reader }, k) => ({ q: state.q, lang: state.lang, to: state.to.join(","), collection: state.collection, where: state.where, k, reader });
const find = (page, k, signal) => ask("search", { ...question(page, k), each_language: page.state.each, sort: page.state.sort }, { signal });

function append(page, answer) {
  const { state, go, here } = page;
  const fresh = answer.results.filter((result) => !ids.has(result.id));
  const made = results.list(fresh, { state: { ...state, lang: answer.query.lang }, question: question(page, state.k), go, here });
  items.push(...made);
  $("results").append(...made.map(({ element }) => element));
  for (const { id } of fresh) ids.add(id);
  $("more").hidden = answer.results.length < state.k || state.k >= MOST;
  $("more").onclick = () => further(page);
  taken(page);
  return made;
}

// Results to take along: a name for the search, a table, a bibliography, paper.
function taken({ state, go }) {
  const found = items.map(({ result }) => result);
  $("export").hidden = !found.length;
  $("as-bibtex").hidden = !found.some(citable);
  $("save-search").onclick = () => { keepSearch(state); go({ view: "kept" }); };
  $("as-csv").onclick = () => save("results.csv", "text/csv", csv(COLUMNS, items.map(row(state))));
  $("as-bibtex").onclick = () => save("results.bib", "application/x-bibtex", bibtex(found));
  $("as-print").onclick = () => print();
}
const COLUMNS = ["title", "meaning", "language", "fit", "file", "snippet", "rendering", "address"];
const row = (state) => ({ result, under, below }) => ({
  title: result.title, meaning: under.textContent, language: result.lang, fit: result.fit.toFixed(2), file: place(result).join(" · "), snippet: result.snippet,
  rendering: below.textContent, address: new URL(toAddress({ ...state, view: "read", doc: result.id }), location).href,
});
addEventListener("beforeprint", () => { for (const fold of document.querySelectorAll(".fold")) fold.click(); });

// What was found stays where it is; what comes is put behind it.
async function further(page) {
  const before = ids.size;
  page.keep({ k: Math.min(page.state.k + MORE, MOST) });
  $("more").hidden = true;
  try {
    const answer = await find(page, page.state.k, asked.signal);
    const fresh = append(page, answer);
    $("status").textContent = results.summary(answer, 0, total);
    $("results").children[before]?.focus();
    await results.gloss(fresh, page.state, page.reader, asked.signal);
  } catch (error) {
    if (error.name !== "AbortError") trouble(error, () => { $("trouble").hidden = true; further(page); }, true);
  }
}

function meant(answer, go) {
  const text = answer.query.suggestion;
  $("meant").hidden = !text;
  if (text) $("meant").replaceChildren(`${t("meant")} `, h("button", { type: "button", class: "link", dir: "auto", onclick: () => go({ q: text }) }, text), "?");
}

function clear() {
  $("results").replaceChildren();
  $("filters").hidden = $("export").hidden = true;
  $("status").textContent = "";
}

function ghosts() {
  $("status").textContent = t("searching");
  const ghost = () => h("li", { class: "ghost", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  $("results").replaceChildren(ghost(), ghost(), ghost());
}

async function nothing(page, query) {
  await page.ready;
  const { state, go } = page;
  if (!page.here()?.documents) {
    clear();
    return welcome(page.here(), go);
  }
  const idea = (key, onclick) => h("li", {}, h("button", { type: "button", class: "link", onclick }, t(key)));
  const ideas = [idea("sayLanguage", () => { document.body.classList.add("tuning"); $("lang").focus(); }), idea("teach", () => go({ view: "glossary" }))];
  if (state.to.length || state.where.length) ideas.unshift(idea("everyLanguage", () => go({ to: [], where: [] })));
  $("results").replaceChildren(h("li", { class: "ghost" }, h("p", {}, h("strong", {}, t("nothing", { q: query.text, lang: nameOf(query.lang) }))),
    ...Object.entries(query.searched || {}).map(([lang, words]) => h("p", { dir: "auto" }, `${nameOf(lang)}: ${words}`)),
    h("p", {}, t("couldDo")), h("ul", {}, ideas)));
}

export function trouble(error, again, stay = false) {
  if (!stay) clear();
  const box = $("trouble");
  box.replaceChildren(h("p", {}, h("strong", {}, t("failed")), ` ${error.message}`), ...told(error.detail), h("button", { type: "button", onclick: again }, t("again")));
  box.hidden = false;
}

// The language the question was taken to be in; choosing another asks again.
function understood({ state, langs }, lang) {
  const codes = [...new Set([...langs(), lang, "en"])].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  $("lang").replaceChildren(
    h("option", { value: "", selected: !state.lang }, state.lang ? t("findOut") : t("foundOut", { lang: nameOf(lang) })),
    ...codes.map((code) => h("option", { value: code, selected: code === state.lang }, nameOf(code))));
}

// Counts that can't be had cost the chips, not the results.
async function count({ state, go }, lang, signal) {
  const counted = await ask("counts", { q: state.q, lang: state.lang || lang, collection: state.collection, where: state.where }, { signal })
    .catch((error) => { if (error.name === "AbortError") throw error; return { of: 0, languages: {}, fields: {} }; });
  total = counted.of ? ` · ${t(counted.of < MOST ? "total" : "total.more", { n: counted.of })}` : "";
  const codes = [...new Set([...Object.keys(counted.languages), ...state.to])];
  codes.sort((a, b) => (counted.languages[b] || 0) - (counted.languages[a] || 0) || a.localeCompare(b));
  chips.fill($("chips"), codes.map((code) => {
    const on = state.to.includes(code), n = counted.languages[code] || 0;
    const toggle = () => go({ to: on ? state.to.filter((other) => other !== code) : [...state.to, code], k: 10 });
    // Where more match than are counted, a filter shows at least so many.
    return { code, count: n, atLeast: counted.of >= MOST, on, stays: on, toggle, title: t("chip", { n, of: counted.of, lang: nameOf(code) }) };
  }));
  $("all").hidden = !state.to.length;
  const chosen = fields.fill(counted.fields, { state, go });
  $("filters").hidden = codes.length < 2 && !state.to.length && !chosen;
  const active = state.to.length + state.where.length;
  $("options").textContent = active ? `${t("filters")} (${number(active)})` : t("filters");
}
