// Where a document comes from, as its meta tells: file, folder, kind, date.
import { ui } from "./strings.js";

export function place({ id, meta }) {
  const parts = String(meta.path || meta.url || "").split("/");
  const file = parts.pop() || id;
  const kind = /\.([a-z0-9]{1,5})$/i.exec(file)?.[1].toUpperCase();
  return [file, meta.path && parts.join("/"), meta.path && kind, date(meta.date ?? meta.modified ?? meta.year)].filter(Boolean);
}

function date(said) {
  if (said === undefined || said === null || said === "") return "";
  if (/^\d{1,4}$/.test(said)) return String(said);
  const day = new Date(typeof said === "number" ? said * 1000 : said);
  return isNaN(day) ? String(said) : day.toLocaleDateString(ui, { dateStyle: "medium" });
}
