// The source of a document, from its metadata: file, page, folder, kind, date, and whether it was read from a scan.
import { t, ui } from "./strings.js";

export function describeSource({ id, meta }) {
  const folders = String(meta.path || meta.url || "").split("/");
  const file = folders.pop() || id;
  const kind = /\.([a-z0-9]{1,5})$/i.exec(file)?.[1].toUpperCase();
  const page = meta.pages > 1 && meta.page && t("page", { n: meta.page });
  const row = meta.row || /\.(?:csv|tsv|jsonl|ndjson):(\d+)$/.exec(id)?.[1];
  const inside = meta.time || (meta.message && t("message", { n: meta.message })) || (row && t("row", { n: Number(row) }));
  const date = formatDate(meta.date ?? meta.modified ?? meta.year);
  return [file, page, inside, meta.path && folders.join("/"), meta.path && kind, date, meta.scanned && t("scanned")].filter(Boolean);
}

function formatDate(value) {
  if (value === undefined || value === null || value === "") return "";
  if (/^\d{1,4}$/.test(value)) return String(value);
  const date = new Date(typeof value === "number" ? value * 1000 : value);
  // The month in letters: digits alone would be read in another order from right to left.
  return isNaN(date) ? String(value) : date.toLocaleDateString(ui, { day: "numeric", month: ui === "ar" ? "long" : "short", year: "numeric" });
}
