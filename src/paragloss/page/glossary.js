// The reader's glossary: pairs of words, saved when a field is left or with Save, and imported from a CSV file.
import { ask, send } from "./api.js";
import { $, h } from "./dom.js";
import { nameOf } from "./languages.js";
import { t } from "./strings.js";

let langs = [], collection = "", isWritable = true, readerLang = "en", foreignLang = "en", lastChange = 0;

// A new row goes from a foreign word to the reader's: from the commonest foreign language of the collection, unless `suggestedPair` says more.
export async function load(state, { languages = {}, writable }, suggestedPair) {
  readerLang = state.reader || "en";
  langs = [...new Set([...Object.keys(languages), readerLang, "en"])].sort();
  const byCount = Object.entries(languages).sort((a, b) => b[1] - a[1]).map(([lang]) => lang);
  foreignLang = byCount.find((lang) => lang !== readerLang && lang !== "und") || langs.find((lang) => lang !== readerLang) || "fr";
  collection = state.collection;
  isWritable = writable;
  $("pairs").onsubmit = (event) => event.preventDefault();
  $("glossary-file").onchange = (event) => importFile(event.target);
  try {
    await showPairs();
  } catch (error) {
    $("saved").textContent = error.message;
    return;
  }
  if (isWritable) {
    $("pairs").append(makeRow(suggestedPair || {}));
    $("pairs").querySelector(".pair:last-child input").focus();
  } else $("saved").textContent = t("glossary.readOnly");
}

async function showPairs() {
  const { pairs } = await ask("glossary", { collection });
  $("pairs").replaceChildren(...pairs.map((pair) => makeRow(pair, pair)));
  $("saved").textContent = pairs.length ? t("glossary.pairs", { n: pairs.length }) : "";
}

function makeRow(pair, savedPair = null) {
  const remove = h("button", { type: "button", class: "quiet remove", "aria-label": t("glossary.remove"), title: t("glossary.remove") }, "×");
  const row = h("div", { class: "pair" },
    h("input", { name: "word", "aria-label": t("glossary.word"), value: pair.word || "", maxlength: 200, dir: "auto", placeholder: t("glossary.word"), disabled: !isWritable }),
    makeLanguageSelect("lang", t("glossary.lang"), pair.lang || foreignLang),
    h("span", { class: "is" }, "="),
    h("input", { name: "meaning", "aria-label": t("glossary.meaning"), value: pair.meaning || "", maxlength: 200, dir: "auto", placeholder: t("glossary.meaning"), disabled: !isWritable }),
    makeLanguageSelect("to", t("glossary.to"), pair.to || readerLang),
    h("button", { type: "button", class: "save", disabled: !isWritable, onclick: () => save(row, readPair(row)) }, t("glossary.save")),
    remove);
  row.savedPair = savedPair;
  remove.addEventListener("click", () => { row.remove(); save(row, null); });
  row.addEventListener("change", () => save(row, readPair(row)));
  return row;
}

function makeLanguageSelect(name, label, value) {
  const codes = langs.includes(value) ? langs : [...langs, value];
  return h("select", { name, "aria-label": label, disabled: !isWritable },
    codes.map((lang) => h("option", { value: lang, selected: lang === value }, nameOf(lang))));
}

const readPair = (row) => Object.fromEntries(["lang", "word", "to", "meaning"].map((name) => [name, row.querySelector(`[name=${name}]`).value.trim()]));

// Changes of rows are sent one after the other, so that changes of another window are kept.
let saving = Promise.resolve();
const save = (row, pair) => (saving = saving.then(() => replacePair(row, pair)));

async function replacePair(row, pair) {
  const newPair = pair && pair.word && pair.meaning ? pair : null;
  if (!newPair && !row.savedPair) return;
  const sent = await sendChange(row.savedPair ? [row.savedPair] : [], newPair ? [newPair] : []);
  if (!sent) return;
  row.savedPair = newPair;
  const lastRow = [...$("pairs").querySelectorAll(".pair")].at(-1);
  if (!lastRow || (readPair(lastRow).word && readPair(lastRow).meaning)) $("pairs").append(makeRow({}));
}

// Remove and add pairs, and report the result; whether it worked.
async function sendChange(remove, add) {
  const change = ++lastChange;
  $("saved").textContent = t("glossary.saving");
  try {
    const { pairs } = await send("PATCH", "glossary", { remove, add }, { collection });
    if (change === lastChange) $("saved").textContent = t("glossary.kept", { n: pairs.length });
    return true;
  } catch (error) {
    if (change === lastChange) $("saved").textContent = t("glossary.failed", { why: error.message });
    return false;
  }
}

// Add the pairs of a file: rows of word and meaning, or of word, language, meaning, language.
async function importFile(input) {
  const [file] = input.files;
  const pairs = parsePairs(await file.text());
  input.value = "";
  if (!pairs.length) {
    $("saved").textContent = t("glossary.noPairs");
    return;
  }
  if (!(await sendChange([], pairs))) return;
  const message = $("saved").textContent;
  await showPairs();
  $("pairs").append(makeRow({}));
  $("saved").textContent = message;
}

// Rows without languages are from the language of collection to the reader's. A row that names columns says their order.
export function parsePairs(text) {
  const rows = parseCsv(text.replace(/^\ufeff/, ""));
  const names = rows[0]?.map((cell) => cell.toLowerCase()) || [];
  const hasHeader = names.includes("word") && names.includes("meaning");
  const columnsOf = (row) => (hasHeader ? names : row.length >= 4 ? ["word", "lang", "meaning", "to"] : ["word", "meaning"]);
  return (hasHeader ? rows.slice(1) : rows).map((row) => {
    const cells = Object.fromEntries(columnsOf(row).map((name, i) => [name, row[i] || ""]));
    return { lang: cells.lang || foreignLang, word: cells.word, to: cells.to || readerLang, meaning: cells.meaning };
  }).filter(({ word, meaning }) => word && meaning);
}

// Rows of cells separated by tabs, semicolons or commas, whichever the first line has; quoted cells may contain them.
function parseCsv(text) {
  const firstLine = text.split("\n", 1)[0];
  const separator = ["\t", ";", ","].find((character) => firstLine.includes(character)) || ",";
  const rows = [[]];
  let cell = "", isQuoted = false;
  const endCell = () => { rows.at(-1).push(cell.trim()); cell = ""; };
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (isQuoted && character === '"' && text[i + 1] === '"') { cell += '"'; i++; }
    else if (character === '"' && (isQuoted || !cell.trim())) isQuoted = !isQuoted;
    else if (!isQuoted && character === separator) endCell();
    else if (!isQuoted && character === "\n") { endCell(); rows.push([]); }
    else cell += character;
  }
  endCell();
  return rows.filter((row) => row.some(Boolean));
}
