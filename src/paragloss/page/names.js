// Plain words for the ways of searching and the sources of meanings, which pipelines name in their own language.
import { t } from "./strings.js";

const PLAIN = { bm25: t("part.bm25"), glossary: t("part.glossary"), translated: t("part.translated"), default: t("part.default"),
  "by sound": t("part.sound"), meaning: t("part.meaning"), mt: t("part.mt"), wordnet: t("part.wordnet"),
  words: t("part.words"), "close in meaning": t("part.meaning"), "before reading": t("part.prior") };

// Models by name, as the collection tells of them.
let models = {};
export function models_(told) {
  models = told || {};
}

const translates = (name) => name in PLAIN ? ["default", "glossary", "mt", "wordnet"].includes(name) : "translations" in (models[name] || {});

// What an encoder has still to read: until then documents are found by their words.
export function unread() {
  const slow = Object.values(models).find((one) => one.encoded < one.of);
  return slow ? ` · ${t("unread", { n: slow.encoded, of: slow.of })}` : "";
}

// mix(1.0*default+3.0*table) -> translated words; cr5:csls -> close in meaning (cr5)
export function partName(part) {
  if (part in PLAIN) return PLAIN[part];
  const names = [...new Set(part.match(/[\p{L}_][\p{L}\p{N}_.-]*/gu) || [])].filter((name) => name in PLAIN || name in models);
  if (!names.length) return part;
  if (names.every(translates)) return PLAIN.default;
  const said = names.map((name) => PLAIN[name] || (translates(name) ? PLAIN.default : t("part.close", { name })));
  return [...new Set(said)].join(", ");
}

// Who knows that two words belong together: "default, inside" is a translation inside a longer word.
export function sourceName(source) {
  const [name, ...how] = source.split(", ");
  if (name === "lexicon") return t("source.default");
  const who = name === "default" ? t("source.default") : PLAIN[name] || (translates(name) ? t("source.table", { name }) : name in models ? t("source.meaning", { name }) : name);
  return [who, ...how.map((one) => (one === "inside" ? t("source.inside") : one))].join(", ");
}
