// The texts of the interface, in the browser's language where there is a file for it, else in English.
import english from "./strings/en.js";

export const INTERFACE_LANGUAGES = ["ar", "de", "en", "es", "fr", "hi", "pt", "ru", "vi", "zh"];
const browserLanguages = (navigator.languages || [navigator.language]).map((tag) => tag.split("-")[0].toLowerCase());
export const ui = browserLanguages.find((lang) => INTERFACE_LANGUAGES.includes(lang)) || "en";
// The reader's language, whether or not there are texts in it.
export const readerLanguage = browserLanguages[0] || "en";
export const alsoReads = (lang) => browserLanguages.includes(lang);
const texts = ui === "en" ? english : (await import(`./strings/${ui}.js`)).default;
const plurals = new Intl.PluralRules(ui);

const list = new Intl.ListFormat(ui);

export const joinList = (parts) => list.format(parts);
export const number = (value) => value.toLocaleString(ui);

// t("documents", { n: 3 }) -> "3 documents"
export function t(key, values = {}) {
  const text = texts[key] ?? english[key];
  if (text === undefined) throw new Error(`no text for ${key}`);
  const sentence = typeof text === "string" ? text : text[plurals.select(values.n)] ?? text.other;
  return sentence.replace(/\{(\w+)\}/g, (_, name) => (typeof values[name] === "number" ? number(values[name]) : values[name]));
}

// Fill in the texts of index.html: data-t is the key of an element's text, data-t-NAME that of an attribute.
export function translate(root = document) {
  document.documentElement.lang = ui;
  document.documentElement.dir = ui === "ar" ? "rtl" : "ltr";
  for (const element of root.querySelectorAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const name of ["aria-label", "placeholder", "title"]) {
    for (const element of root.querySelectorAll(`[data-t-${name}]`)) element.setAttribute(name, t(element.getAttribute(`data-t-${name}`)));
  }
}
