// Kept words with their sentences, and kept searches with names. They are stored in this browser only: they belong to one
// person, a server may have many readers, and who may only read can keep them too.
import { address, ask } from "./api.js";
import { $, h, isPlainClick } from "./dom.js";
import { anki, csv, save } from "./export.js";
import { nameOf } from "./languages.js";
import { fromAddress, toAddress, variants } from "./state.js";
import { t } from "./strings.js";

const read = (name) => { try { return JSON.parse(localStorage.getItem(name)) || []; } catch { return []; } };
const write = (name, rows) => localStorage.setItem(name, JSON.stringify(rows));
const currentTime = () => new Date().toISOString().slice(0, 19);

const isSame = (a, b) => a.word === b.word && a.lang === b.lang && a.sentence === b.sentence;
export const isKept = (entry) => read("words").some((word) => isSame(word, entry));

// Keep a word, or remove it if it is kept; returns whether it is kept afterwards.
export function toggle(entry) {
  const words = read("words"), otherWords = words.filter((word) => !isSame(word, entry));
  write("words", otherWords.length < words.length ? otherWords : [...words, { ...entry, when: currentTime() }]);
  return otherWords.length === words.length;
}

// A search is called by its query until it is renamed. `where` is its address, `looked` the time of its last visit.
export function keepSearch(state) {
  const where = toAddress({ ...state, view: "search", k: 10 });
  const otherSearches = read("searches").filter((search) => search.where !== where);
  write("searches", [{ name: state.q, where, looked: currentTime() }, ...otherSearches]);
}

const changeSearch = (where, values) => write("searches", read("searches").map((search) => (search.where === where ? { ...search, ...values } : search)));

export function load(page) {
  const searches = read("searches"), words = read("words");
  $("kept-searches").replaceChildren(...searches.map((search) => makeSearchRow(search, page)));
  $("kept-words").replaceChildren(...words.map((word) => makeWordRow(word, page)));
  $("kept-none").hidden = searches.length + words.length > 0;
  $("searches-title").hidden = !searches.length;
  $("words-title").hidden = $("words-export").hidden = !words.length;
  $("words-csv").onclick = () => save("words.csv", "text/csv", csv(COLUMNS, words));
  $("words-anki").onclick = () => save("words.txt", "text/plain", anki(COLUMNS, words));
}
const COLUMNS = ["word", "meaning", "sentence", "lang", "to", "doc", "when"];

function makeSearchRow(search, page) {
  const saved = fromAddress(search.where);
  const query = { q: saved.q, lang: saved.lang, to: saved.to.join(","), collection: saved.collection, where: saved.where, variants: variants(saved.asTyped) };
  const open = (conditions) => {
    changeSearch(search.where, { looked: currentTime() });
    page.go({ ...saved, reader: page.state.reader, where: [...saved.where, ...conditions] });
  };
  const openAll = (event) => {
    if (!isPlainClick(event)) return;
    event.preventDefault();
    open([]);
  };
  const link = h("a", { class: "name", href: search.where, dir: "auto", onclick: openAll }, search.name);
  const news = h("button", { type: "button", class: "link", hidden: true, onclick: () => open([`added>=${search.looked}`]) });
  showNews(news, query, search, page);
  return makeRow(link, makeRenameButton(link, search), news,
    h("a", { class: "link", href: address("feed", query), type: "application/atom+xml" }, t("kept.feed")),
    makeRemoveButton(() => write("searches", read("searches").filter((other) => other.where !== search.where)), page));
}

// The number of documents that a search finds and that were added since its last visit.
function showNews(button, query, search, page) {
  ask("search", { ...query, where: [...query.where, `added>=${search.looked}`], k: 100, reader: page.reader }).then(({ results }) => {
    button.textContent = results.length ? t("kept.new", { n: results.length }) : t("kept.noNew");
    button.disabled = !results.length;
    button.hidden = false;
  }).catch((error) => button.after(h("span", { class: "failed" }, error.message)));
}

// Puts a field in the place of the name until it is left.
function makeRenameButton(link, search) {
  return h("button", { type: "button", class: "quiet rename", "aria-label": t("kept.rename"), title: t("kept.rename"), onclick: () => {
    const field = h("input", { value: link.textContent, "aria-label": t("kept.name"), maxlength: 100, dir: "auto" });
    const finish = () => {
      link.textContent = field.value.trim() || search.name;
      changeSearch(search.where, { name: link.textContent });
      field.replaceWith(link);
    };
    field.addEventListener("blur", finish, { once: true });
    field.addEventListener("keydown", (event) => { if (event.key === "Enter") field.blur(); });
    link.replaceWith(field);
    field.focus();
    field.select();
  } }, "✎");
}

function makeWordRow(entry, page) {
  const open = () => page.go({ view: "read", doc: entry.doc, q: entry.word, lang: entry.lang });
  return makeRow(h("b", { lang: entry.lang, dir: "auto" }, entry.word), h("span", { lang: entry.to, dir: "auto" }, entry.meaning), h("small", { class: "soft" }, nameOf(entry.lang)),
    h("button", { type: "button", class: "link sentence", lang: entry.lang, dir: "auto", onclick: open }, entry.sentence),
    makeRemoveButton(() => toggle(entry), page));
}

const makeRow = (...parts) => h("li", {}, parts);
const makeRemoveButton = (remove, page) => h("button", { type: "button", class: "quiet remove", "aria-label": t("kept.remove"), title: t("kept.remove"), onclick: () => { remove(); load(page); } }, "×");
