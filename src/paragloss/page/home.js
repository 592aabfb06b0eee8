// The first thing one sees: what is here, what could be asked, how to add.
import { $, h } from "./dom.js";
import { badge, nameOf } from "./languages.js";
import { number, t } from "./strings.js";

export function welcome(one, go) {
  const box = $("welcome");
  box.hidden = !one;
  if (!one) return;
  const all = Object.entries(one.languages).sort((a, b) => b[1] - a[1]);
  const add = (label, kind) => h("button", { type: "button", class: kind, onclick: () => go({ view: "files" }) }, label);
  if (!one.documents) {
    box.replaceChildren(h("h2", {}, t("home.empty")), h("p", { class: "about" }, t(one.writable ? "home.begin" : "home.readOnly")),
      ...(one.writable ? [add(t("view.files"), "main")] : []));
    return;
  }
  // Titles of some documents: questions this collection can answer.
  const ideas = one.examples.flatMap(([title, lang], at) => [at ? " · " : `${t("home.ask")}: `,
    h("button", { type: "button", class: "link", lang, dir: "auto", onclick: () => go({ q: title, lang, where: [] }) }, title)]);
  box.replaceChildren(
    h("h2", {}, t("inLanguages", { documents: t("documents", { n: one.documents }), languages: t("languages", { n: all.length }) })),
    h("p", { class: "about" }, t("home.about")), h("p", { class: "ideas" }, ideas),
    h("div", { class: "names" }, all.slice(0, 16).map(([lang, count]) =>
      h("span", {}, badge(lang), `${nameOf(lang)} ${number(count)}`)),
      all.length > 16 ? h("span", {}, t("andMore", { n: all.length - 16 })) : null),
    ...(one.writable ? [h("p", { class: "about" }, t("home.add"), " ", add(t("home.choose"), "link"), ".")] : []));
}
