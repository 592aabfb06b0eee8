// Filters by kind, folder, year and other fields whose values documents share, each with its count.
import { $, h } from "./dom.js";
import { number, t } from "./strings.js";

const NAMES = { kind: () => t("field.kind"), folder: () => t("field.folder"), dated: () => t("field.dated") };

// A year is a range of days; any other value is a condition on the field.
const makeConditions = (field, value) => (field === "dated" ? [`dated>=${value}-01-01`, `dated<${Number(value) + 1}-01-01`] : [`${field}=${value}`]);
const parseCondition = (condition) => /^(.+?)(?:[<>]=?|=)(.*)$/s.exec(condition);

// Fill the filters with counted values.
export function fill(counts, { state, go }) {
  const chosen = new Map(state.where.map(parseCondition).filter(Boolean).map(([, field, value]) => [field, value]).reverse());
  const year = chosen.get("dated")?.slice(0, 4);
  const chosenValue = (field) => (field === "dated" ? year : chosen.get(field));
  const visible = { ...counts };
  for (const field of chosen.keys()) if (field !== "added") visible[field] = { [chosenValue(field)]: 0, ...visible[field] };
  const pick = (field, value) => go({ where: [...state.where.filter((condition) => parseCondition(condition)?.[1] !== field), ...(value ? makeConditions(field, value) : [])], k: 10 });
  const boxes = Object.entries(visible).map(([field, values]) => {
    const options = Object.entries(values).map(([value, count]) => h("option", { value, selected: value === chosenValue(field) }, `${value}${count ? ` (${number(count)})` : ""}`));
    return h("label", {}, NAMES[field]?.() || field, " ", h("select", { "data-field": field, onchange: (event) => pick(field, event.target.value) }, h("option", { value: "" }, t("field.all")), options));
  });
  if (chosen.has("added")) boxes.push(h("button", { type: "button", class: "chip", "aria-pressed": "true", "data-field": "added", onclick: () => pick("added", "") }, t("field.new"), " ×"));
  const focusedField = $("fields").contains(document.activeElement) && document.activeElement.dataset.field;
  $("fields").replaceChildren(...boxes);
  if (focusedField) $("fields").querySelector(`[data-field="${CSS.escape(focusedField)}"]`)?.focus();
}
