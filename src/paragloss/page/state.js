// What the address says, and nothing else: every search is a link.
const EMPTY = { view: "search", q: "", lang: "", to: [], each: false, reader: "", collection: "" };

export const VIEWS = ["search", "map", "glossary", "files"];

export function fromAddress() {
  const query = new URLSearchParams(location.search);
  return {
    view: VIEWS.includes(query.get("view")) ? query.get("view") : EMPTY.view,
    q: query.get("q") || "",
    lang: query.get("lang") || "",
    to: (query.get("to") || "").split(",").filter(Boolean),
    each: query.get("each") === "1",
    reader: query.get("reader") || "",
    collection: query.get("collection") || "",
  };
}

export function toAddress(state) {
  const query = new URLSearchParams();
  if (state.view !== EMPTY.view) query.set("view", state.view);
  for (const name of ["q", "lang", "reader", "collection"]) if (state[name]) query.set(name, state[name]);
  if (state.to.length) query.set("to", state.to.join(","));
  if (state.each) query.set("each", "1");
  const tail = query.toString();
  return tail ? `?${tail}` : "./";
}
