// The collection as points in a plane, coloured by language.
import { ask } from "./api.js";
import { $, h, plural } from "./dom.js";
import { hue, known, nameOf } from "./languages.js";

let shown = null, hidden = new Set(), near = null;

export async function load(state, go) {
  const about = $("map-about");
  about.textContent = "Drawing …";
  try {
    shown = await ask("map", { collection: state.collection });
  } catch (error) {
    about.textContent = error.message;
    return;
  }
  const many = shown.points.length < shown.documents ? `, ${plural(shown.points.length, "of them")} shown` : "";
  about.textContent = shown.points.length
    ? `${plural(shown.documents, "document")}${many}; near each other where they say similar things. Click one to search near it.`
    : "There is nothing to draw yet: add some files first.";
  const langs = [...new Set(shown.points.map((point) => point.lang))].sort();
  known(langs);
  $("legend").replaceChildren(...langs.map(legend));
  const canvas = $("map");
  canvas.onpointermove = (event) => point(event, canvas);
  canvas.onpointerleave = () => { near = null; tip(); draw(canvas); };
  canvas.onclick = (event) => {
    point(event, canvas);
    if (near) go({ view: "search", q: near.title, lang: near.lang, to: [] });
  };
  new ResizeObserver(() => draw(canvas)).observe(canvas);
  draw(canvas);
}

function legend(lang) {
  const chip = h("button", { type: "button", class: "chip", "aria-pressed": "false", title: "Hide or show" },
    h("span", { class: "dot", "--hue": hue(lang) }), nameOf(lang));
  chip.addEventListener("click", () => {
    if (hidden.has(lang)) hidden.delete(lang);
    else hidden.add(lang);
    chip.style.opacity = hidden.has(lang) ? "0.45" : "";
    chip.setAttribute("aria-pressed", String(hidden.has(lang)));
    draw($("map"));
  });
  return chip;
}

const PAD = 22;
const place = (canvas, { x, y }) => [PAD + x * (canvas.clientWidth - 2 * PAD), PAD + (1 - y) * (canvas.clientHeight - 2 * PAD)];

function draw(canvas) {
  if (!shown || !canvas.clientWidth) return;
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const radius = shown.points.length > 800 ? 2.6 : 4;
  for (const some of shown.points) {
    if (hidden.has(some.lang)) continue;
    const [x, y] = place(canvas, some);
    pen.globalAlpha = near && near !== some ? 0.55 : 0.85;
    pen.fillStyle = hue(some.lang);
    pen.beginPath();
    pen.arc(x, y, some === near ? radius * 1.9 : radius, 0, 7);
    pen.fill();
  }
}

function point(event, canvas) {
  const box = canvas.getBoundingClientRect();
  const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
  let best = 14 ** 2, found = null;
  for (const some of shown.points) {
    if (hidden.has(some.lang)) continue;
    const [x, y] = place(canvas, some);
    const apart = (x - mx) ** 2 + (y - my) ** 2;
    if (apart < best) [best, found] = [apart, some];
  }
  if (found !== near) {
    near = found;
    tip(canvas);
    draw(canvas);
  }
}

function tip(canvas) {
  const box = $("gloss");
  box.hidden = !near;
  if (!near) return;
  box.replaceChildren(h("b", { lang: near.lang, dir: "auto" }, near.title), h("p", { class: "sure" }, nameOf(near.lang)));
  const frame = canvas.getBoundingClientRect();
  const [x, y] = place(canvas, near);
  const left = Math.min(frame.left + x + 12, document.documentElement.clientWidth - box.offsetWidth - 8);
  box.style.left = `${Math.max(8, left) + scrollX}px`;
  box.style.top = `${frame.top + y + 12 + scrollY}px`;
}
