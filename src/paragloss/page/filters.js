// The panel of filters. On a wide screen it stands above the results and stays open for the next visit; on a phone it covers
// their lower part until it is closed.
import { $ } from "./dom.js";
import { number, t } from "./strings.js";

const phone = matchMedia("(max-width: 34rem)");

const isOpen = () => document.body.classList.contains("tuning");

export function setOpen(on) {
  document.body.classList.toggle("tuning", on);
  $("options").setAttribute("aria-expanded", String(on));
  if (!phone.matches) localStorage.setItem("filters", on ? "yes" : "no");
}

// Close the panel where it covers results; returns whether it did.
export function uncoverResults() {
  if (!phone.matches || !isOpen()) return false;
  setOpen(false);
  $("options").focus();
  return true;
}

// How many filters are in use stands on the button.
export function showCount({ to, where, each, asTyped }) {
  const count = to.length + where.length + (each ? 1 : 0) + (asTyped ? 1 : 0);
  $("options").textContent = count ? `${t("filters")} (${number(count)})` : t("filters");
  $("options").classList.toggle("active", count > 0);
}

export function listen() {
  if (!phone.matches && localStorage.getItem("filters") === "yes") setOpen(true);
  $("options").addEventListener("click", () => setOpen(!isOpen()));
  for (const id of ["filters-done", "panel-close"]) $(id).addEventListener("click", uncoverResults);
  document.addEventListener("pointerdown", (event) => {
    if (!event.composedPath().some((element) => element === $("panel") || element === $("options"))) uncoverResults();
  });
}
