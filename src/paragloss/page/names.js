// Plain words for the ways of searching and the sources of meanings, which pipelines name in their own language.
const PLAIN = { bm25: "the same words", glossary: "your glossary", translated: "the translated text", default: "translated words",
  "by sound": "names that sound alike", mt: "machine translation", wordnet: "related words" };

// Models by name, as the collection tells of them.
let models = {};
export function models_(told) {
  models = told || {};
}

const translates = (name) => name in PLAIN ? ["default", "glossary", "mt", "wordnet"].includes(name) : "translations" in (models[name] || {});

// mix(1.0*default+3.0*table) -> translated words; cr5:csls -> close in meaning (cr5)
export function partName(part) {
  if (part in PLAIN) return PLAIN[part];
  const names = [...new Set(part.match(/[\p{L}_][\p{L}\p{N}_.-]*/gu) || [])].filter((name) => name in PLAIN || name in models);
  if (!names.length) return part;
  if (names.every(translates)) return PLAIN.default;
  const said = names.map((name) => PLAIN[name] || (translates(name) ? PLAIN.default : `close in meaning (${name})`));
  return [...new Set(said)].join(", ");
}

// Who knows that two words belong together: "default, inside" is a translation inside a longer word.
export function sourceName(source) {
  const [name, ...how] = source.split(", ");
  if (name === "lexicon") return how[0] === "hand" ? "built-in lexicon" : how.join(", ");
  const who = name === "default" ? "built-in dictionary" : PLAIN[name] || (translates(name) ? `table ${name}` : name in models ? `meaning, by ${name}` : name);
  return [who, ...how.map((one) => (one === "inside" ? "inside a longer word" : one))].join(", ");
}
