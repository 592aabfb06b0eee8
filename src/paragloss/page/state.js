// The state of the page, which is its address: every search is a link.
const EMPTY = { view: "search", q: "", lang: "", to: [], each: false, asTyped: false, reader: "", collection: "", doc: "", k: 10, where: [], sort: "" };

export const MAX_RESULTS = 200, MORE_RESULTS = 20;
export const VIEWS = ["search", "read", "glossary", "many", "kept", "files"];

export function fromAddress(search = location.search) {
  const query = new URLSearchParams(search);
  return {
    view: VIEWS.includes(query.get("view")) ? query.get("view") : EMPTY.view,
    q: query.get("q") || "",
    lang: query.get("lang") || "",
    to: (query.get("to") || "").split(",").filter(Boolean),
    each: query.get("each") === "1",
    asTyped: query.get("typed") === "1",
    reader: query.get("reader") || "",
    collection: query.get("collection") || "",
    doc: query.get("doc") || "",
    where: query.getAll("where"),
    sort: query.get("sort") === "date" ? "date" : "",
    k: Math.min(Math.max(Number(query.get("k")) || EMPTY.k, EMPTY.k), MAX_RESULTS),
  };
}

// What requests send as `variants`: without other spellings of names, and without correction.
export const variants = (asTyped) => (asTyped ? "false" : "");

// Equal keys mean equal lists of results.
export const listKey = (state, reader) => JSON.stringify([state.q, state.lang, state.to, state.each, state.asTyped, state.collection, state.where, state.sort, reader]);

export function toAddress(state) {
  const query = new URLSearchParams();
  if (state.view !== EMPTY.view) query.set("view", state.view);
  for (const name of ["q", "lang", "reader", "collection", "sort"]) if (state[name]) query.set(name, state[name]);
  if (state.to.length) query.set("to", state.to.join(","));
  for (const condition of state.where) query.append("where", condition);
  if (state.view === "read") query.set("doc", state.doc);
  if (state.k !== EMPTY.k) query.set("k", state.k);
  if (state.each) query.set("each", "1");
  if (state.asTyped) query.set("typed", "1");
  const text = query.toString();
  return text ? `?${text}` : "./";
}
