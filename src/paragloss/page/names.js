// Plain words for searchers and sources of meanings, which have other names in pipelines.
import { t } from "./strings.js";

const PLAIN = { bm25: t("part.bm25"), glossary: t("part.glossary"), translated: t("part.translated"), default: t("part.default"),
  "by sound": t("part.sound"), meaning: t("part.meaning"), mt: t("part.mt"), wordnet: t("part.wordnet"),
  words: t("part.words"), "close in meaning": t("part.meaning"), "before reading": t("part.prior") };
const TRANSLATING = ["default", "glossary", "mt", "wordnet"];

// The models of the collection by name.
let models = {};
export function setModels(modelsByName) {
  models = modelsByName || {};
}

const isTranslator = (name) => (name in PLAIN ? TRANSLATING.includes(name) : "translations" in (models[name] || {}));

// How many documents an encoder has not encoded yet; nothing when it has encoded all.
export function describeUnencoded() {
  const unfinished = Object.values(models).find((model) => model.encoded < model.of);
  return unfinished ? ` · ${t("stillProcessing", { n: unfinished.of - unfinished.encoded })}` : "";
}

// mix(1.0*default+3.0*table) -> translated words; cr5:csls -> close in meaning (cr5)
export function partName(part) {
  if (part in PLAIN) return PLAIN[part];
  const names = [...new Set(part.match(/[\p{L}_][\p{L}\p{N}_.-]*/gu) || [])].filter((name) => name in PLAIN || name in models);
  if (!names.length) return part;
  if (names.every(isTranslator)) return PLAIN.default;
  const plainNames = names.map((name) => PLAIN[name] || (isTranslator(name) ? PLAIN.default : t("part.close", { name })));
  return [...new Set(plainNames)].join(", ");
}

// The source of a pair of words; "default, inside" is a translation inside a longer word.
export function sourceName(source) {
  const [name, ...details] = source.split(", ");
  if (name === "lexicon") return t("source.default");
  const plainName = name === "default" ? t("source.default") : PLAIN[name] || (isTranslator(name) ? t("source.table", { name }) : name in models ? t("source.meaning", { name }) : name);
  return [plainName, ...details.map((detail) => (detail === "inside" ? t("source.inside") : detail))].join(", ");
}
