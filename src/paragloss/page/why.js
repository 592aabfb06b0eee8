// Why a document was found: a sentence with the strongest pairs of words; all pairs and the scores on demand.
import { ask } from "./api.js";
import { h } from "./dom.js";
import { partName, sourceName } from "./names.js";
import { joinList, t } from "./strings.js";

const MAX_PAIRS = 8, MAX_PAIRS_IN_SENTENCE = 3, ROW_HEIGHT = 30;
// Pairs with less than this share of the strongest pair's score are not shown.
const MIN_SHARE = 0.1;

// `question` has the parameters of the search that found the document.
export async function explain(panel, question, result) {
  panel.replaceChildren(h("p", { class: "soft" }, t("why.looking")));
  try {
    const why = await ask("why", { ...question, id: result.id });
    panel.replaceChildren(...makeExplanation(why, result));
  } catch (error) {
    panel.replaceChildren(h("p", {}, error.message));
  }
}

function makeExplanation(why, result) {
  const pairs = why.parts.flatMap((part) => part.pairs).filter((pair) => pair.score > 0 && pair.query && pair.document);
  const best = selectStrongest(pairs);
  const scores = new Map();
  for (const part of why.parts) scores.set(partName(part.part), (scores.get(partName(part.part)) || 0) + part.score);
  const largest = Math.max(1e-9, ...[...scores.values()].map(Math.abs));
  const rows = [...scores].filter(([, score]) => score).sort((a, b) => b[1] - a[1]).flatMap(([name, score]) => [
    h("dt", {}, name),
    h("dd", {}, h("div", { class: "bar" }, h("i", { width: `${(100 * Math.max(0, score)) / largest}%` }))),
    h("dd", { class: "points" }, score.toFixed(2)),
  ]);
  const pairTexts = selectDistinct(best).map(({ query, document }) => t("why.pair", { query, document }));
  return [
    h("p", { class: "because", dir: "auto" }, best.length ? t("why.sentence", { pairs: joinList(pairTexts) }) : t("why.whole")),
    h("details", {}, h("summary", {}, t("why.details")),
      best.length ? h("h3", {}, t("why.met")) : null,
      best.length ? drawAlignment(best, result.lang) : null,
      h("dl", { class: "parts", "aria-label": t("why.parts") }, rows),
      h("p", { class: "soft sum" }, t("why.points", { n: why.score.toFixed(2) }), "; ",
        t(why.parts.some((part) => part.approximate) ? "why.rough" : "why.exact"))),
  ];
}

// Each pair of words once, with the sum of its scores from all sources.
function selectStrongest(pairs) {
  const sums = new Map();
  for (const pair of pairs) {
    const key = `${pair.query}\t${pair.document}`;
    const sum = sums.get(key) || { ...pair, score: 0, sources: new Set() };
    sum.score += pair.score;
    sum.sources.add(pair.source);
    sums.set(key, sum);
  }
  const maxScore = Math.max(0, ...[...sums.values()].map((pair) => pair.score));
  return [...sums.values()].filter((pair) => pair.score >= MIN_SHARE * maxScore).sort((a, b) => b.score - a.score).slice(0, MAX_PAIRS);
}

// The strongest pairs in which no word comes twice.
function selectDistinct(pairs) {
  const usedWords = new Set();
  const distinct = pairs.filter(({ query, document }) => {
    const words = [`query ${query}`, `document ${document}`];
    if (words.some((word) => usedWords.has(word))) return false;
    words.forEach((word) => usedWords.add(word));
    return true;
  });
  return distinct.slice(0, MAX_PAIRS_IN_SENTENCE);
}

function drawAlignment(pairs, lang) {
  const left = [...new Set(pairs.map((pair) => pair.query))];
  const right = [...new Set(pairs.map((pair) => pair.document))];
  const height = Math.max(left.length, right.length) * ROW_HEIGHT;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.style.height = `${height}px`;
  svg.setAttribute("viewBox", `0 0 100 ${height}`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", pairs.map((pair) => `${pair.query}: ${pair.document}`).join("; "));
  pairs.forEach((pair) => {
    const from = (left.indexOf(pair.query) + 0.5) * ROW_HEIGHT, to = (right.indexOf(pair.document) + 0.5) * ROW_HEIGHT;
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("d", `M6 ${from} C 50 ${from}, 50 ${to}, 94 ${to}`);
    line.setAttribute("stroke-width", 1 + 4 * (pair.score / pairs[0].score));
    line.setAttribute("stroke-opacity", 0.35 + 0.65 * (pair.score / pairs[0].score));
    line.setAttribute("vector-effect", "non-scaling-stroke");
    const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    const sources = [...pair.sources].map(sourceName).join(", ");
    title.textContent = `${pair.query} – ${pair.document}: ${pair.score.toFixed(3)} (${sources})`;
    line.append(title);
    svg.append(line);
  });
  return h("div", { class: "align" },
    h("ul", {}, left.map((word) => h("li", { dir: "auto" }, word))), svg,
    h("ul", { lang }, right.map((word) => h("li", { dir: "auto" }, word))));
}
