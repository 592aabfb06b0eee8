// Where a document comes from, as its meta tells: file, page, folder, kind, date, and whether it was read from a scan.
import { t, ui } from "./strings.js";

export function place({ id, meta }) {
  const parts = String(meta.path || meta.url || "").split("/");
  const file = parts.pop() || id;
  const kind = /\.([a-z0-9]{1,5})$/i.exec(file)?.[1].toUpperCase();
  const page = meta.pages > 1 && meta.page && t("page", { n: meta.page });
  const day = date(meta.date ?? meta.modified ?? meta.year);
  return [file, page, meta.path && parts.join("/"), meta.path && kind, day, meta.scanned && t("scanned")].filter(Boolean);
}

function date(said) {
  if (said === undefined || said === null || said === "") return "";
  if (/^\d{1,4}$/.test(said)) return String(said);
  const day = new Date(typeof said === "number" ? said * 1000 : said);
  return isNaN(day) ? String(said) : day.toLocaleDateString(ui, { dateStyle: "medium" });
}
