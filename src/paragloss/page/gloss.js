// Text with its matches marked and a gloss on every word. Offsets count characters, not UTF-16 units.
import { $, h } from "./dom.js";
import { isKept, toggle } from "./kept.js";
import { sourceName } from "./names.js";
import { alsoReads, t } from "./strings.js";

const meanings = new WeakMap();
let correct = () => {};
export function onCorrect(action) {
  correct = action;
}

const guessed = (word) => word.sure === false && word.meanings.length > 0;

// A rendering of which half is unknown, or of a language the reader also reads, would not help: it stays folded.
export function helps(gloss) {
  const words = gloss.words.filter((word) => word.kind === "word" || word.kind === "unknown");
  return !alsoReads(gloss.lang) && words.filter((word) => word.meanings.length).length * 2 > words.length;
}

// The words of a text with their first meanings, for paper.
export const listed = (gloss) => [...new Set(gloss.words.filter((word) => word.kind === "word" && word.meanings.length).map((word) => `${word.text}: ${word.meanings[0].text}`))].join(" · ");

export function paint(element, text, marks = [], gloss = null) {
  const letters = Array.from(text);
  const cut = (from, to) => letters.slice(from, to).join("");
  const inside = (from, to) => marks.some(([a, b]) => a < to && from < b);
  const words = (gloss?.words || []).filter((word) => word.end > word.start);
  const pieces = [];
  let at = 0;
  const plain = (to) => {
    for (const [a, b] of marks) {
      if (b <= at || a >= to) continue;
      if (a > at) pieces.push(cut(at, a));
      at = Math.max(at, a);
      pieces.push(h("mark", {}, cut(at, Math.min(b, to))));
      at = Math.min(b, to);
    }
    if (at < to) pieces.push(cut(at, to));
    at = to;
  };
  for (const word of words) {
    if (word.start < at) continue;
    plain(word.start);
    const span = h(word.kind !== "stop" && inside(word.start, word.end) ? "mark" : "span", { class: guessed(word) ? "w guess" : "w", title: guessed(word) ? t("gloss.guess") : null }, cut(word.start, word.end));
    meanings.set(span, { word, gloss });
    pieces.push(span);
    at = word.end;
  }
  plain(letters.length);
  element.replaceChildren(...pieces);
}

export function show(span) {
  const found = meanings.get(span);
  if (!found) return;
  hide();
  span.classList.add("on");
  put(span.getBoundingClientRect(), describe(found, span));
}

function put(place, said) {
  const box = $("gloss");
  box.replaceChildren(...said);
  box.hidden = false;
  const left = Math.min(Math.max(8, place.left), document.documentElement.clientWidth - box.offsetWidth - 8);
  const below = place.bottom + 6 + box.offsetHeight < innerHeight;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(below ? place.bottom + 6 : place.top - box.offsetHeight - 6) + scrollY}px`;
}

export function hide() {
  $("gloss").hidden = true;
  document.querySelector(".w.on")?.classList.remove("on");
}

// A star keeps a word, or a phrase that is marked, with its sentence.
function star(span, word, gloss, meaning) {
  const text = span.closest(TEXTS), at = place(text, span);
  const entry = { word, lang: gloss.lang, to: gloss.to, meaning, sentence: sentence(text.textContent, at), doc: text.closest("[data-id]")?.dataset.id || $("text").dataset.doc || "" };
  const button = h("button", { type: "button", class: "link star", "aria-pressed": String(isKept(entry)), onclick: () => draw(toggle(entry)) });
  const draw = (on) => { button.textContent = `${on ? "★" : "☆"} ${t(on ? "gloss.kept" : "gloss.keep")}`; button.setAttribute("aria-pressed", String(on)); };
  draw(isKept(entry));
  return button;
}
const TEXTS = ".snippet, .said-so, h2";

function place(text, span) {
  const before = document.createRange();
  before.setStart(text, 0);
  before.setEndBefore(span);
  return before.toString().length;
}

// The sentence about a place, or what is near it where there are no full stops.
function sentence(text, at) {
  const start = Math.max(...[...text.slice(0, at).matchAll(/[.!?\u3002\uff01\uff1f\u0964\u061f]\s*|\n/g)].map((end) => end.index + end[0].length), at - 300, 0);
  const end = /[.!?\u3002\uff01\uff1f\u0964\u061f]|\n/.exec(text.slice(at));
  return text.slice(start, end ? at + end.index + 1 : at + 300).trim();
}

// While something is marked, its box stays.
const marked = () => !getSelection().isCollapsed;

// What was marked with the mouse: several words as one.
function phrase() {
  const chosen = getSelection(), text = chosen.toString().replace(/\s+/g, " ").trim();
  const within = chosen.anchorNode?.parentElement?.closest(TEXTS);
  if (!within || chosen.isCollapsed || text.length > 200) return;
  const spans = [...within.querySelectorAll(".w")].filter((span) => chosen.containsNode(span, true));
  if (spans.length < 2) return;
  const { gloss } = meanings.get(spans[0]), meaning = spans.map((span) => meanings.get(span).word.meanings[0]?.text).filter(Boolean).join(" ");
  hide();
  put(chosen.getRangeAt(0).getBoundingClientRect(), [h("div", {}, h("b", { lang: gloss.lang, dir: "auto" }, text)), h("p", { class: "sure", lang: gloss.to, dir: "auto" }, meaning), star(spans[0], text, gloss, meaning)]);
}

function describe({ word, gloss }, span) {
  const keep = star(span, word.text, gloss, word.meanings[0]?.text || "");
  const roman = word.romanised ? h("span", { class: "roman" }, ` ${word.romanised}`) : null;
  const head = h("div", {}, h("b", { lang: gloss.lang, dir: "auto" }, word.text), roman);
  if (word.kind === "stop" && !word.meanings.length) return [head, h("p", { class: "sure" }, t("gloss.stop"))];
  if (!word.meanings.length) {
    return [head, h("p", { class: "sure" }, t(word.kind === "name" ? "gloss.name" : "gloss.none")), button(word, gloss), " ", keep];
  }
  const list = word.meanings.slice(0, 5).map((meaning) =>
    h("li", {}, h("span", { lang: gloss.to, dir: "auto" }, meaning.text), h("small", {}, sourceName(meaning.source))));
  const sure = t(guessed(word) || word.confidence < 0.3 ? "gloss.guess" : word.confidence >= 0.6 ? "gloss.sure" : "gloss.likely");
  return [head, h("ul", {}, list), h("p", { class: "sure" }, `${sure} `, button(word, gloss), " ", keep)];
}

function button(word, gloss) {
  const go = () => correct({ lang: gloss.lang, word: word.text, to: gloss.to, meaning: word.meanings[0]?.text || "" });
  return h("button", { type: "button", class: "link", onclick: go }, t("gloss.correct"));
}

// Hover with a mouse, tap with a finger; the box stays while the pointer is on it.
export function listen() {
  let leaving = 0;
  const later = () => { leaving = setTimeout(hide, 180); };
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch") return;
    const span = event.target.closest?.(".w");
    if (event.buttons || marked()) return;
    if (span) { clearTimeout(leaving); show(span); }
    else if (event.target.closest?.("#gloss")) clearTimeout(leaving);
  });
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "touch" && !marked() && event.target.closest?.(".w, #gloss")) { clearTimeout(leaving); later(); }
  });
  document.addEventListener("click", (event) => {
    const span = event.target.closest?.(".w");
    if (marked()) phrase();
    else if (span && !event.target.closest("h2 button")) show(span);
    else if (!event.target.closest?.("#gloss") && !span) hide();
  });
}
