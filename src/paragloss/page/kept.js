// What a reader keeps: words with their sentence, searches with a name. In this browser only: they are one person's, a
// server may have many readers, and who may only read can keep them too.
import { address, ask } from "./api.js";
import { $, h } from "./dom.js";
import { anki, csv, save } from "./export.js";
import { nameOf } from "./languages.js";
import { fromAddress, toAddress } from "./state.js";
import { t } from "./strings.js";

const read = (name) => { try { return JSON.parse(localStorage.getItem(name)) || []; } catch { return []; } };
const write = (name, rows) => localStorage.setItem(name, JSON.stringify(rows));
const now = () => new Date().toISOString().slice(0, 19);

const same = (one, other) => one.word === other.word && one.lang === other.lang && one.sentence === other.sentence;
export const isKept = (word) => read("words").some((one) => same(one, word));

// Keep a word, or let go of it; whether it is kept now.
export function toggle(word) {
  const rows = read("words"), rest = rows.filter((one) => !same(one, word));
  write("words", rest.length < rows.length ? rest : [...rows, { ...word, when: now() }]);
  return rest.length === rows.length;
}

// A search goes by what was asked until it is given another name.
export function keepSearch(state) {
  const where = toAddress({ ...state, view: "search", k: 10 });
  const rest = read("searches").filter((one) => one.where !== where);
  write("searches", [{ name: state.q, where, looked: now() }, ...rest]);
}

const change = (where, values) => write("searches", read("searches").map((one) => (one.where === where ? { ...one, ...values } : one)));

export function load(page) {
  const searches = read("searches"), words = read("words");
  $("kept-searches").replaceChildren(...searches.map((one) => search(one, page)));
  $("kept-words").replaceChildren(...words.map((one) => word(one, page)));
  $("kept-none").hidden = searches.length + words.length > 0;
  $("searches-title").hidden = !searches.length;
  $("words-title").hidden = $("words-export").hidden = !words.length;
  $("words-csv").onclick = () => save("words.csv", "text/csv", csv(COLUMNS, words));
  $("words-anki").onclick = () => save("words.txt", "text/plain", anki(COLUMNS, words));
}
const COLUMNS = ["word", "meaning", "sentence", "lang", "to", "doc", "when"];

function search(one, page) {
  const said = fromAddress(one.where);
  const asked = { q: said.q, lang: said.lang, to: said.to.join(","), collection: said.collection, where: said.where };
  const name = h("input", { value: one.name, "aria-label": t("kept.name"), maxlength: 100, dir: "auto", onchange: () => change(one.where, { name: name.value }) });
  const news = h("button", { type: "button", class: "link", hidden: true, onclick: () => open([`added>=${one.looked}`]) });
  const open = (more) => {
    change(one.where, { looked: now() });
    page.go({ ...said, reader: page.state.reader, where: [...said.where, ...more] });
  };
  ask("search", { ...asked, where: [...said.where, `added>=${one.looked}`], k: 100, reader: page.reader }).then(({ results }) => {
    news.textContent = results.length ? t("kept.new", { n: results.length }) : t("kept.noNew");
    news.disabled = !results.length;
    news.hidden = false;
  }).catch((error) => news.after(h("span", { class: "failed" }, error.message)));
  return row(name, h("button", { type: "button", onclick: () => open([]) }, t("view.search")), news,
    h("a", { class: "link", href: address("feed", asked), type: "application/atom+xml" }, t("kept.feed")),
    remove(() => write("searches", read("searches").filter((other) => other.where !== one.where)), page));
}

function word(one, page) {
  return row(h("b", { lang: one.lang, dir: "auto" }, one.word), h("span", { lang: one.to, dir: "auto" }, one.meaning), h("small", { class: "soft" }, nameOf(one.lang)),
    h("button", { type: "button", class: "link sentence", lang: one.lang, dir: "auto", onclick: () => page.go({ view: "read", doc: one.doc, q: one.word, lang: one.lang }) }, one.sentence),
    remove(() => toggle(one), page));
}

const row = (...parts) => h("li", {}, parts);
const remove = (action, page) => h("button", { type: "button", class: "quiet", "aria-label": t("kept.remove"), title: t("kept.remove"), onclick: () => { action(); load(page); } }, "×");
