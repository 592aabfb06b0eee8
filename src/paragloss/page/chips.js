// Languages as chips that can be pressed: the first few, and the others on demand.
import { h } from "./dom.js";
import { badge, nameOf } from "./languages.js";
import { number, t } from "./strings.js";

const MAX_CLOSED = 10;
const openedBoxes = new WeakSet();

// `rows`: {code, count, isMinimum, on, title, toggle}; pressed ones are always shown. The focus stays on its chip when all are drawn again.
export function fill(box, rows) {
  const focused = box.contains(document.activeElement) ? document.activeElement.dataset : null;
  const isFoldable = rows.length > MAX_CLOSED + 2, isOpen = openedBoxes.has(box) || !isFoldable;
  const visibleRows = isOpen ? rows : rows.filter((row, i) => row.on || i < MAX_CLOSED);
  const toggle = () => {
    if (openedBoxes.has(box)) openedBoxes.delete(box);
    else openedBoxes.add(box);
    fill(box, rows);
  };
  const label = isOpen ? t("fewer") : t("moreLanguages", { n: rows.length - visibleRows.length });
  const moreButton = h("button", { type: "button", class: "chip more", "data-more": "1", "aria-expanded": String(isOpen), onclick: toggle }, label);
  box.replaceChildren(...visibleRows.map(chip), ...(isFoldable ? [moreButton] : []));
  if (focused?.more) box.querySelector("[data-more]")?.focus();
  else if (focused?.lang) box.querySelector(`[data-lang="${CSS.escape(focused.lang)}"]`)?.focus();
}

function chip({ code, count, isMinimum, on, title, toggle }) {
  return h("button", { type: "button", class: "chip", "aria-pressed": String(on), "data-lang": code, onclick: toggle, title },
    badge(code), nameOf(code), h("span", { class: "count" }, `${number(count)}${isMinimum ? "+" : ""}`));
}
