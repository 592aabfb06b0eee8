// The collection as points in a plane, coloured by language.
import { ask } from "./api.js";
import * as chips from "./chips.js";
import { $, h } from "./dom.js";
import { hue, nameOf } from "./languages.js";
import { t } from "./strings.js";

// More can hardly be told apart, and drawing should not keep anyone waiting.
const MOST = 1200;
let shown = null, hidden = new Set(), near = null, watching = null;

export async function load(state, go) {
  const about = $("map-about"), canvas = $("map"), frame = canvas.parentElement;
  about.textContent = t("map.drawing");
  near = null;
  try {
    shown = await ask("map", { collection: state.collection, points: MOST });
  } catch (error) {
    about.textContent = error.message;
    frame.hidden = true;
    return;
  }
  frame.hidden = !shown.points.length;
  const all = { documents: t("documents", { n: shown.documents }), n: shown.points.length };
  about.textContent = !all.n ? t("map.empty") : t(all.n < shown.documents ? "map.some" : "map.all", all);
  legend();
  canvas.onpointermove = (event) => aim(at(event, canvas), canvas);
  canvas.onpointerleave = () => aim(null, canvas);
  canvas.onblur = () => aim(null, canvas);
  const search = () => near && go({ view: "search", q: near.title, lang: near.lang, to: [] });
  // A click is told to the pixel, a movement finer: what was pointed at is meant.
  canvas.onclick = (event) => { if (!near) aim(at(event, canvas), canvas); search(); };
  canvas.onkeydown = (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (way) { event.preventDefault(); aim(beyond(way, canvas), canvas); }
    else if (event.key === "Enter") search();
    else if (event.key === "Escape") aim(null, canvas);
  };
  watching ??= new ResizeObserver(() => draw(canvas));
  watching.observe(canvas);
  draw(canvas);
}

function legend() {
  const counts = new Map();
  for (const { lang } of shown.points) counts.set(lang, (counts.get(lang) || 0) + 1);
  const rows = [...counts].sort((a, b) => b[1] - a[1]).map(([code, count]) => ({
    code, count, on: !hidden.has(code), stays: hidden.has(code), title: t(hidden.has(code) ? "map.show" : "map.hide", { lang: nameOf(code) }),
    toggle: () => {
      if (!hidden.delete(code)) hidden.add(code);
      legend();
      draw($("map"));
    } }));
  chips.fill($("legend"), rows);
}

const PAD = 22;
const place = (canvas, { x, y }) => [PAD + x * (canvas.clientWidth - 2 * PAD), PAD + (1 - y) * (canvas.clientHeight - 2 * PAD)];
const visible = () => shown.points.filter((some) => !hidden.has(some.lang));

function draw(canvas) {
  if (!shown || !canvas.clientWidth) return;
  const scale = devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  const many = visible();
  const radius = Math.max(2.2, Math.min(4.5, 90 / Math.sqrt(many.length || 1)));
  for (const some of many) {
    const [x, y] = place(canvas, some);
    pen.globalAlpha = near && near !== some ? 0.5 : 0.8;
    pen.fillStyle = hue(some.lang);
    pen.beginPath();
    pen.arc(x, y, radius, 0, 7);
    pen.fill();
  }
  if (!near) return;
  const [x, y] = place(canvas, near);
  pen.globalAlpha = 1;
  pen.fillStyle = hue(near.lang);
  pen.strokeStyle = getComputedStyle(canvas).color;
  pen.lineWidth = 2;
  pen.beginPath();
  pen.arc(x, y, radius + 3, 0, 7);
  pen.fill();
  pen.stroke();
}

function at(event, canvas) {
  const box = canvas.getBoundingClientRect();
  const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
  let best = 14 ** 2, found = null;
  for (const some of visible()) {
    const [x, y] = place(canvas, some);
    const apart = (x - mx) ** 2 + (y - my) ** 2;
    if (apart < best) [best, found] = [apart, some];
  }
  return found;
}

// The nearest point in a direction; what lies aside counts as further. The first key takes the middle.
function beyond([dx, dy], canvas) {
  const [cx, cy] = near ? place(canvas, near) : [canvas.clientWidth / 2, canvas.clientHeight / 2];
  let best = Infinity, found = near;
  for (const some of visible()) {
    if (some === near) continue;
    const [x, y] = place(canvas, some);
    const along = (x - cx) * dx + (y - cy) * dy, aside = Math.abs((x - cx) * dy) + Math.abs((y - cy) * dx);
    const apart = near ? (along > 0.5 ? along + 2 * aside : Infinity) : Math.hypot(x - cx, y - cy);
    if (apart < best) [best, found] = [apart, some];
  }
  return found;
}

function aim(found, canvas) {
  if (found === near) return;
  near = found;
  tip(canvas);
  draw(canvas);
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
