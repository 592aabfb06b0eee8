// Names and colours of languages.
const english = new Intl.DisplayNames(["en"], { type: "language", fallback: "code" });

export function nameOf(code) {
  if (!code || code === "und") return "unknown language";
  try {
    return english.of(code);
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

// Steps of the golden angle: neighbours in the list differ most.
const order = new Map();
export function known(codes) {
  for (const code of codes) if (!order.has(code)) order.set(code, order.size);
}

export function hue(code) {
  known([code]);
  const place = order.get(code);
  return `oklch(${place % 2 ? 0.58 : 0.66} 0.14 ${(place * 137.5 + 250) % 360})`;
}
