// Keys: / to search, arrows for results and words, Enter to read, n and p for matches, w for why, s to keep a word, Esc to go back.
import { $ } from "./dom.js";
import { uncoverResults } from "./filters.js";
import { hide, show } from "./gloss.js";
import { match } from "./reading.js";

const isField = (element) => element.matches?.("input:not([type=checkbox]), select, textarea");

let leaveDocument = () => {};
export function listen(leave) {
  leaveDocument = leave;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const focused = document.activeElement;
    if (event.key === "/" && !isField(focused) && !document.querySelector("dialog[open]")) {
      event.preventDefault();
      if ($("search-view").hidden) document.querySelector("[data-view=search]").click();
      $("q").focus();
      $("q").select();
    } else if (event.key === "Escape") goBack(focused);
    else if (event.key === "ArrowDown" && focused === $("q")) moveToResult(event, null, 1);
    else if (!$("read-view").hidden && !isField(focused) && !document.querySelector("dialog[open]")) handleReadingKey(event);
    else if (focused.closest?.(".result") && !isField(focused)) handleResultKey(event, focused.closest(".result"), focused);
  });
}

function handleResultKey(event, result, focused) {
  if (event.key === "ArrowDown") moveToResult(event, result, 1);
  else if (event.key === "ArrowUp") moveToResult(event, result, -1);
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") moveToWord(event, result);
  else if (event.key === "s") document.querySelector("#gloss:not([hidden]) .star")?.click();
  else if (event.key === "w") result.querySelector("[aria-expanded]")?.click();
  else if (event.key === "Enter" && focused === result) {
    event.preventDefault(); // or the same key would press the button that has the focus then
    result.querySelector("h2 a").click();
  }
}

function handleReadingKey(event) {
  if (event.key === "n" || event.key === "p") match(event.key === "n" ? 1 : -1);
  else if (event.key === "s") document.querySelector("#gloss:not([hidden]) .star")?.click();
  else if (event.key === "ArrowRight" || event.key === "ArrowLeft") moveToWord(event, $("text"));
}

function moveToResult(event, current, step) {
  const results = [...document.querySelectorAll(".result")];
  const next = current ? results.indexOf(current) + step : 0;
  event.preventDefault();
  hide();
  if (next < 0) $("q").focus();
  else if (next === results.length && !$("more").hidden) $("more").click(); // which focuses the first new result
  else results[next]?.focus();
}

// Go to the next word in reading order: in text from right to left that is the one on the left.
function moveToWord(event, result) {
  const words = [...result.querySelectorAll(".w")];
  if (!words.length) return;
  event.preventDefault();
  const current = words.findIndex((span) => span.classList.contains("on"));
  const direction = getComputedStyle(words[Math.max(current, 0)]).direction === "rtl" ? -1 : 1;
  const step = (event.key === "ArrowRight" ? 1 : -1) * direction;
  const next = current < 0 ? Math.max(words.findIndex((span) => span.getBoundingClientRect().top >= 0), 0) : Math.min(Math.max(current + step, 0), words.length - 1);
  words[next].scrollIntoView({ block: "nearest" });
  show(words[next]);
}

function goBack(focused) {
  if (document.querySelector("dialog[open]")) return;
  if (!$("gloss").hidden) return hide();
  if (uncoverResults()) return;
  if (!$("read-view").hidden) return leaveDocument();
  const result = focused.closest?.(".result");
  const openPanel = result?.querySelector("[aria-expanded=true]");
  if (openPanel) openPanel.click();
  else if (result) $("q").focus();
  else if (focused === $("q")) focused.blur();
}
