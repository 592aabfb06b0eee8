// Languages as chips that can be pressed: the first few, and the others when asked for.
import { h } from "./dom.js";
import { badge, nameOf } from "./languages.js";
import { number, t } from "./strings.js";

const FEW = 10;
const opened = new WeakSet();

// `rows`: {code, count, atLeast, on, stays, title, toggle}; what `stays` is shown in any case. The chip that has the focus keeps it when all are drawn again.
export function fill(box, rows) {
  const held = box.contains(document.activeElement) ? document.activeElement.dataset : null;
  const all = opened.has(box) || rows.length <= FEW + 2;
  const shown = all ? rows : rows.filter((row, place) => row.stays || place < FEW);
  const left = rows.length - shown.length;
  const more = h("button", { type: "button", class: "chip more", "data-more": "1", "aria-expanded": String(all), onclick: () => {
    if (opened.has(box)) opened.delete(box);
    else opened.add(box);
    fill(box, rows);
  } }, all ? t("fewer") : t("moreLanguages", { n: left }));
  box.replaceChildren(...shown.map(chip), ...(rows.length > FEW + 2 ? [more] : []));
  if (held?.more) box.querySelector("[data-more]")?.focus();
  else if (held?.lang) box.querySelector(`[data-lang="${CSS.escape(held.lang)}"]`)?.focus();
}

function chip({ code, count, atLeast, on, title, toggle }) {
  return h("button", { type: "button", class: "chip", "aria-pressed": String(on), "data-lang": code, onclick: toggle, title },
    badge(code), nameOf(code), h("span", { class: "count" }, `${number(count)}${atLeast ? "+" : ""}`));
}
