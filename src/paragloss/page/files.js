// Files on their way into the collection: first sent, then read and indexed; both halves of the bar are true.
import { address, headers, sentence, told } from "./api.js";
import { $, h } from "./dom.js";
import { t } from "./strings.js";

let queue = Promise.resolve();

export function listen(state, show, changed) {
  let inside = 0;
  const carries = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  addEventListener("dragenter", (event) => { if (carries(event)) { inside++; $("dropping").hidden = false; event.preventDefault(); } });
  addEventListener("dragleave", (event) => { if (carries(event) && --inside <= 0) { inside = 0; $("dropping").hidden = true; } });
  addEventListener("dragover", (event) => { if (carries(event)) event.preventDefault(); });
  addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault();
    inside = 0;
    $("dropping").hidden = true;
    add([...event.dataTransfer.files]);
  });
  $("file").addEventListener("change", (event) => { add([...event.target.files]); event.target.value = ""; });

  function add(files) {
    if (!files.length) return;
    show();
    for (const file of files) {
      const bar = h("progress", { max: 1, value: 0, "aria-label": file.name });
      const said = h("div", { class: "soft" }, t("files.waiting"));
      $("uploads").append(h("li", {}, h("strong", {}, file.name), bar, said));
      queue = queue.then(() => upload(file, bar, said, state())).then(changed);
    }
  }
}

function upload(file, bar, said, state) {
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
      if (last?.indexed && !last.done) {
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
      said.replaceChildren(t("files.added", { n: last.indexed }), last.failed ? `, ${t("files.leftOut", { n: last.failed })}` : "", ...told(last.errors?.[0]));
      resolve();
    };
    const form = new FormData();
    form.append("file", file);
    request.send(form);
  });
}
