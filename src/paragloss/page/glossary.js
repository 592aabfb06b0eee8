// The reader's own words, kept as they are typed.
import { ask, send } from "./api.js";
import { $, h, plural } from "./dom.js";
import { nameOf } from "./languages.js";

let langs = [], collection = "", writable = true, saving = 0;

export async function load(state, about, offered) {
  langs = [...new Set([...about.langs, state.reader || "en", "en"])].sort();
  collection = state.collection;
  writable = about.writable;
  const form = $("pairs");
  form.onsubmit = (event) => event.preventDefault();
  try {
    const { pairs } = await ask("glossary", { collection });
    form.replaceChildren(...pairs.map(row));
    $("saved").textContent = pairs.length ? plural(pairs.length, "pair") : "";
  } catch (error) {
    $("saved").textContent = error.message;
    return;
  }
  if (writable) {
    form.append(row(offered || {}));
    form.querySelector(".pair:last-child input").focus();
  } else $("saved").textContent = "This key may read the glossary, not change it.";
}

function row(pair) {
  const remove = h("button", { type: "button", class: "quiet", "aria-label": "Remove this pair", title: "Remove" }, "×");
  const made = h("div", { class: "pair" },
    h("input", { name: "word", "aria-label": "Word", value: pair.word || "", maxlength: 200, dir: "auto", placeholder: "word", disabled: !writable }),
    choose("lang", "Its language", pair.lang || "en"),
    h("span", { class: "is" }, "="),
    h("input", { name: "meaning", "aria-label": "Meaning", value: pair.meaning || "", maxlength: 200, dir: "auto", placeholder: "meaning", disabled: !writable }),
    choose("to", "Language of the meaning", pair.to || langs.find((lang) => lang !== (pair.lang || "en")) || "fr"),
    remove);
  remove.addEventListener("click", () => { made.remove(); save(); });
  made.addEventListener("change", save);
  return made;
}

function choose(name, label, value) {
  const codes = langs.includes(value) ? langs : [...langs, value];
  return h("select", { name, "aria-label": label, disabled: !writable },
    codes.map((lang) => h("option", { value: lang, selected: lang === value }, nameOf(lang))));
}

async function save() {
  const rows = [...$("pairs").querySelectorAll(".pair")];
  const read = (made) => Object.fromEntries(["lang", "word", "to", "meaning"].map((name) => [name, made.querySelector(`[name=${name}]`).value.trim()]));
  const pairs = rows.map(read).filter((pair) => pair.word && pair.meaning);
  const mine = ++saving;
  $("saved").textContent = "Saving …";
  try {
    const kept = await send("PUT", "glossary", { pairs }, { collection });
    if (mine === saving) $("saved").textContent = `${plural(kept.pairs.length, "pair")} kept; they count from the next search on.`;
  } catch (error) {
    if (mine === saving) $("saved").textContent = `Not kept: ${error.message}`;
    return;
  }
  const last = rows.at(-1);
  if (!last || (read(last).word && read(last).meaning)) $("pairs").append(row({}));
}
