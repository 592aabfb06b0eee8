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

// The name of a language in that language, where it differs.
export function ownName(code) {
  try {
    const name = new Intl.DisplayNames([code], { type: "language", fallback: "none" }).of(code);
    return name && name.toLowerCase() !== nameOf(code).toLowerCase() && name !== code ? name : "";
  } catch {
    return "";
  }
}

// A language by its code: colours of twenty languages can't be told apart.
export const badge = (code) => h("span", { class: "badge", "aria-hidden": "true" }, code === "und" ? "?" : code.toUpperCase());
