// The start page: what the collection contains, example questions, how to add files.
import { $, h } from "./dom.js";
import { badge, nameOf } from "./languages.js";
import { meanings } from "./meanings.js";
import { number, t } from "./strings.js";

const MAX_LANGUAGES = 16;

export function welcome({ collection, reader, state, go }) {
  const box = $("welcome"), about = collection();
  box.hidden = !about;
  if (!about) return;
  const addButton = (label, kind) => h("button", { type: "button", class: kind, onclick: () => go({ view: "files" }) }, label);
  if (!about.documents) {
    box.replaceChildren(h("h2", {}, t("home.empty")), h("p", { class: "about" }, t(about.writable ? "home.begin" : "home.readOnly")),
      ...(about.writable ? [addButton(t("view.files"), "main")] : []));
    return;
  }
  const languages = Object.entries(about.languages).sort((a, b) => b[1] - a[1]);
  // Languages of few documents are left out, unless they are supported less well.
  const shownLanguages = languages.filter(([lang], i) => i < MAX_LANGUAGES || describeSupport(about.support[lang]));
  const examples = h("p", { class: "ideas" });
  box.replaceChildren(
    h("h2", {}, t("inLanguages", { documents: t("documents", { n: about.documents }), languages: t("languages", { n: languages.length }) })),
    h("p", { class: "about" }, t("home.about")), examples,
    h("div", { class: "names" }, shownLanguages.map(([lang, count]) =>
      h("span", { title: about.support[lang] || null }, badge(lang), `${nameOf(lang)} ${number(count)}`, describeSupport(about.support[lang]))),
      languages.length > shownLanguages.length ? h("span", {}, t("andMore", { n: languages.length - shownLanguages.length })) : null),
    ...(about.writable ? [h("p", { class: "about" }, t("home.add"), " ", addButton(t("home.choose"), "link"), ".")] : []));
  showExamples(examples, about.examples, { reader, state, go });
}

// Titles of documents as example questions, in the reader's language: titles in another one are shown by their rough meaning.
function showExamples(box, examples, { reader, state, go }) {
  const questions = [];
  const draw = () => box.replaceChildren(...questions.flatMap((text, i) => [i ? " · " : `${t("home.ask")}: `,
    h("button", { type: "button", class: "link", lang: reader, dir: "auto", onclick: () => go({ q: text, lang: reader, where: [] }) }, text)]));
  const add = (text) => { if (text && !questions.includes(text)) { questions.push(text); draw(); } };
  for (const [title, lang] of examples) if (lang === reader) add(title);
  const jobs = examples.filter(([, lang]) => lang !== reader).map(([title, lang]) => ({ text: title, lang, done: (gloss) => add(gloss.rendering.replace(/~/g, "")), failed: () => {} }));
  if (jobs.length) meanings(jobs, { reader, query: "", collection: state.collection });
}

// In words how documents of a language are found, where that is not in every way.
const SUPPORT = { related: () => t("support.related"), "encoder only": () => t("support.encoder"), "names only": () => t("support.names") };
function describeSupport(description = "") {
  const kind = SUPPORT[description.split(":")[0]];
  return kind ? h("span", { class: "soft" }, ` (${kind()})`) : null;
}
