// Text with marked matches and a gloss on every word. Offsets count characters, not UTF-16 units.
import { $, h } from "./dom.js";
import { isKept, toggle } from "./kept.js";
import { sourceName } from "./names.js";
import { alsoReads, t } from "./strings.js";

const meanings = new WeakMap();
let correct = () => {};
export function onCorrect(action) {
  correct = action;
}

const isGuess = (word) => word.sure === false && word.meanings.length > 0;

// A rendering of which half is unknown, or of a language that the reader also reads, is folded.
export function isHelpful(gloss) {
  const words = gloss.words.filter((word) => word.kind === "word" || word.kind === "unknown");
  return !alsoReads(gloss.lang) && words.filter((word) => word.meanings.length).length * 2 > words.length;
}

// The words of a text with their first meanings, for paper.
export const listMeanings = (gloss) => [...new Set(gloss.words.filter((word) => word.kind === "word" && word.meanings.length).map((word) => `${word.text}: ${word.meanings[0].text}`))].join(" · ");

const isMarked = (start, end, marks) => marks.some(([markStart, markEnd]) => markStart < end && start < markEnd);

// Grammatical words are not highlighted.
const isHighlighted = (word, marks) => word.kind !== "stop" && isMarked(word.start, word.end, marks);

// A word that stays as it is written, or is only transcribed. Scripts without capitals don't tell names from unknown words.
const hasCapitals = (text) => text.toLowerCase() !== text.toUpperCase();
const isUntranslated = (word) => !word.meanings.length && (word.kind === "unknown" || (word.kind === "name" && !hasCapitals(word.text)));

// The rendering of a gloss: meanings of marked words are marked, guesses have a dotted underline, untranslated words are grey.
export function paintRendering(element, gloss, marks = []) {
  const characters = Array.from(gloss.rendering);
  const write = (start, end) => paintGuesses(characters.slice(start, end).join(""));
  const decorate = (word, [start, end]) => {
    const text = characters.slice(start, end).join("");
    const content = text.startsWith("~") ? makeGuess(text) : isUntranslated(word) ? h("span", { class: "unknown" }, text) : text;
    return isHighlighted(word, marks) ? h("mark", { "data-word": word.start }, content) : content;
  };
  const words = gloss.words.filter((word) => word.rendered).sort((a, b) => a.rendered[0] - b.rendered[0]);
  const pieces = [];
  let position = 0;
  for (const word of words) {
    if (word.rendered[0] < position) continue;
    pieces.push(...write(position, word.rendered[0]), decorate(word, word.rendered));
    position = word.rendered[1];
  }
  element.replaceChildren(...pieces, ...write(position, characters.length));
}

// Guesses have a dotted underline; their "~" stays for those who copy the text or listen to it.
const makeGuess = (text) => h("span", { class: "guess" }, h("span", { class: "hidden" }, "~"), text.slice(1));

function paintGuesses(text) {
  const pieces = text.split(/(~[\p{L}\p{M}\p{N}'’-]+)/u);
  return pieces.map((piece, i) => (i % 2 ? makeGuess(piece) : piece));
}

export function paint(element, text, marks = [], gloss = null) {
  const characters = Array.from(text);
  const slice = (start, end) => characters.slice(start, end).join("");
  const words = (gloss?.words || []).filter((word) => word.end > word.start);
  const pieces = [];
  let position = 0;
  const addUnglossed = (end) => {
    for (const [markStart, markEnd] of marks) {
      if (markEnd <= position || markStart >= end) continue;
      if (markStart > position) pieces.push(slice(position, markStart));
      position = Math.max(position, markStart);
      pieces.push(h("mark", {}, slice(position, Math.min(markEnd, end))));
      position = Math.min(markEnd, end);
    }
    if (position < end) pieces.push(slice(position, end));
    position = end;
  };
  for (const word of words) {
    if (word.start < position) continue;
    addUnglossed(word.start);
    const tag = isHighlighted(word, marks) ? "mark" : "span";
    const span = h(tag, { "data-word": word.start, class: isGuess(word) ? "w guess" : "w", title: isGuess(word) ? t("gloss.guess") : null }, slice(word.start, word.end));
    meanings.set(span, { word, gloss });
    pieces.push(span);
    position = word.end;
  }
  addUnglossed(characters.length);
  element.replaceChildren(...pieces);
}

export function show(span) {
  const entry = meanings.get(span);
  if (!entry) return;
  hide();
  span.classList.add("on");
  openBox(span.getBoundingClientRect(), describe(entry, span));
}

// Show the box below an area of the window, or above where there is more room.
function openBox(area, content) {
  const box = $("gloss");
  box.replaceChildren(...content);
  box.hidden = false;
  const left = Math.min(Math.max(8, area.left), document.documentElement.clientWidth - box.offsetWidth - 8);
  const below = area.bottom + 6 + box.offsetHeight < innerHeight;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(below ? area.bottom + 6 : area.top - box.offsetHeight - 6) + scrollY}px`;
}

export function hide() {
  $("gloss").hidden = true;
  document.querySelector(".w.on")?.classList.remove("on");
}

const TEXTS = ".snippet, .said-so, h2 .title";

// A button that keeps a word, or a selected phrase, with its sentence.
function makeStar(span, word, gloss, meaning) {
  const text = span.closest(TEXTS);
  const sentence = sentenceAt(text.textContent, offsetIn(text, span));
  const entry = { word, lang: gloss.lang, to: gloss.to, meaning, sentence, doc: text.closest("[data-id]")?.dataset.id || $("text").dataset.doc || "" };
  const button = h("button", { type: "button", class: "link star", onclick: () => draw(toggle(entry)) });
  const draw = (on) => {
    button.textContent = `${on ? "★" : "☆"} ${t(on ? "gloss.kept" : "gloss.keep")}`;
    button.setAttribute("aria-pressed", String(on));
  };
  draw(isKept(entry));
  return button;
}

function offsetIn(text, span) {
  const range = document.createRange();
  range.setStart(text, 0);
  range.setEndBefore(span);
  return range.toString().length;
}

// The sentence at an offset, or what is near it where there are no full stops.
function sentenceAt(text, offset) {
  const sentenceEnds = [...text.slice(0, offset).matchAll(/[.!?\u3002\uff01\uff1f\u0964\u061f]\s*|\n/g)];
  const start = Math.max(...sentenceEnds.map((end) => end.index + end[0].length), offset - 300, 0);
  const end = /[.!?\u3002\uff01\uff1f\u0964\u061f]|\n/.exec(text.slice(offset));
  return text.slice(start, end ? offset + end.index + 1 : offset + 300).trim();
}

// While something is selected, its box stays.
const hasSelection = () => !getSelection().isCollapsed;

// Explain several selected words as one.
function showPhrase() {
  const selection = getSelection(), text = selection.toString().replace(/\s+/g, " ").trim();
  const container = selection.anchorNode?.parentElement?.closest(TEXTS);
  if (!container || selection.isCollapsed || text.length > 200) return;
  const spans = [...container.querySelectorAll(".w")].filter((span) => selection.containsNode(span, true));
  if (spans.length < 2) return;
  const { gloss } = meanings.get(spans[0]), meaning = spans.map((span) => meanings.get(span).word.meanings[0]?.text).filter(Boolean).join(" ");
  hide();
  openBox(selection.getRangeAt(0).getBoundingClientRect(), [h("div", {}, h("b", { lang: gloss.lang, dir: "auto" }, text)),
    h("p", { class: "sure", lang: gloss.to, dir: "auto" }, meaning), makeStar(spans[0], text, gloss, meaning)]);
}

function describe({ word, gloss }, span) {
  const keep = makeStar(span, word.text, gloss, word.meanings[0]?.text || "");
  const roman = word.romanised ? h("span", { class: "roman" }, ` ${word.romanised}`) : null;
  const head = h("div", {}, h("b", { lang: gloss.lang, dir: "auto" }, word.text), roman);
  if (word.kind === "stop" && !word.meanings.length) return [head, h("p", { class: "sure" }, t("gloss.stop"))];
  if (!word.meanings.length) {
    return [head, h("p", { class: "sure" }, t(word.kind === "name" ? "gloss.name" : "gloss.none")), makeCorrectButton(word, gloss), " ", keep];
  }
  const rows = word.meanings.slice(0, 5).map((meaning) =>
    h("li", {}, h("span", { lang: gloss.to, dir: "auto" }, meaning.text), h("small", {}, sourceName(meaning.source))));
  const certainty = t(isGuess(word) || word.confidence < 0.3 ? "gloss.guess" : word.confidence >= 0.6 ? "gloss.sure" : "gloss.likely");
  return [head, h("ul", {}, rows), h("p", { class: "sure" }, `${certainty} `, makeCorrectButton(word, gloss), " ", keep)];
}

function makeCorrectButton(word, gloss) {
  const open = () => correct({ lang: gloss.lang, word: word.text, to: gloss.to, meaning: word.meanings[0]?.text || "" });
  return h("button", { type: "button", class: "link", onclick: open }, t("gloss.correct"));
}

// Hover with a mouse, tap with a finger; the box stays while the pointer is on it.
export function listen() {
  let hiding = 0;
  const hideSoon = () => { hiding = setTimeout(hide, 180); };
  // Text that moves below a pointer at rest is not pointed at.
  let pointer = "";
  const positionOf = ({ clientX, clientY }) => `${clientX} ${clientY}`;
  document.addEventListener("pointermove", (event) => { pointer = positionOf(event); });
  document.addEventListener("pointerover", (event) => {
    if (event.pointerType === "touch" || positionOf(event) === pointer) return;
    const span = event.target.closest?.(".w");
    if (event.buttons || hasSelection()) return;
    if (span) { clearTimeout(hiding); show(span); }
    else if (event.target.closest?.("#gloss")) clearTimeout(hiding);
  });
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "touch" && !hasSelection() && event.target.closest?.(".w, #gloss")) { clearTimeout(hiding); hideSoon(); }
  });
  document.addEventListener("click", (event) => {
    const span = event.target.closest?.(".w");
    if (hasSelection()) { clearTimeout(hiding); showPhrase(); }
    else if (span && !event.target.closest("h2 a")) show(span);
    else if (!event.target.closest?.("#gloss") && !span) hide();
  });
}
