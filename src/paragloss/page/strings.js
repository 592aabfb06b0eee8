// The words of the interface, in the language of the browser where there is a file for it, else in English.
import english from "./strings/en.js";

export const WRITTEN = ["ar", "de", "en", "es", "fr", "hi", "pt", "ru", "vi", "zh"];
const wanted = (navigator.languages || [navigator.language]).map((tag) => tag.split("-")[0].toLowerCase());
export const ui = wanted.find((lang) => WRITTEN.includes(lang)) || "en";
// The language somebody reads, whether or not the interface is written in it.
export const reads = wanted[0] || "en";
export const alsoReads = (lang) => wanted.includes(lang);
const own = ui === "en" ? english : (await import(`./strings/${ui}.js`)).default;
const plurals = new Intl.PluralRules(ui);

export const number = (value) => value.toLocaleString(ui);

// t("documents", { n: 3 }) -> "3 documents"
export function t(key, values = {}) {
  const found = own[key] ?? english[key];
  if (found === undefined) throw new Error(`no words for ${key}`);
  const sentence = typeof found === "string" ? found : found[plurals.select(values.n)] ?? found.other;
  return sentence.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : values[name]));
}

// What index.html says: data-t is the key of an element's text, data-t-NAME that of an attribute.
export function translate(root = document) {
  document.documentElement.lang = ui;
  document.documentElement.dir = ui === "ar" ? "rtl" : "ltr";
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const name of ["aria-label", "placeholder"]) {
    for (const element of root.querySelectorAll(`[data-t-${name}]`)) element.setAttribute(name, t(element.getAttribute(`data-t-${name}`)));
  }
}
