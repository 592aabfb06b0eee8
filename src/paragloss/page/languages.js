// Names and badges of languages.
import { h } from "./dom.js";
import { t, ui } from "./strings.js";

const names = new Intl.DisplayNames([ui, "en"], { type: "language", fallback: "code" });

export function nameOf(code) {
  if (!code || code === "und") return t("unknownLanguage");
  try {
    return names.of(code);
  } catch {
    return code;
  }
}

// A language by its code: colours of twenty languages can't be told apart.
export const badge = (code) => h("span", { class: "badge", "aria-hidden": "true" }, code === "und" ? "?" : code.toUpperCase());
