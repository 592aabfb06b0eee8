// Puts the page together: what the address says is what is shown.
import { ask } from "./api.js";
import * as chips from "./chips.js";
import { $, h, plural } from "./dom.js";
import * as files from "./files.js";
import * as gloss from "./gloss.js";
import * as glossary from "./glossary.js";
import * as keyboard from "./keyboard.js";
import { hue, known, nameOf } from "./languages.js";
import * as map from "./map.js";
import { models_ } from "./names.js";
import * as results from "./results.js";
import { fromAddress, toAddress, VIEWS } from "./state.js";

let state = fromAddress();
let about = { collections: [] };
let asked = null;
let offered = null;

const here = () => about.collections.find((one) => one.name === state.collection) || about.collections[0];
const langs = () => Object.keys(here()?.languages || {}).sort();

function go(change) {
  state = { ...state, ...change };
  const target = toAddress(state);
  if (target !== location.search && !(target === "./" && !location.search)) history.pushState(null, "", target);
  render();
}

function render() {
  for (const view of VIEWS) {
    $(`${view}-view`).hidden = view !== state.view;
    const tab = document.querySelector(`[data-view=${view}]`);
    if (view === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  gloss.hide();
  document.title = state.view === "search" && state.q ? `${state.q} – Paragloss` : "Paragloss";
  if (state.view === "map") map.load(state, go);
  else if (state.view === "glossary") {
    glossary.load({ ...state, reader: reader() }, { langs: langs(), writable: here()?.writable }, offered);
    offered = null;
  } else if (state.view === "search") search();
}

function suggested(text) {
  const link = document.createElement("a");
  link.href = `?${new URLSearchParams({ ...Object.fromEntries(new URLSearchParams(location.search)), q: text })}`;
  link.textContent = text;
  return link;
}

const reader = () => state.reader || $("reader").value || navigator.language.slice(0, 2);

async function search() {
  asked?.abort();
  const mine = (asked = new AbortController());
  $("q").value = state.q;
  $("each").checked = state.each;
  $("trouble").hidden = true;
  if (!state.q.trim()) return welcome();
  $("welcome").hidden = true;
  $("results").setAttribute("aria-busy", "true");
  const slow = [setTimeout(ghosts, 200), setTimeout(() => { $("status").textContent = "Still searching …"; }, 2500)];
  const started = performance.now();
  try {
    const answer = await ask("search", {
      q: state.q, lang: state.lang, to: state.to.join(","), each_language: state.each, collection: state.collection,
      reader: reader(),
    }, { signal: mine.signal });
    slow.forEach(clearTimeout);
    understood(answer.query.lang);
    const items = results.list(answer, { ...state, lang: answer.query.lang });
    $("status").textContent = answer.results.length ? results.summary(answer, performance.now() - started) : "";
    if (!answer.results.length) nothing(answer.query);
    if (answer.query.suggestion) $("status").append(" · Did you mean: ", suggested(answer.query.suggestion), "?");
    await Promise.all([count(answer.query.lang, mine.signal), results.gloss(items, state, reader(), mine.signal)]);
  } catch (error) {
    slow.forEach(clearTimeout);
    if (error.name !== "AbortError") trouble(error);
  }
  if (mine === asked) $("results").setAttribute("aria-busy", "false");
}

function ghosts() {
  $("status").textContent = "Searching …";
  const ghost = () => h("li", { class: "ghost", "aria-hidden": "true" }, h("i"), h("i"), h("i"));
  $("results").replaceChildren(ghost(), ghost(), ghost());
}

function nothing(query) {
  if (!here()?.documents) return welcome();
  const ideas = [];
  if (state.to.length) ideas.push(h("button", { type: "button", class: "link", onclick: () => go({ to: [] }) }, "look in every language"));
  ideas.push(h("button", { type: "button", class: "link", onclick: () => { $("lang").focus(); } }, "say which language you asked in"));
  ideas.push(h("button", { type: "button", class: "link", onclick: () => go({ view: "glossary" }) }, "teach it a word"));
  $("results").replaceChildren(h("li", { class: "ghost" }, h("p", {}, h("strong", {}, `Nothing found for “${query.text}”, read as ${nameOf(query.lang)}.`)),
    ...Object.entries(query.searched || {}).map(([lang, words]) => h("p", {}, `${nameOf(lang)}: ${words}`)),
    h("p", {}, "You could ", ...ideas.flatMap((idea, place) => (place ? [", or ", idea] : [idea])), ".")));
}

function trouble(error) {
  $("results").replaceChildren();
  $("status").textContent = "";
  const box = $("trouble");
  box.replaceChildren(h("p", {}, h("strong", {}, "That search did not work.")), h("p", {}, error.message), h("button", { type: "button", onclick: () => search() }, "Try again"));
  box.hidden = false;
}

function welcome() {
  $("results").replaceChildren();
  $("filters").hidden = true;
  $("status").textContent = "";
  const box = $("welcome");
  const one = here();
  box.hidden = !one;
  if (!one) return;
  const all = Object.entries(one.languages).sort((a, b) => b[1] - a[1]);
  box.replaceChildren(...[
    h("h2", {}, one.documents ? `${plural(one.documents, "document")} in ${plural(all.length, "language")}` : "An empty collection"),
    h("p", { class: "about" }, one.documents
      ? "Ask in a language you read. You will see what was found in all of them, roughly what it says, and why it is there."
      : "Drop some files anywhere on this page to begin, or choose them. They stay on this machine."),
    one.documents || !one.writable ? null : h("button", { type: "button", class: "main", onclick: () => go({ view: "files" }) }, "Add files"),
    h("div", { class: "spread", "aria-hidden": "true" }, all.map(([lang, count]) => {
      const piece = h("i", { "--hue": hue(lang) });
      piece.style.flexGrow = count;
      return piece;
    })),
    h("div", { class: "names" }, all.slice(0, 16).map(([lang, count]) =>
      h("span", {}, h("span", { class: "dot", "--hue": hue(lang) }), `${nameOf(lang)} ${count.toLocaleString("en")}`)),
      all.length > 16 ? h("span", {}, `and ${all.length - 16} more`) : null),
  ].filter(Boolean));
}

// The language the question was taken to be in; choosing another asks again.
function understood(lang) {
  const select = $("lang");
  const codes = [...new Set([...langs(), lang, "en"])].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  select.replaceChildren(
    h("option", { value: "", selected: !state.lang }, state.lang ? "find out" : `${nameOf(lang)} (found out)`),
    ...codes.map((code) => h("option", { value: code, selected: code === state.lang }, nameOf(code))));
  if (!state.reader) choices($("reader"), reader0(lang));
}

const reader0 = (lang) => (here()?.languages[navigator.language.slice(0, 2)] ? navigator.language.slice(0, 2) : lang);

function choices(select, chosen) {
  const codes = [...new Set([...langs(), chosen, "en"])].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  select.replaceChildren(...codes.map((code) => h("option", { value: code, selected: code === chosen }, nameOf(code))));
}

async function count(lang, signal) {
  const counted = await ask("counts", { q: state.q, lang: state.lang || lang, collection: state.collection }, { signal });
  const codes = langs().filter((code) => counted.languages[code] || state.to.includes(code));
  codes.sort((a, b) => (counted.languages[b] || 0) - (counted.languages[a] || 0));
  chips.fill($("chips"), codes.map((code) => {
    const on = state.to.includes(code), found = counted.languages[code] || 0;
    const toggle = () => go({ to: on ? state.to.filter((other) => other !== code) : [...state.to, code] });
    return { code, count: found, on, stays: on, toggle, title: `${found} of the best ${counted.of} are in ${nameOf(code)}` };
  }));
  $("all").hidden = !state.to.length;
  $("filters").hidden = codes.length < 2 && !state.to.length;
}

async function refresh() {
  about = await ask("collections");
  known(langs());
  const one = here();
  models_(one.models);
  const select = $("collection");
  select.hidden = about.collections.length < 2;
  select.replaceChildren(...about.collections.map((some) => h("option", { value: some.name, selected: some === one }, some.name)));
  document.querySelector("[data-view=files]").hidden = !one.writable;
  $("holds").textContent = `${one.name}: ${plural(one.documents, "document")} · Paragloss ${about.version}`;
  if (!$("lang").options.length) {
    $("lang").replaceChildren(h("option", { value: "" }, "find out"), ...langs().map((code) => h("option", { value: code, selected: code === state.lang }, nameOf(code))));
    choices($("reader"), state.reader || (one.languages.en ? "en" : navigator.language.slice(0, 2)));
  }
}

function theme() {
  const chosen = localStorage.getItem("theme") || "";
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen;
  $("theme").textContent = dark ? "☀" : "☾";
  $("theme").onclick = () => {
    localStorage.setItem("theme", dark ? "light" : "dark");
    theme();
  };
}

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const q = $("q").value.trim();
  if (q === state.q) search();
  else go({ q, lang: "", to: [] });
});
$("lang").addEventListener("change", (event) => go({ lang: event.target.value }));
$("reader").addEventListener("change", (event) => go({ reader: event.target.value }));
$("all").addEventListener("click", () => go({ to: [] }));
$("each").addEventListener("change", (event) => go({ each: event.target.checked }));
$("collection").addEventListener("change", (event) => go({ collection: event.target.value, to: [] }));
$("home").addEventListener("click", (event) => {
  event.preventDefault();
  go({ view: "search", q: "", lang: "", to: [], each: false });
  $("q").focus();
});
for (const tab of document.querySelectorAll("[data-view]")) tab.addEventListener("click", () => go({ view: tab.dataset.view }));
addEventListener("popstate", () => { state = fromAddress(); render(); });

theme();
gloss.listen();
gloss.onCorrect((pair) => { offered = pair; go({ view: "glossary" }); });
keyboard.listen();
files.listen(() => state, () => go({ view: "files" }), refresh);
try {
  await refresh();
  if (!state.q && state.view === "search") $("q").focus();
  render();
} catch (error) {
  trouble(error);
}
