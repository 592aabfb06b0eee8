// Files on their way into the collection: first sent, then read and indexed; both halves of the bar are true.
import { address, headers, sentence, told } from "./api.js";
import { $, h } from "./dom.js";
import { nameOf } from "./languages.js";
import { t } from "./strings.js";

// Files that wait, and whether somebody has said to stop.
let waiting = [], running = false, stopped = false;

export function listen(state, show, changed) {
  let inside = 0;
  const carries = (event) => document.body.classList.contains("writable") && [...(event.dataTransfer?.types || [])].includes("Files");
  addEventListener("dragenter", (event) => { if (carries(event)) { inside++; $("dropping").hidden = false; event.preventDefault(); } });
  addEventListener("dragleave", (event) => { if (carries(event) && --inside <= 0) { inside = 0; $("dropping").hidden = true; } });
  addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    inside = 0;
    $("dropping").hidden = true;
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.some((entry) => entry.isDirectory)) Promise.all(entries.map((entry) => inside(entry, ""))).then((found) => add(found.flat()));
    else add([...event.dataTransfer.files].map((file) => ({ file, folder: "" })));
  });
  for (const input of [$("file"), $("folder")]) {
    input.addEventListener("change", () => {
      add([...input.files].map((file) => ({ file, folder: file.webkitRelativePath.split("/").slice(0, -1).join("/") })));
      input.value = "";
    });
  }
  $("stop").addEventListener("click", () => { stopped = !stopped; told_(); next(); });

  function add(found) {
    const files = found.filter(({ file }) => !file.name.startsWith("."));
    if (!files.length) return;
    show();
    for (const { file, folder } of files) {
      const name = folder ? `${folder}/${file.name}` : file.name;
      const bar = h("progress", { max: 1, value: 0, "aria-label": name });
      const said = h("div", { class: "soft" }, t("files.waiting"));
      $("uploads").append(h("li", {}, h("strong", { dir: "auto" }, name), bar, said));
      waiting.push({ file, folder, bar, said });
    }
    told_();
    next();
  }

  async function next() {
    if (running || stopped) return;
    running = true;
    while (waiting.length && !stopped) {
      const { file, folder, bar, said } = waiting.shift();
      await upload(file, folder, bar, said, state());
    }
    running = false;
    told_();
    await changed();
  }
}

function told_() {
  $("stop").hidden = !waiting.length;
  $("stop").textContent = t(stopped ? "files.goOn" : "files.stop");
}

// The files of a folder that was dropped, and of those within it.
async function inside(entry, folder) {
  if (entry.isFile) return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder }];
  const reader = entry.createReader(), found = [];
  for (;;) {
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!some.length) return found;
    for (const one of some) found.push(...(await inside(one, folder ? `${folder}/${entry.name}` : entry.name)));
  }
}

function upload(file, folder, bar, said, state) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address("files", { collection: state.collection }));
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    const lines = () => request.responseText.split("\n").slice(0, -1).map((line) => JSON.parse(line));
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.value = 0.5 * (event.loaded / event.total);
      said.textContent = event.loaded < event.total ? t("files.sending") : t("files.reading");
    };
    request.onprogress = () => {
      const last = request.status === 200 ? lines().at(-1) : null;
      if (last?.pages) {
        bar.value = 0.5 + 0.5 * (last.page / last.pages);
        said.textContent = t("files.page", { n: last.page, of: last.pages });
      } else if (last?.indexed && !last.done) {
        bar.value = 0.5 + 0.5 * (last.of ? last.indexed / last.of : 0.5);
        said.textContent = t("files.soFar", { n: last.indexed });
      }
    };
    const fail = (words, detail = "") => {
      bar.remove();
      said.className = "bad";
      said.replaceChildren(words, ...told(detail));
      resolve();
    };
    request.onerror = () => fail(t("error.offline"));
    request.onload = () => {
      let last;
      try {
        last = request.status === 200 ? lines().at(-1) : JSON.parse(request.responseText);
      } catch {
        last = { error: " " };
      }
      if (last?.error) return fail(request.status === 200 ? t("files.failed", { name: file.name }) : sentence("files", request.status), last.error);
      bar.value = 1;
      const kind = /\.([a-z0-9]{1,5})$/i.exec(file.name)?.[1].toUpperCase();
      const what = [kind, ...Object.keys(last.langs).map(nameOf)].filter(Boolean).map((part) => ` · ${part}`).join("");
      said.replaceChildren(t("files.added", { n: last.indexed }), what, last.failed ? `, ${t("files.leftOut", { n: last.failed })}` : "", ...told(last.errors?.[0]));
      resolve();
    };
    const form = new FormData();
    form.append("file", file);
    form.append("folder", folder);
    form.append("modified", file.lastModified / 1000);
    request.send(form);
  });
}
