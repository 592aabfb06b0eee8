// The reading view: paragraphs, above each its rough meaning, glossed when scrolled into sight; matches are marked in both.
import { address, ask, describeDetail, send } from "./api.js";
import { $, h } from "./dom.js";
import { hide, isHelpful, paint, paintRendering } from "./gloss.js";
import { nameOf } from "./languages.js";
import { meanings } from "./meanings.js";
import { describeSource } from "./places.js";
import { makeLanguageChoice } from "./relabel.js";
import { t } from "./strings.js";

const SIZES = [0.9, 1, 1.15, 1.35, 1.6, 2];
// Pieces of text that are fetched at most to get to the next match.
const MAX_PIECES = 30;
// Characters of a title that are glossed.
const MAX_GLOSSED_TITLE = 300;
let doc = null, running = null, showsMeanings = localStorage.getItem("rough") !== "no";

export async function load(page, leaveDocument) {
  const { state, reader } = page;
  running?.abort();
  running = new AbortController();
  doc = { page, state, reader, signal: running.signal, start: 0, end: 0, length: 0, waiting: [] };
  $("text").replaceChildren(h("p", { class: "soft" }, t("read.loading")));
  $("read-title").textContent = "";
  $("outline").hidden = $("matches").hidden = $("read-original").hidden = true;
  $("read-back").onclick = leaveDocument;
  $("read-failed").replaceChildren();
  changeSize(0);
  scrollTo(0, 0);
  const piece = await fetchPiece({});
  if (!piece) return $("text").replaceChildren();
  showHead(piece);
  showPiece(piece);
  const best = piece.best && paragraphAt(piece.best[0]);
  (best?.querySelector(".said-so mark") || best)?.scrollIntoView({ block: "center" });
  updateMatchButtons();
  $("read-title").focus({ preventScroll: Boolean(best) });
  // A file with pages opens at the matching page.
  const pageNumber = best && rowOf.get(best).row.page;
  $("read-original").href = address("original", { id: piece.id, collection: state.collection }) + (pageNumber ? `#page=${pageNumber}` : "");
  await page.ready;
  $("read-original").hidden = !piece.original;
}

// Title, language, source and contents of the document.
function showHead(piece) {
  Object.assign(doc, { lang: piece.lang, isForeign: piece.lang !== doc.reader });
  showTitle(piece);
  $("read-about").replaceChildren(makeLanguage(piece), ...describeSource(piece).flatMap((part) => [" · ", h("bdi", {}, part)]));
  $("read-rough").hidden = !doc.isForeign;
  const box = $("text");
  box.lang = piece.lang;
  box.dataset.rough = showsMeanings ? "yes" : "no";
  box.dataset.doc = piece.id;
  showOutline(piece.outline);
}

// The title, and above it what it means in the reader's language once that is known.
function showTitle({ title, id, lang }) {
  const { state, reader, signal } = doc;
  const original = h("span", { class: "title", lang: title ? lang : null, dir: "auto" }, title || id);
  $("read-title").replaceChildren(original);
  document.title = `${title || id} – Paragloss`;
  const done = (gloss) => {
    if (!gloss.rendering || !isHelpful(gloss)) return;
    const meaning = h("span", { class: "rendering", lang: reader, dir: "auto" });
    paintRendering(meaning, gloss);
    original.before(meaning);
    document.title = `${gloss.rendering.replaceAll("~", "")} – Paragloss`;
  };
  const job = { text: title.slice(0, MAX_GLOSSED_TITLE), lang, done, failed: () => {} };
  if (title && doc.isForeign) meanings([job], { reader, query: state.q, collection: state.collection, signal });
}

// The name of the document's language, and a button to correct it; then the document is loaded again.
function makeLanguage(piece) {
  const { page } = doc;
  const onChange = () => load(page, $("read-back").onclick);
  const correct = () => {
    box.replaceChildren(makeLanguageChoice(piece, { langs: page.langs(), collection: page.state.collection, onChange }));
    box.querySelector("select").focus();
  };
  const box = h("span", {}, `${nameOf(piece.lang)} `, h("button", { type: "button", class: "link writes", onclick: correct }, t("language.wrong")));
  return box;
}

// A piece of the text, from `start` on or up to `before`; null where it can't be had, which is reported in its place.
async function fetchPiece(range) {
  const { state, signal } = doc;
  try {
    return await ask("reading", { id: state.doc, q: state.q, lang: state.lang, collection: state.collection, ...range }, { signal });
  } catch (error) {
    if (error.name === "AbortError") return null;
    const retry = () => {
      $("read-failed").replaceChildren();
      if (doc.length) extend(range);
      else load(doc.page, $("read-back").onclick);
    };
    $("read-failed").replaceChildren(h("p", {}, error.message), ...describeDetail(error.detail), h("button", { type: "button", onclick: retry }, t("again")));
    return null;
  }
}

function showPiece(piece) {
  Object.assign(doc, { start: piece.start, end: piece.end, length: piece.length });
  $("text").replaceChildren(...piece.paragraphs.map(makeParagraph));
  watchEnds();
}

// The text is extended at either end when that comes into sight.
function watchEnds() {
  $("earlier").hidden = doc.start <= 0;
  $("further").hidden = doc.end >= doc.length;
  for (const end of [$("earlier"), $("further")]) { sight.unobserve(end); if (!end.hidden) sight.observe(end); }
}

let extending = null;
function extend(range) {
  extending ??= (async () => {
    const current = doc, piece = await fetchPiece(range);
    if (!piece || current !== doc) return null;
    const paragraphs = piece.paragraphs.map(makeParagraph);
    if ("before" in range) {
      const height = document.documentElement.scrollHeight, top = scrollY;
      doc.start = piece.start;
      $("text").prepend(...paragraphs);
      if (scrollY === top) scrollTo(0, top + document.documentElement.scrollHeight - height);
    } else {
      doc.end = piece.end;
      $("text").append(...paragraphs);
    }
    return paragraphs;
  })().finally(() => { extending = null; watchEnds(); updateMatchButtons(); });
  return extending;
}

const sight = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    sight.unobserve(target);
    if (target.id === "earlier") extend({ before: doc.start });
    else if (target.id === "further") extend({ start: doc.end });
    else requestGloss(target);
  }
}, { rootMargin: "400px 0px" });

// The row of the server's answer and the text element of every paragraph.
const rowOf = new WeakMap();

function makeParagraph(row) {
  const isItem = row.text.startsWith("• ");
  const text = h(row.heading ? "h2" : isItem ? "li" : "p", { class: "said-so", dir: "auto" });
  paint(text, row.text, row.marks);
  const isNewPage = row.page && (row.start === 0 || row.page !== doc.lastPage);
  doc.lastPage = row.page;
  const pageLine = isNewPage || row.time ? h("p", { class: "leaf soft" }, row.time || t("page", { n: row.page })) : null;
  const kind = row.heading ? " heading" : isItem ? " item" : "";
  const element = h("div", { class: `paragraph${kind}`, "data-start": row.start }, pageLine, isItem ? h("ul", {}, text) : text);
  rowOf.set(element, { row, text });
  if (doc.isForeign ?? true) sight.observe(element);
  return element;
}

// Paragraphs that come into sight together are requested together.
function requestGloss(element) {
  if (!doc.isForeign) return;
  doc.waiting.push(element);
  if (doc.waiting.length > 1) return;
  setTimeout(() => {
    const { state, reader, signal, lang } = doc;
    const jobs = doc.waiting.splice(0).map((paragraph) => {
      const { row, text } = rowOf.get(paragraph);
      return { text: row.text, lang, done: (gloss) => showGloss(paragraph, row, text, gloss), failed: () => showGlossFailure(paragraph) };
    });
    meanings(jobs, { reader, query: state.q, collection: state.collection, signal });
  }, 40);
}

function showGloss(element, row, text, gloss) {
  const currentIndex = [...text.querySelectorAll("mark")].findIndex((mark) => mark.classList.contains("now"));
  paint(text, row.text, row.marks, gloss);
  element.querySelector(".rough, .failed")?.remove();
  if (gloss.rendering) {
    const rendering = h("p", { lang: gloss.to, dir: "auto" });
    paintRendering(rendering, gloss, row.marks);
    const original = text.closest("ul") || text;
    original.before(h("details", { class: "rough", open: isHelpful(gloss) }, h("summary", {}, t("read.rough")), rendering, makeTranslateButton(row, gloss, rendering)));
  }
  if (currentIndex >= 0) setCurrentMatch(text.querySelectorAll("mark")[currentIndex]);
}

// Replaces the rough meaning by a translation, where the collection has an engine.
function makeTranslateButton(row, gloss, rendering) {
  const { page, state, signal } = doc, engine = page.collection()?.engine;
  if (!engine) return null;
  const name = engine.split("/").filter(Boolean).at(-1);
  const button = h("button", { type: "button", class: "link", onclick: async () => {
    try {
      const { text } = await send("POST", "translate", { text: row.text, lang: gloss.lang, to: gloss.to }, { collection: state.collection }, signal);
      rendering.textContent = text;
      button.replaceWith(h("small", {}, t("read.translated", { engine: name })));
    } catch (error) {
      if (error.name !== "AbortError") button.replaceWith(h("small", { class: "failed" }, t("read.noPair", { engine: name })));
    }
  } }, t("read.engine", { engine: name }));
  return button;
}

function showGlossFailure(element) {
  const retry = h("button", { type: "button", class: "link", onclick: () => { element.querySelector(".failed").remove(); requestGloss(element); } }, t("again"));
  element.append(h("p", { class: "failed soft" }, t("gloss.failed"), " ", retry));
}

const paragraphAt = (offset) => [...$("text").children].findLast((element) => Number(element.dataset.start) <= offset);

function showOutline(headings) {
  $("outline").hidden = headings.length < 2;
  $("outline-list").replaceChildren(...headings.map(({ title, start }) =>
    h("li", {}, h("button", { type: "button", class: "link", lang: doc.lang, dir: "auto", onclick: () => jump(start) }, title))));
}

async function jump(start) {
  if (start < doc.start || start >= doc.end) {
    const piece = await fetchPiece({ start });
    if (!piece) return;
    showPiece(piece);
  }
  paragraphAt(start)?.scrollIntoView({ block: "start" });
}

function updateMatchButtons() {
  $("matches").hidden = !$("text").querySelector("mark");
}

// Go to the next match, or with -1 to the previous one, also where its text has not been fetched yet.
export async function match(step) {
  const findMarks = () => [...$("text").querySelectorAll(".said-so mark")];
  let marks = findMarks(), current = marks.findIndex((mark) => mark.classList.contains("now"));
  let next = current < 0 ? indexFromSight(marks, step) : current + step;
  for (let tries = 0; tries < MAX_PIECES && !marks[next]; tries++) {
    await extending;
    const range = step > 0 ? doc.end < doc.length && { start: doc.end } : doc.start > 0 && { before: doc.start };
    if (!range || !(await extend(range))) break;
    const previousCount = marks.length;
    marks = findMarks();
    next = step > 0 ? next : marks.length - previousCount - 1;
  }
  $("matched").textContent = marks[next] ? "" : t("read.none");
  if (!marks[next]) return;
  setCurrentMatch(marks[next]);
  marks[next].scrollIntoView({ block: "center" });
}

// Outline a match, and the place in the rendering that comes from it.
function setCurrentMatch(mark) {
  for (const previous of $("text").querySelectorAll("mark.now")) previous.classList.remove("now");
  if (!mark) return;
  mark.classList.add("now");
  if (mark.dataset.word) mark.closest(".paragraph").querySelector(`.rough mark[data-word="${mark.dataset.word}"]`)?.classList.add("now");
}

// The first match below or above the middle of the window.
function indexFromSight(marks, step) {
  const below = marks.findIndex((mark) => mark.getBoundingClientRect().top > innerHeight / 2 + 12);
  const firstBelow = below < 0 ? marks.length : below;
  return step > 0 ? firstBelow : firstBelow - 2;
}

function changeSize(step) {
  const size = Math.min(Math.max(Number(localStorage.getItem("size") ?? 1) + step, 0), SIZES.length - 1);
  localStorage.setItem("size", size);
  $("text").style.setProperty("--size", `${SIZES[size]}rem`);
}

export function listen() {
  $("read-next").addEventListener("click", () => match(1));
  $("read-previous").addEventListener("click", () => match(-1));
  $("read-smaller").addEventListener("click", () => changeSize(-1));
  $("read-larger").addEventListener("click", () => changeSize(1));
  $("read-rough").addEventListener("click", () => {
    showsMeanings = !showsMeanings;
    localStorage.setItem("rough", showsMeanings ? "yes" : "no");
    $("text").dataset.rough = showsMeanings ? "yes" : "no";
    $("read-rough").setAttribute("aria-pressed", String(showsMeanings));
  });
  $("read-rough").setAttribute("aria-pressed", String(showsMeanings));
}

export function leave() {
  running?.abort();
  hide();
  sight.disconnect();
}
