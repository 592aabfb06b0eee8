// A document to read: its paragraphs with a rough meaning below each, glossed as one scrolls; matches marked, the best in sight.
import { address, ask, send, told } from "./api.js";
import { $, h } from "./dom.js";
import { helps, hide, paint } from "./gloss.js";
import { nameOf } from "./languages.js";
import { meanings } from "./meanings.js";
import { place } from "./places.js";
import { t } from "./strings.js";

const SIZES = [0.9, 1, 1.15, 1.35, 1.6, 2];
let doc = null, stop = null, rough = localStorage.getItem("rough") !== "no";

export async function load(page, leave) {
  const { state, reader } = page;
  stop?.abort();
  stop = new AbortController();
  doc = { page, state, reader, signal: stop.signal, start: 0, end: 0, length: 0, waiting: [] };
  const box = $("text");
  box.replaceChildren(h("p", { class: "soft" }, t("read.loading")));
  $("read-title").textContent = "";
  $("outline").hidden = $("matches").hidden = $("read-original").hidden = true;
  $("read-back").onclick = leave;
  $("read-failed").replaceChildren();
  size(0);
  scrollTo(0, 0);
  const first = await piece({});
  if (!first) return box.replaceChildren();
  Object.assign(doc, { lang: first.lang, foreign: first.lang !== reader });
  const title = $("read-title");
  title.lang = first.title ? first.lang : "";
  title.textContent = first.title || first.id;
  document.title = `${first.title || first.id} – Paragloss`;
  $("read-about").replaceChildren(nameOf(first.lang), ...place(first).map((part) => ` · ${part}`));
  $("read-rough").hidden = !doc.foreign;
  box.lang = first.lang;
  box.dataset.rough = rough ? "yes" : "no";
  outline(first.outline);
  box.dataset.doc = first.id;
  fill(first);
  const best = first.best && paragraphAt(first.best[0]);
  (best?.querySelector("mark") || best)?.scrollIntoView({ block: "center" });
  count();
  title.focus({ preventScroll: Boolean(best) });
  // A file with pages opens at the one that met.
  const at = best && made.get(best).row.page;
  $("read-original").href = address("original", { id: first.id, collection: state.collection }) + (at ? `#page=${at}` : "");
  await page.ready;
  $("read-original").hidden = !first.original || !page.here()?.originals;
}

// A piece of the text; what can't be had says so in its place.
async function piece(which) {
  const { state, signal } = doc;
  try {
    return await ask("reading", { id: state.doc, q: state.q, lang: state.lang, collection: state.collection, ...which }, { signal });
  } catch (error) {
    if (error.name === "AbortError") return null;
    const again = h("button", { type: "button", onclick: () => { $("read-failed").replaceChildren(); if (doc.length) more(which); else load(doc.page, $("read-back").onclick); } }, t("again"));
    $("read-failed").replaceChildren(h("p", {}, error.message), ...told(error.detail), again);
    return null;
  }
}

function fill(some) {
  Object.assign(doc, { start: some.start, end: some.end, length: some.length });
  $("text").replaceChildren(...some.paragraphs.map(paragraph));
  ends();
}

// The text goes on at both ends; the ends in sight fetch what follows.
function ends() {
  $("earlier").hidden = doc.start <= 0;
  $("further").hidden = doc.end >= doc.length;
  for (const end of [$("earlier"), $("further")]) { near.unobserve(end); if (!end.hidden) near.observe(end); }
}

let fetching = null;
function more(which) {
  fetching ??= (async () => {
    const mine = doc, some = await piece(which);
    if (!some || mine !== doc) return null;
    const rows = some.paragraphs.map(paragraph);
    if ("before" in which) {
      const tall = document.documentElement.scrollHeight, at = scrollY;
      doc.start = some.start;
      $("text").prepend(...rows);
      if (scrollY === at) scrollTo(0, at + document.documentElement.scrollHeight - tall);
    } else {
      doc.end = some.end;
      $("text").append(...rows);
    }
    return rows;
  })().finally(() => { fetching = null; ends(); count(); });
  return fetching;
}

const near = new IntersectionObserver((seen) => {
  for (const { target, isIntersecting } of seen) {
    if (!isIntersecting) continue;
    near.unobserve(target);
    if (target.id === "earlier") more({ before: doc.start });
    else if (target.id === "further") more({ start: doc.end });
    else want(target);
  }
}, { rootMargin: "400px 0px" });

const made = new WeakMap();
function paragraph(row) {
  const item = row.text.startsWith("• ");
  const text = h(row.heading ? "h2" : item ? "li" : "p", { class: "said-so", dir: "auto" });
  paint(text, row.text, row.marks);
  const turned = row.page && (row.start === 0 || row.page !== doc.leaf);
  doc.leaf = row.page;
  const leaf = turned ? h("p", { class: "leaf soft" }, t("page", { n: row.page })) : null;
  const element = h("div", { class: item ? "paragraph item" : "paragraph", "data-start": row.start }, leaf, item ? h("ul", {}, text) : text);
  made.set(element, { row, text });
  if (doc.foreign ?? true) near.observe(element);
  return element;
}

// Paragraphs that came into sight together are asked for together.
function want(element) {
  if (!doc.foreign) return;
  doc.waiting.push(element);
  if (doc.waiting.length > 1) return;
  setTimeout(() => {
    const { state, reader, signal, lang } = doc;
    const jobs = doc.waiting.splice(0).map((one) => {
      const { row, text } = made.get(one);
      return { text: row.text, lang, done: (gloss) => glossed(one, row, text, gloss), failed: () => failed(one) };
    });
    meanings(jobs, { reader, asked: state.q, collection: state.collection, signal });
  }, 40);
}

function glossed(element, row, text, gloss) {
  const now = text.querySelector("mark.now") && [...text.querySelectorAll("mark")].findIndex((mark) => mark.classList.contains("now"));
  paint(text, row.text, row.marks, gloss);
  if (now !== null) text.querySelectorAll("mark")[now]?.classList.add("now");
  element.querySelector(".rough, .failed")?.remove();
  if (!gloss.rendering) return;
  const said = h("p", { lang: gloss.to, dir: "auto" }, gloss.rendering), head = h("summary", {}, t("read.rough"));
  element.append(h("details", { class: "rough", open: helps(gloss) }, head, said, offer(row, gloss, said)));
}

// A translation engine's words in place of the rough ones, where the collection has one.
function offer(row, gloss, said) {
  const { page, state, signal } = doc, engine = page.here()?.engine;
  if (!engine) return null;
  const name = engine.split("/").filter(Boolean).at(-1);
  const button = h("button", { type: "button", class: "link", onclick: async () => {
    try {
      const { text } = await send("POST", "translate", { text: row.text, lang: gloss.lang, to: gloss.to }, { collection: state.collection }, signal);
      said.textContent = text;
      button.replaceWith(h("small", {}, t("read.translated", { engine: name })));
    } catch (error) {
      if (error.name !== "AbortError") button.replaceWith(h("small", { class: "failed" }, t("read.noPair", { engine: name })));
    }
  } }, t("read.engine", { engine: name }));
  return button;
}

function failed(element) {
  const again = h("button", { type: "button", class: "link", onclick: () => { element.querySelector(".failed").remove(); want(element); } }, t("again"));
  element.append(h("p", { class: "failed soft" }, t("gloss.failed"), " ", again));
}

const paragraphAt = (offset) => [...$("text").children].findLast((element) => Number(element.dataset.start) <= offset);

function outline(headings) {
  $("outline").hidden = headings.length < 2;
  $("outline-list").replaceChildren(...headings.map(({ title, start }) =>
    h("li", {}, h("button", { type: "button", class: "link", lang: doc.lang, dir: "auto", onclick: () => jump(start) }, title))));
}

async function jump(start) {
  if (start < doc.start || start >= doc.end) {
    const some = await piece({ start });
    if (!some) return;
    fill(some);
  }
  paragraphAt(start)?.scrollIntoView({ block: "start" });
}

function count() {
  $("matches").hidden = !$("text").querySelector("mark");
}

// To the next match, also where its text is not here yet.
export async function match(step) {
  const marks = () => [...$("text").querySelectorAll("mark")];
  let all = marks(), at = all.findIndex((mark) => mark.classList.contains("now"));
  let next = at < 0 ? first(all, step) : at + step;
  for (let tries = 0; tries < 30 && !all[next]; tries++) {
    await fetching;
    const which = step > 0 ? doc.end < doc.length && { start: doc.end } : doc.start > 0 && { before: doc.start };
    if (!which || !(await more(which))) break;
    const was = all.length;
    all = marks();
    next = step > 0 ? next : all.length - was - 1;
  }
  $("matched").textContent = all[next] ? "" : t("read.none");
  if (!all[next]) return;
  all[at]?.classList.remove("now");
  $("text").querySelector("mark.now")?.classList.remove("now");
  all[next].classList.add("now");
  all[next].scrollIntoView({ block: "center" });
}

// From what is in sight, the way one goes.
function first(all, step) {
  const seen = all.findIndex((mark) => mark.getBoundingClientRect().top > innerHeight / 2 + 12);
  return step > 0 ? (seen < 0 ? all.length : seen) : (seen < 0 ? all.length : seen) - 2;
}

function size(step) {
  const now = Math.min(Math.max(Number(localStorage.getItem("size") ?? 1) + step, 0), SIZES.length - 1);
  localStorage.setItem("size", now);
  $("text").style.setProperty("--size", `${SIZES[now]}rem`);
}

export function listen() {
  $("read-next").addEventListener("click", () => match(1));
  $("read-previous").addEventListener("click", () => match(-1));
  $("read-smaller").addEventListener("click", () => size(-1));
  $("read-larger").addEventListener("click", () => size(1));
  $("read-rough").addEventListener("click", () => {
    rough = !rough;
    localStorage.setItem("rough", rough ? "yes" : "no");
    $("text").dataset.rough = rough ? "yes" : "no";
    $("read-rough").setAttribute("aria-pressed", String(rough));
  });
  $("read-rough").setAttribute("aria-pressed", String(rough));
}

export function leaveView() {
  stop?.abort();
  hide();
  near.disconnect();
}
