// / to ask, arrows through results and words, Enter to read, n and p through matches, w for why, s to keep a word, Esc to go back.
import { $ } from "./dom.js";
import { hide, show } from "./gloss.js";
import { match } from "./reading.js";

const writing = (element) => element.matches?.("input:not([type=checkbox]), select, textarea");

let leave = () => {};
export function listen(back_) {
  leave = back_;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const here = document.activeElement;
    if (event.key === "/" && !writing(here) && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      if ($("search-view").hidden) document.querySelector("[data-view=search]").click();
      $("q").focus();
      $("q").select();
    } else if (event.key === "Escape") back(here);
    else if (event.key === "ArrowDown" && here === $("q")) move(event, null, 1);
    else if (!$("read-view").hidden && !writing(here) && !document.querySelector("dialog[open]")) read(event);
    else if (here.closest?.(".result") && !writing(here)) within(event, here.closest(".result"), here);
  });
}

function within(event, result, here) {
  if (event.key === "ArrowDown") move(event, result, 1);
  else if (event.key === "ArrowUp") move(event, result, -1);
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") word(event, result);
  else if (event.key === "s") document.querySelector("#gloss:not([hidden]) .star")?.click();
  else if (event.key === "w") result.querySelector("[aria-expanded]")?.click();
  else if (event.key === "Enter" && here === result) {
    event.preventDefault(); // or the same key would press the button that has the focus then
    result.querySelector("h2 button").click();
  }
}

function read(event) {
  if (event.key === "n" || event.key === "p") match(event.key === "n" ? 1 : -1);
  else if (event.key === "s") document.querySelector("#gloss:not([hidden]) .star")?.click();
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") word(event, $("text"));
}

function move(event, from, step) {
  const all = [...document.querySelectorAll(".result")];
  const next = from ? all.indexOf(from) + step : 0;
  event.preventDefault();
  hide();
  if (next < 0) $("q").focus();
  else if (next === all.length && !$("more").hidden) $("more").click(); // and the first of those gets the focus
  else all[next]?.focus();
}

// To the next word as it is read: in text from right to left that is the one on the left.
function word(event, result) {
  const words = [...result.querySelectorAll(".w")];
  if (!words.length) return;
  event.preventDefault();
  const at = words.findIndex((span) => span.classList.contains("on"));
  const right = getComputedStyle(words[Math.max(at, 0)]).direction === "rtl" ? -1 : 1;
  const step = (event.key === "ArrowRight" ? 1 : -1) * right;
  const next = at < 0 ? Math.max(words.findIndex((span) => span.getBoundingClientRect().top >= 0), 0) : Math.min(Math.max(at + step, 0), words.length - 1);
  words[next].scrollIntoView({ block: "nearest" });
  show(words[next]);
}

function back(here) {
  if (document.querySelector("dialog[open]")) return;
  if (!$("gloss").hidden) return hide();
  if (!$("read-view").hidden) return leave();
  const result = here.closest?.(".result");
  const open = result?.querySelector("[aria-expanded=true]");
  if (open) open.click();
  else if (result) $("q").focus();
  else if (here === $("q")) here.blur();
}
