// Results and words as files: CSV, BibTeX, cards for Anki.
import { h } from "./dom.js";

const cell = (value) => {
  const text = Array.isArray(value) ? value.join("; ") : String(value ?? "");
  // A cell that begins so would be a formula to a spreadsheet.
  const plain = /^[=+@\-\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
};
export const csv = (columns, rows) => "\ufeff" + [columns, ...rows.map((row) => columns.map((name) => row[name]))].map((line) => line.map(cell).join(",")).join("\r\n") + "\r\n";

// The front is the word in its sentence, the back what it means.
export function anki(columns, rows) {
  const line = (values) => values.map((value) => String(value ?? "").replace(/\s+/g, " ").trim()).join("\t");
  return ["#separator:tab", "#html:false", `#columns:${columns.join("\t")}`, ...rows.map((row) => line(columns.map((name) => row[name])))].join("\n") + "\n";
}

// Fields of meta that a bibliography knows.
const KNOWN = { author: "author", authors: "author", year: "year", doi: "doi", url: "url", journal: "journal", publisher: "publisher", isbn: "isbn" };
export const citable = ({ meta }) => Boolean(meta.author || meta.authors || meta.doi || meta.journal || meta.isbn);

export function bibtex(results) {
  const safe = (text) => String(text).replace(/[\\{}]/g, " ").replace(/[&%$#_]/g, "\\$&");
  return results.filter(citable).map(({ id, title, lang, meta }) => {
    const fields = { title: title || id, langid: lang };
    for (const [name, field] of Object.entries(KNOWN)) if (meta[name]) fields[field] = Array.isArray(meta[name]) ? meta[name].join(" and ") : meta[name];
    if (!fields.year && meta.date) fields.year = String(meta.date).slice(0, 4);
    const rows = Object.entries(fields).map(([field, value]) => `  ${field} = {${field === "url" || field === "doi" ? String(value).replace(/[{}\s]/g, "") : safe(value)}},\n`);
    return `@${fields.journal ? "article" : fields.isbn ? "book" : "misc"}{${id.replace(/[^A-Za-z0-9:.-]+/g, "-")},\n${rows.join("")}}\n`;
  }).join("\n");
}

export function save(name, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
