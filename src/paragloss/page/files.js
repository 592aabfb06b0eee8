// Adding files: each is sent, then read and indexed; the first half of its bar is for sending, the second for reading.
import { address, describeDetail, headers, sentence } from "./api.js";
import { $, h } from "./dom.js";
import { nameOf } from "./languages.js";
import { t } from "./strings.js";

// Files that wait, whether one is being sent, whether the reader has stopped, and what has been added since the last pause.
let waiting = [], isRunning = false, isStopped = false, totals = null;

// `go` shows a view; `refresh` reads the description of the collection again.
export function listen(getState, go, refresh) {
  listenToDrops((files) => addFiles(files));
  for (const input of [$("file"), $("folder")]) {
    input.addEventListener("change", () => {
      addFiles([...input.files].map((file) => ({ file, folder: file.webkitRelativePath.split("/").slice(0, -1).join("/") })));
      input.value = "";
    });
  }
  $("stop").addEventListener("click", () => { isStopped = !isStopped; updateStopButton(); sendWaiting(); });

  function addFiles(chosen) {
    const files = chosen.filter(({ file }) => !file.name.startsWith("."));
    if (!files.length) return;
    go({ view: "files" });
    for (const { file, folder } of files) {
      const name = folder ? `${folder}/${file.name}` : file.name;
      const bar = h("progress", { max: 1, value: 0, "aria-label": name });
      const message = h("div", { class: "soft" }, t("files.waiting"));
      const row = h("li", {}, h("strong", { dir: "auto" }, name), bar, message);
      $("uploads").append(row);
      waiting.push({ file, folder, bar, message, row });
    }
    updateStopButton();
    sendWaiting();
  }

  async function sendWaiting() {
    if (isRunning || isStopped) return;
    isRunning = true;
    totals ??= { start: new Date().toISOString().slice(0, 19), indexed: 0, failed: 0, firstFailure: null };
    while (waiting.length && !isStopped) {
      const upload = waiting.shift();
      const { indexed, failed } = await sendFile(upload, getState());
      totals.indexed += indexed;
      totals.failed += failed;
      if (failed) totals.firstFailure ??= upload.row;
      showSummary(go);
    }
    isRunning = false;
    if (!waiting.length) totals = null;
    updateStopButton();
    await refresh();
  }
}

// "10 added, 2 failed": the first opens a search in the new documents, the second goes to the first failure.
function showSummary(go) {
  const { indexed, failed, firstFailure, start } = totals;
  const showNew = () => { go({ view: "search", q: "", lang: "", where: [`added>=${start}`], to: [], k: 10 }); $("q").focus(); };
  const button = (label, onclick) => h("button", { type: "button", class: "link", onclick }, label);
  const parts = [];
  if (indexed) parts.push(button(t("files.added", { n: indexed }), showNew));
  if (failed) parts.push(button(t("files.failedCount", { n: failed }), () => firstFailure.scrollIntoView({ block: "center" })));
  $("added").replaceChildren(...parts.flatMap((part, i) => (i ? [" · ", part] : [part])));
}

function updateStopButton() {
  $("stop").hidden = !waiting.length;
  $("stop").textContent = t(isStopped ? "files.goOn" : "files.stop");
}

// Take files that are dropped anywhere on the page, with the folders that contain them.
function listenToDrops(addFiles) {
  let depth = 0; // elements that the pointer is over
  const hasFiles = (event) => document.body.classList.contains("writable") && [...(event.dataTransfer?.types || [])].includes("Files");
  addEventListener("dragenter", (event) => { if (hasFiles(event)) { depth++; $("dropping").hidden = false; event.preventDefault(); } });
  addEventListener("dragleave", (event) => { if (hasFiles(event) && --depth <= 0) { depth = 0; $("dropping").hidden = true; } });
  addEventListener("dragover", (event) => { if (hasFiles(event)) event.preventDefault(); });
  addEventListener("drop", async (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    $("dropping").hidden = true;
    const files = [...event.dataTransfer.files], entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.some((entry) => entry.isDirectory)) addFiles((await Promise.all(entries.map((entry) => listFiles(entry, "")))).flat());
    else addFiles(files.map((file) => ({ file, folder: "" })));
  });
}

// The files of a dropped folder and of its subfolders.
async function listFiles(entry, folder) {
  if (entry.isFile) return [{ file: await new Promise((resolve, reject) => entry.file(resolve, reject)), folder }];
  const reader = entry.createReader(), files = [];
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return files;
    for (const child of batch) files.push(...(await listFiles(child, folder ? `${folder}/${entry.name}` : entry.name)));
  }
}

// Send one file and show its progress; resolves to {indexed, failed}, counts of documents.
function sendFile({ file, folder, bar, message }, state) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("POST", address("files", { collection: state.collection }));
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    request.upload.onprogress = (event) => {
      if (!event.lengthComputable) return;
      bar.value = 0.5 * (event.loaded / event.total);
      message.textContent = event.loaded < event.total ? t("files.sending") : t("files.reading");
    };
    request.onprogress = () => showProgress(readLastLine(request), bar, message);
    const fail = (text, detail = "") => {
      bar.remove();
      message.className = "bad";
      message.replaceChildren(text, ...describeDetail(detail));
      resolve({ indexed: 0, failed: 1 });
    };
    request.onerror = () => fail(t("error.offline"));
    request.onload = () => {
      const line = readLastLine(request);
      if (line.error) return fail(request.status === 200 ? t("files.failed", { name: file.name }) : sentence("files", request.status), line.error);
      bar.value = 1;
      message.replaceChildren(describeAdded(file, line), ...describeDetail(line.errors?.[0]));
      resolve({ indexed: line.indexed, failed: line.failed });
    };
    const form = new FormData();
    form.append("file", file);
    form.append("folder", folder);
    form.append("modified", file.lastModified / 1000);
    request.send(form);
  });
}

// The last line of progress, or the error; an unreadable answer is an error without a detail.
function readLastLine(request) {
  try {
    return JSON.parse(request.status === 200 ? request.responseText.split("\n").at(-2) : request.responseText);
  } catch {
    return { error: " " };
  }
}

function showProgress(line, bar, message) {
  if (line.pages) {
    bar.value = 0.5 + 0.5 * (line.page / line.pages);
    message.textContent = t("files.page", { n: line.page, of: line.pages });
  } else if (line.indexed && !line.done) {
    bar.value = 0.5 + 0.5 * (line.of ? line.indexed / line.of : 0.5);
    message.textContent = t("files.soFar", { n: line.indexed });
  }
}

function describeAdded(file, line) {
  const kind = /\.([a-z0-9]{1,5})$/i.exec(file.name)?.[1].toUpperCase();
  const details = [kind, ...Object.keys(line.langs).map(nameOf)].filter(Boolean).map((part) => ` · ${part}`).join("");
  return t("files.added", { n: line.indexed }) + details + (line.failed ? `, ${t("files.leftOut", { n: line.failed })}` : "");
}
