// Results and words as files: CSV, BibTeX, Anki cards.
import { h } from "./dom.js";

const cell = (value) => {
  const text = Array.isArray(value) ? value.join("; ") : String(value ?? "");
  // Spreadsheets take a cell that begins like this for a formula.
  const plain = /^[=+@\-\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
export const csv = (columns, rows) => "\ufeff" + [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";

// The front is the word in its sentence, the back what it means.
export function anki(columns, rows) {
  const line = (values) => values.map((value) => String(value ?? "").replace(/\s+/g, " ").trim()).join("\t");
  return ["#separator:tab", "#html:false", `#columns:${columns.join("\t")}`, ...rows.map((row) => line(columns.map((name) => row[name])))].join("\n") + "\n";
}

// Metadata fields and the BibTeX fields that they become.
const BIBTEX_FIELDS = { author: "author", authors: "author", year: "year", doi: "doi", url: "url", journal: "journal", publisher: "publisher", isbn: "isbn" };
export const isCitable = ({ meta }) => Boolean(meta.author || meta.authors || meta.doi || meta.journal || meta.isbn);

export function bibtex(results) {
  const escape = (text) => String(text).replace(/[\\{}]/g, " ").replace(/[&%$#_]/g, "\\$&");
  return results.filter(isCitable).map(({ id, title, lang, meta }) => {
    const fields = { title: title || id, langid: lang };
    for (const [name, field] of Object.entries(BIBTEX_FIELDS)) if (meta[name]) fields[field] = Array.isArray(meta[name]) ? meta[name].join(" and ") : meta[name];
    if (!fields.year && meta.date) fields.year = String(meta.date).slice(0, 4);
    const rows = Object.entries(fields).map(([field, value]) => `  ${field} = {${field === "url" || field === "doi" ? String(value).replace(/[{}\s]/g, "") : escape(value)}},\n`);
    return `@${fields.journal ? "article" : fields.isbn ? "book" : "misc"}{${id.replace(/[^A-Za-z0-9:.-]+/g, "-")},\n${rows.join("")}}\n`;
  }).join("\n");
}

export function save(name, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
