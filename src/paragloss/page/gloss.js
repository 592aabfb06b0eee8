// Text with its matches marked and a gloss on every word. Offsets count characters, not UTF-16 units.
import { $, h } from "./dom.js";
import { sourceName } from "./names.js";
import { t } from "./strings.js";

const meanings = new WeakMap();
let correct = () => {};
export function onCorrect(action) {
  correct = action;
}

const guessed = (word) => word.sure === false && word.meanings.length > 0;

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
    const span = h(inside(word.start, word.end) ? "mark" : "span", { class: guessed(word) ? "w guess" : "w", title: guessed(word) ? t("gloss.guess") : null }, cut(word.start, word.end));
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
  const box = $("gloss");
  box.replaceChildren(...describe(found));
  box.hidden = false;
  const place = span.getBoundingClientRect();
  const left = Math.min(Math.max(8, place.left), document.documentElement.clientWidth - box.offsetWidth - 8);
  const below = place.bottom + 6 + box.offsetHeight < innerHeight;
  box.style.left = `${left + scrollX}px`;
  box.style.top = `${(below ? place.bottom + 6 : place.top - box.offsetHeight - 6) + scrollY}px`;
}

export function hide() {
  $("gloss").hidden = true;
  document.querySelector(".w.on")?.classList.remove("on");
}

function describe({ word, gloss }) {
  const roman = word.romanised ? h("span", { class: "roman" }, ` ${word.romanised}`) : null;
  const head = h("div", {}, h("b", { lang: gloss.lang, dir: "auto" }, word.text), roman);
  if (word.kind === "stop" && !word.meanings.length) return [head, h("p", { class: "sure" }, t("gloss.stop"))];
  if (!word.meanings.length) {
    return [head, h("p", { class: "sure" }, t(word.kind === "name" ? "gloss.name" : "gloss.none")), button(word, gloss)];
  }
  const list = word.meanings.slice(0, 5).map((meaning) =>
    h("li", {}, h("span", { lang: gloss.to, dir: "auto" }, meaning.text), h("small", {}, sourceName(meaning.source))));
  const sure = t(guessed(word) || word.confidence < 0.3 ? "gloss.guess" : word.confidence >= 0.6 ? "gloss.sure" : "gloss.likely");
  return [head, h("ul", {}, list), h("p", { class: "sure" }, `${sure} `, button(word, gloss))];
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
    if (span) { clearTimeout(leaving); show(span); }
    else if (event.target.closest?.("#gloss")) clearTimeout(leaving);
  });
  document.addEventListener("pointerout", (event) => {
    if (event.pointerType !== "touch" && event.target.closest?.(".w, #gloss")) { clearTimeout(leaving); later(); }
  });
  document.addEventListener("click", (event) => {
    const span = event.target.closest?.(".w");
    if (span && !event.target.closest("h2 button")) show(span);
    else if (!event.target.closest?.("#gloss") && !span) hide();
  });
}
