// Names and colours of languages.
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

// What speakers call it, where that differs.
export function ownName(code) {
  try {
    const own = new Intl.DisplayNames([code], { type: "language", fallback: "none" }).of(code);
    return own && own.toLowerCase() !== nameOf(code).toLowerCase() && own !== code ? own : "";
  } catch {
    return "";
  }
}

// A colour that is a language's own, whatever else is shown: the letters of its code, by steps of the golden angle.
export function hue(code) {
  const place = [...code].reduce((sum, letter) => 27 * sum + letter.charCodeAt(0), 0);
  return `oklch(${place % 2 ? 0.58 : 0.66} 0.14 ${(place * 137.5 + 250) % 360})`;
}
