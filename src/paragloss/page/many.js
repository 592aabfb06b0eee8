// Many names or terms: each is looked up in turn, also while something else is shown, until all are done or one stops it.
import { ask } from "./api.js";
import { $, h } from "./dom.js";
import { csv, save } from "./export.js";
import { nameOf } from "./languages.js";
import { toAddress, variants } from "./state.js";
import { t } from "./strings.js";

const MAX_TERMS = 1000;
let rows = [], running = null;

export function start(page) {
  $("many").addEventListener("submit", (event) => {
    event.preventDefault();
    lookUp(page, parseTerms($("many-terms").value));
  });
  $("many-file").addEventListener("change", async ({ target }) => {
    const [file] = target.files;
    if (file) $("many-terms").value = (file.name.endsWith(".csv") ? readFirstColumn : (text) => text)(await file.text());
  });
  $("many-stop").addEventListener("click", () => running?.abort());
  $("many-csv").addEventListener("click", () => save("terms.csv", "text/csv", csv(COLUMNS, rows.flatMap((row) => makeTableRows(page, row)))));
}

const parseTerms = (text) => [...new Set(text.split(/\r?\n/).map((line) => line.trim()).filter(Boolean))].slice(0, MAX_TERMS);

// Of each row of a CSV file the first cell, without its quotation marks.
const readFirstColumn = (text) => text.replace(/^\ufeff/, "").split(/\r?\n/).map((line) => {
  const quoted = /^"((?:[^"]|"")*)"/.exec(line);
  return quoted ? quoted[1].replaceAll('""', '"') : line.split(",")[0];
}).join("\n");

async function lookUp(page, terms) {
  running?.abort();
  const controller = (running = new AbortController());
  const { collection } = page.state, asTyped = $("many-as-typed").checked;
  rows = [];
  $("many-rows").replaceChildren();
  $("many-table").hidden = !terms.length;
  $("many-stop").hidden = false;
  for (const term of terms) {
    $("many-status").textContent = t("many.progress", { n: rows.length, of: terms.length });
    try {
      const row = await ask("term", { q: term, collection, reader: page.reader, variants: variants(asTyped) }, { signal: controller.signal });
      if (controller !== running) return;
      rows.push(row);
      $("many-rows").append(makeTermRow(page, row));
    } catch (error) {
      if (error.name === "AbortError") break;
      $("many-rows").append(h("tr", {}, h("td", { dir: "auto" }, term), h("td", { colspan: "3", class: "failed" }, error.message)));
    }
  }
  if (controller !== running) return;
  $("many-status").textContent = t("many.progress", { n: rows.length, of: terms.length });
  $("many-stop").hidden = true;
  $("many-csv").hidden = !rows.length;
}

const makeAddress = ({ state }, row, doc) => toAddress({ ...state, view: "read", q: row.term, doc: doc.id });

function makeTermRow(page, row) {
  const list = row.listed.map((doc) => h("li", { dir: "auto" }, h("a", { href: makeAddress(page, row, doc) }, doc.title || doc.id), ` ${nameOf(doc.lang)} · ${doc.hits} `,
    h("span", { class: "soft", lang: doc.lang }, doc.places[0] || "")));
  return h("tr", {}, h("td", { dir: "auto" }, row.term), h("td", {}, String(row.hits)), h("td", {}, String(row.documents)), h("td", {}, h("ul", {}, list)));
}

const COLUMNS = ["term", "hits", "documents", "title", "language", "file", "places", "address"];
const makeTableRows = (page, row) => (row.listed.length ? row.listed : [null]).map((doc) => ({
  term: row.term, hits: row.hits, documents: row.documents,
  ...(doc && { title: doc.title, language: doc.lang, file: doc.path || doc.id, places: doc.places, address: new URL(makeAddress(page, row, doc), location).href }),
}));
