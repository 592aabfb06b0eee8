// Filters beside languages: kind, folder, year, and whatever fields documents share values of; each says how many.
import { $, h } from "./dom.js";
import { number, t } from "./strings.js";

const NAMES = { kind: () => t("field.kind"), folder: () => t("field.folder"), dated: () => t("field.dated") };

// A year is a range, a value is what it is even where it looks like a number; quoted, it is a text alone.
const conditions = (field, value) => (field === "dated" ? [`dated>=${value}-01-01`, `dated<${Number(value) + 1}-01-01`] : [`${field}=${value}`]);
const of = (condition) => /^(.+?)(?:[<>]=?|=)(.*)$/s.exec(condition);

export function fill(counted, { state, go }) {
  const chosen = new Map(state.where.map(of).filter(Boolean).map(([, field, value]) => [field, value]).reverse());
  const shown = { ...counted };
  for (const [field, value] of chosen) {
    const said = field === "dated" ? value.slice(0, 4) : value;
    if (field !== "added") shown[field] = { [said]: 0, ...shown[field] };
  }
  const pick = (field, value) => go({ where: [...state.where.filter((one) => of(one)?.[1] !== field), ...(value ? conditions(field, value) : [])], k: 10 });
  const boxes = Object.entries(shown).map(([field, values]) => {
    const at = field === "dated" ? chosen.get(field)?.slice(0, 4) : chosen.get(field);
    const options = Object.entries(values).map(([value, count]) => h("option", { value, selected: value === at }, `${value}${count ? ` (${number(count)})` : ""}`));
    return h("label", {}, NAMES[field]?.() || field, " ", h("select", { "data-field": field, onchange: (event) => pick(field, event.target.value) }, h("option", { value: "" }, t("field.all")), options));
  });
  if (chosen.has("added")) boxes.push(h("button", { type: "button", class: "chip", "aria-pressed": "true", "data-field": "added", onclick: () => pick("added", "") }, t("field.new"), " ×"));
  const held = $("fields").contains(document.activeElement) && document.activeElement.dataset.field;
  $("fields").replaceChildren(...boxes);
  if (held) $("fields").querySelector(`[data-field="${CSS.escape(held)}"]`)?.focus();
  return boxes.length;
}
