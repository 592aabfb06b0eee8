// Puts the page together: what the address says is what is shown.
import { ask, send } from "./api.js";
import { $, h } from "./dom.js";
import * as files from "./files.js";
import * as gloss from "./gloss.js";
import * as glossary from "./glossary.js";
import * as kept from "./kept.js";
import * as keyboard from "./keyboard.js";
import { nameOf } from "./languages.js";
import { models_, unread } from "./names.js";
import * as reading from "./reading.js";
import { settle } from "./results.js";
import { search, trouble } from "./search.js";
import { fromAddress, toAddress, VIEWS } from "./state.js";
import { reads, t, translate } from "./strings.js";

let state = fromAddress(), about = { collections: [] }, offered = null;
// Which view is shown, where the list of results was left, and at which of them.
let view = "", left = { top: 0, doc: "" };

const here = () => about.collections.find((one) => one.name === state.collection) || about.collections[0];
const langs = () => Object.keys(here()?.languages || {});
const page = {
  get state() { return state; },
  get reader() { return state.reader || reads; },
  ready: null, here, langs, go,
  keep(change) { state = { ...state, ...change }; history.replaceState(history.state, "", toAddress(state)); },
};

function go(change) {
  const before = state.view;
  state = { ...state, ...change };
  const target = toAddress(state);
  if (target !== location.search && !(target === "./" && !location.search)) history.pushState({ from: before }, "", target);
  render();
}

function render() {
  if (view === "search" && state.view !== view) left = { top: scrollY, doc: state.doc };
  if (view === "read") reading.leaveView();
  const came = view;
  view = state.view;
  for (const one of VIEWS) {
    $(`${one}-view`).hidden = one !== view;
    const tab = document.querySelector(`[data-view=${one}]`);
    if (one === view) tab?.setAttribute("aria-current", "page");
    else tab?.removeAttribute("aria-current");
  }
  gloss.hide();
  document.title = view === "search" && state.q ? `${state.q} – Paragloss` : "Paragloss";
  if (view === "glossary") {
    page.ready.then(() => {
      glossary.load({ ...state, reader: page.reader }, { langs: langs(), writable: here()?.writable }, offered);
      offered = null;
    });
  } else if (view === "read") reading.load(page, back);
  else if (view === "kept") kept.load(page);
  else if (view === "search") {
    const found = search(page);
    if (came === "read") found.then(() => returned(left));
    if (came && came !== "search") returned(left);
  }
}

// Back to the same place in the list.
function returned({ top, doc }) {
  scrollTo(0, top);
  if (doc) document.querySelector(`.result[data-id="${CSS.escape(doc)}"]`)?.focus({ preventScroll: top > 0 });
}

function back() {
  if (history.state?.from === "search") history.back();
  else {
    left = { top: 0, doc: state.doc };
    go({ view: "search" });
  }
}

function choices() {
  const sorted = (codes) => [...new Set(codes)].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const options = (codes, chosen) => sorted(codes).map((code) => h("option", { value: code, selected: code === chosen }, nameOf(code)));
  $("reader").replaceChildren(...options([...langs(), page.reader, "en"], page.reader));
  const first = $("lang").options[0]?.textContent || t("findOut");
  $("lang").replaceChildren(h("option", { value: "" }, first), ...options([...langs(), ...(state.lang ? [state.lang] : []), "en"], state.lang));
}

async function refresh() {
  about = await ask("collections");
  const one = here();
  models_(one.models);
  const select = $("collection");
  select.hidden = about.collections.length < 2;
  select.replaceChildren(...about.collections.map((some) => h("option", { value: some.name, selected: some === one }, some.name)));
  document.body.classList.toggle("writable", one.writable);
  $("holds").textContent = `${one.name}: ${t("documents", { n: one.documents })}${unread()} · Paragloss ${about.version}`;
  choices();
  showConsent(one);
}

// Hosts that models of a collection would contact; only the user of this machine can allow them here.
function showConsent({ hosts_awaiting_consent: hosts = [], originals: isPersonal }) {
  const allow = (host) => h("button", { type: "button", onclick: async () => { await send("POST", "hosts", { host }); await refresh(); } }, t("consent.allow", { host }));
  $("consent").hidden = !hosts.length;
  $("consent").replaceChildren(...hosts.map((host) => h("p", {}, t("consent", { host }), " ", isPersonal ? allow(host) : null)));
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
  if (q === state.q) search(page, true);
  else go({ q, lang: "", to: [], where: [], k: 10 });
});
$("lang").addEventListener("change", (event) => go({ lang: event.target.value, k: 10 }));
$("sort").addEventListener("change", (event) => go({ sort: event.target.value, k: 10 }));
$("reader").addEventListener("change", (event) => go({ reader: event.target.value }));
$("all").addEventListener("click", () => go({ to: [], where: [], k: 10 }));
$("each").addEventListener("change", (event) => go({ each: event.target.checked, k: 10 }));
$("collection").addEventListener("change", (event) => go({ collection: event.target.value, to: [], where: [], k: 10 }));
// Whether filters are open, and whether the original stands above its meaning, are remembered.
function remember(id, className, name) {
  const apply = (on) => {
    document.body.classList.toggle(className, on);
    if ($(id).type === "checkbox") $(id).checked = on;
    else $(id).setAttribute("aria-expanded", String(on));
  };
  apply(localStorage.getItem(name) === "yes");
  $(id).addEventListener("click", () => {
    const on = !document.body.classList.contains(className);
    localStorage.setItem(name, on ? "yes" : "no");
    apply(on);
  });
}
remember("options", "tuning", "filters");
remember("original-first", "original-first", "originalFirst");
$("home").addEventListener("click", (event) => {
  event.preventDefault();
  go({ view: "search", q: "", lang: "", to: [], where: [], sort: "", each: false, k: 10 });
  $("q").focus();
});
$("key-leave").addEventListener("click", () => $("key").close());
for (const tab of document.querySelectorAll("[data-view]")) tab.addEventListener("click", () => go({ view: tab.dataset.view }));
addEventListener("popstate", () => { state = { ...fromAddress(), ...(fromAddress().view === "search" && { doc: state.doc }) }; render(); });
addEventListener("pagehide", settle);

history.scrollRestoration = "manual";
translate();
theme();
gloss.listen();
gloss.onCorrect((pair) => { offered = pair; go({ view: "glossary" }); });
reading.listen();
keyboard.listen(back);
files.listen(() => state, () => go({ view: "files" }), refresh);
if (!state.q && state.view === "search") $("q").focus();
// Nobody waits for what the collection holds: what the address asks for is asked at once.
const start = () => {
  page.ready = refresh().catch((error) => trouble(error, () => { $("trouble").hidden = true; start(); }));
  render();
};
start();
