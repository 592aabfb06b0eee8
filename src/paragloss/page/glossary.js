// The reader's own words, kept when a field is left or at Save.
import { ask, send } from "./api.js";
import { $, h } from "./dom.js";
import { nameOf } from "./languages.js";
import { t } from "./strings.js";

let langs = [], collection = "", writable = true, saving = 0;

export async function load(state, about, offered) {
  langs = [...new Set([...about.langs, state.reader || "en", "en"])].sort();
  collection = state.collection;
  writable = about.writable;
  const form = $("pairs");
  form.onsubmit = (event) => event.preventDefault();
  try {
    const { pairs } = await ask("glossary", { collection });
    form.replaceChildren(...pairs.map((pair) => row(pair, pair)));
    $("saved").textContent = pairs.length ? t("glossary.pairs", { n: pairs.length }) : "";
  } catch (error) {
    $("saved").textContent = error.message;
    return;
  }
  if (writable) {
    form.append(row(offered || {}));
    form.querySelector(".pair:last-child input").focus();
  } else $("saved").textContent = t("glossary.readOnly");
}

function row(pair, kept = null) {
  const remove = h("button", { type: "button", class: "quiet remove", "aria-label": t("glossary.remove"), title: t("glossary.remove") }, "×");
  const made = h("div", { class: "pair" },
    h("input", { name: "word", "aria-label": t("glossary.word"), value: pair.word || "", maxlength: 200, dir: "auto", placeholder: t("glossary.word"), disabled: !writable }),
    choose("lang", t("glossary.lang"), pair.lang || "en"),
    h("span", { class: "is" }, "="),
    h("input", { name: "meaning", "aria-label": t("glossary.meaning"), value: pair.meaning || "", maxlength: 200, dir: "auto", placeholder: t("glossary.meaning"), disabled: !writable }),
    choose("to", t("glossary.to"), pair.to || langs.find((lang) => lang !== (pair.lang || "en")) || "fr"),
    h("button", { type: "button", class: "save", disabled: !writable, onclick: () => save(made, read(made)) }, t("glossary.save")),
    remove);
  made.kept = kept;
  remove.addEventListener("click", () => { made.remove(); save(made, null); });
  made.addEventListener("change", () => save(made, read(made)));
  return made;
}

function choose(name, label, value) {
  const codes = langs.includes(value) ? langs : [...langs, value];
  return h("select", { name, "aria-label": label, disabled: !writable },
    codes.map((lang) => h("option", { value: lang, selected: lang === value }, nameOf(lang))));
}

const read = (made) => Object.fromEntries(["lang", "word", "to", "meaning"].map((name) => [name, made.querySelector(`[name=${name}]`).value.trim()]));

// One row, one change after the other: what another window has kept meanwhile stays.
let last = Promise.resolve();
const save = (made, pair) => (last = last.then(() => change(made, pair)));

async function change(made, pair) {
  const whole = pair && pair.word && pair.meaning ? pair : null;
  if (!whole && !made.kept) return;
  const mine = ++saving;
  $("saved").textContent = t("glossary.saving");
  try {
    const now = await send("PATCH", "glossary", { remove: made.kept ? [made.kept] : [], add: whole ? [whole] : [] }, { collection });
    made.kept = whole;
    if (mine === saving) $("saved").textContent = t("glossary.kept", { n: now.pairs.length });
  } catch (error) {
    if (mine === saving) $("saved").textContent = t("glossary.failed", { why: error.message });
    return;
  }
  const end = [...$("pairs").querySelectorAll(".pair")].at(-1);
  if (!end || (read(end).word && read(end).meaning)) $("pairs").append(row({}));
}
