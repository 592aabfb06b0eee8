// The page: shows what the address says.
import { ask, send } from "./api.js";
import { $, h } from "./dom.js";
import * as files from "./files.js";
import * as filters from "./filters.js";
import * as gloss from "./gloss.js";
import * as glossary from "./glossary.js";
import * as kept from "./kept.js";
import * as keyboard from "./keyboard.js";
import { nameOf } from "./languages.js";
import * as many from "./many.js";
import { describeUnencoded, setModels } from "./names.js";
import * as reading from "./reading.js";
import { finishDeletions } from "./results.js";
import { search, showError } from "./search.js";
import { fromAddress, toAddress, VIEWS } from "./state.js";
import { readerLanguage, t, translate } from "./strings.js";

// Milliseconds without a key after which a query is searched while it is typed, and the slowest answer for which that is done.
const TYPING_PAUSE = 200, MAX_TYPING_ANSWER = 700;

let state = fromAddress(), server = { collections: [] }, suggestedPair = null;
// The view that is shown, where the list of results was left, and at which document.
let currentView = "", leftList = { top: 0, doc: "" };

const currentCollection = () => server.collections.find(({ name }) => name === state.collection) || server.collections[0];
const langs = () => Object.keys(currentCollection()?.languages || {});
const page = {
  get state() { return state; },
  get reader() { return state.reader || readerLanguage; },
  ready: null, collection: currentCollection, langs, go,
  // Ask the server again: also for the description of the collections, if that failed.
  retry() {
    $("trouble").hidden = true;
    if (server.collections.length) search(page, true);
    else start();
  },
  replaceState(change) { state = { ...state, ...change }; history.replaceState(history.state, "", toAddress(state)); },
};

function go(change) {
  const previousView = state.view;
  state = { ...state, ...change };
  const target = toAddress(state);
  if (target !== location.search && !(target === "./" && !location.search)) history.pushState({ from: previousView }, "", target);
  render();
}

function render() {
  if (currentView === "search" && state.view !== "search") leftList = { top: scrollY, doc: state.doc };
  if (currentView === "read") reading.leave();
  const previousView = currentView;
  currentView = state.view;
  for (const name of VIEWS) {
    $(`${name}-view`).hidden = name !== currentView;
    const tab = document.querySelector(`[data-view=${name}]`);
    if (name === currentView) tab?.setAttribute("aria-current", "page");
    else tab?.removeAttribute("aria-current");
  }
  gloss.hide();
  document.title = currentView === "search" && state.q ? `${state.q} – Paragloss` : "Paragloss";
  if (currentView === "glossary") showGlossary();
  else if (currentView === "read") reading.load(page, leaveDocument);
  else if (currentView === "kept") kept.load(page);
  else if (currentView === "search") {
    const searching = search(page);
    if (previousView === "read") searching.then(restoreList);
    if (previousView && previousView !== "search") restoreList();
  }
}

function showGlossary() {
  page.ready.then(() => {
    glossary.load({ ...state, reader: page.reader }, { languages: currentCollection()?.languages, writable: currentCollection()?.writable }, suggestedPair);
    suggestedPair = null;
  });
}

// Scroll to where the list of results was left.
function restoreList() {
  const { top, doc } = leftList;
  scrollTo(0, top);
  if (doc) document.querySelector(`.result[data-id="${CSS.escape(doc)}"]`)?.focus({ preventScroll: top > 0 });
}

function leaveDocument() {
  if (history.state?.from === "search") history.back();
  else {
    leftList = { top: 0, doc: state.doc };
    go({ view: "search" });
  }
}

function fillLanguageChoices() {
  const sorted = (codes) => [...new Set(codes)].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const options = (codes, selected) => sorted(codes).map((code) => h("option", { value: code, selected: code === selected }, nameOf(code)));
  $("reader").replaceChildren(...options([...langs(), page.reader, "en"], page.reader));
  const detected = $("lang").options[0]?.textContent || t("findOut");
  $("lang").replaceChildren(h("option", { value: "" }, detected), ...options([...langs(), ...(state.lang ? [state.lang] : []), "en"], state.lang));
}

async function refresh() {
  server = await ask("collections", { reader: page.reader });
  const collection = currentCollection();
  setModels(collection.models);
  const select = $("collection");
  select.hidden = server.collections.length < 2;
  select.replaceChildren(...server.collections.map(({ name }) => h("option", { value: name, selected: name === collection.name }, name)));
  document.body.classList.toggle("writable", collection.writable);
  document.body.classList.toggle("originals", collection.originals);
  $("holds").textContent = `${collection.name}: ${t("documents", { n: collection.documents })}${describeUnencoded()} · Paragloss ${server.version}`;
  fillLanguageChoices();
  showConsent(collection);
}

// Hosts that models of a collection would contact; only the user of this machine can allow them here.
function showConsent({ hosts_awaiting_consent: hosts = [], originals: isPersonal }) {
  const allow = (host) => h("button", { type: "button", onclick: async () => { await send("POST", "hosts", { host }); await refresh(); } }, t("consent.allow", { host }));
  $("consent").hidden = !hosts.length;
  $("consent").replaceChildren(...hosts.map((host) => h("p", {}, t("consent", { host }), " ", isPersonal ? allow(host) : null)));
}

function applyTheme() {
  const chosen = localStorage.getItem("theme") || "";
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.dataset.theme = chosen;
  $("theme").textContent = dark ? "☀" : "☾";
  $("theme").onclick = () => {
    localStorage.setItem("theme", dark ? "light" : "dark");
    applyTheme();
  };
}

many.start(page);

// Filters of a query are forgotten with it; those chosen before any query, such as "only new ones", stay.
const newQuery = (q) => ({ q, lang: "", to: [], where: state.q || !q ? [] : state.where, k: 10 });

$("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typingPause);
  const q = $("q").value.trim();
  if (q === state.q) search(page, true);
  else go(newQuery(q));
});

// Results appear while a query is typed, as long as the server answers quickly. The address changes without a new entry in the history.
let typingPause = 0;
// Two letters of an alphabet are no query yet; two characters of Chinese may be a word.
const isTooShort = (q) => q.length < 2 || (q.length < 3 && /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Arabic}]+$/u.test(q));
$("q").addEventListener("input", (event) => {
  clearTimeout(typingPause);
  if (event.isComposing) return;
  typingPause = setTimeout(() => {
    const q = $("q").value.trim();
    if (state.view !== "search" || q === state.q || isTooShort(q) || search.milliseconds > MAX_TYPING_ANSWER) return;
    page.replaceState(newQuery(q));
    search(page, false, { typing: true });
  }, TYPING_PAUSE);
});
$("lang").addEventListener("change", (event) => go({ lang: event.target.value, k: 10 }));
$("sort").addEventListener("change", (event) => go({ sort: event.target.value, k: 10 }));
$("reader").addEventListener("change", (event) => go({ reader: event.target.value }));
$("all").addEventListener("click", () => go({ to: [], where: [], k: 10 }));
$("each").addEventListener("change", (event) => go({ each: event.target.checked, k: 10 }));
$("as-typed").addEventListener("change", (event) => go({ asTyped: event.target.checked, k: 10 }));
$("collection").addEventListener("change", (event) => go({ collection: event.target.value, to: [], where: [], k: 10 }));

// Whether the original stands above its meaning, in the list and in the reading view.
function putOriginalFirst(on) {
  document.body.classList.toggle("original-first", on);
  $("original-first").checked = on;
  $("read-swap").setAttribute("aria-pressed", String(on));
  localStorage.setItem("originalFirst", on ? "yes" : "no");
}
putOriginalFirst(localStorage.getItem("originalFirst") === "yes");
$("original-first").addEventListener("change", (event) => putOriginalFirst(event.target.checked));
$("read-swap").addEventListener("click", () => putOriginalFirst(!$("original-first").checked));
$("home").addEventListener("click", (event) => {
  event.preventDefault();
  go({ view: "search", ...newQuery(""), sort: "", each: false, asTyped: false });
  $("q").focus();
});
$("key-leave").addEventListener("click", () => $("key").close());
for (const tab of document.querySelectorAll("[data-view]")) tab.addEventListener("click", () => go({ view: tab.dataset.view }));
addEventListener("popstate", () => { state = { ...fromAddress(), ...(fromAddress().view === "search" && { doc: state.doc }) }; render(); });
addEventListener("pagehide", finishDeletions);

history.scrollRestoration = "manual";
translate();
applyTheme();
gloss.listen();
filters.listen();
gloss.onCorrect((pair) => { suggestedPair = pair; go({ view: "glossary" }); });
reading.listen();
keyboard.listen(leaveDocument);
files.listen(() => state, go, refresh);
if (!state.q && state.view === "search") $("q").focus();
// The search of the address does not wait for the description of the collection.
const start = () => {
  page.ready = refresh().catch((error) => showError(error, page.retry));
  render();
};
start();
