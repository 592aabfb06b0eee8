// The choice of another language for a document that was given the wrong one.
import { send } from "./api.js";
import { h } from "./dom.js";
import { nameOf } from "./languages.js";
import { t } from "./strings.js";

const COMMON_LANGUAGES = `ar bg bn ca cs da de el en es et eu fa fi fr gl he hi hr hu hy id is it ja ka ko lt lv mk ms nl no pl pt ro ru sk sl sq sr sv
  sw ta te th tl tr uk ur vi zh`.split(/\s+/);

// A list of languages. The one that is chosen is stored with the document, then `onChange` is called with it.
export function makeLanguageChoice(document, { langs, collection, onChange }) {
  const codes = [...new Set([document.lang, ...langs, ...COMMON_LANGUAGES])].sort((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const options = codes.map((code) => h("option", { value: code, selected: code === document.lang }, nameOf(code)));
  const select = h("select", { "aria-label": t("language.choose") }, options);
  const failure = h("span", { class: "failed", role: "alert" });
  select.addEventListener("change", async () => {
    select.disabled = true;
    try {
      await send("PATCH", `documents/${encodeURIComponent(document.id)}`, { lang: select.value }, { collection });
      onChange(select.value);
    } catch (error) {
      failure.textContent = error.message;
      select.value = document.lang;
    }
    select.disabled = false;
  });
  return h("span", { class: "relabel" }, select, failure);
}
