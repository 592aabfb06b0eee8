// Files on their way into the collection: first sent, then read and indexed; both halves of the bar are true.
import { address, headers } from "./api.js";
import { $, h, plural } from "./dom.js";

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
      const said = h("span", { class: "soft" }, "waiting");
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
      said.textContent = event.loaded < event.total ? "sending" : "reading";
    };
    request.onprogress = () => {
      const last = request.status === 200 ? lines().at(-1) : null;
      if (last?.indexed && !last.done) {
        bar.value = 0.5 + 0.5 * (last.of ? last.indexed / last.of : 0.5);
        said.textContent = `${plural(last.indexed, "document")} so far`;
      }
    };
    const fail = (text) => {
      bar.remove();
      said.className = "bad";
      said.textContent = text;
      resolve();
    };
    request.onerror = () => fail("The server does not answer.");
    request.onload = () => {
      let last;
      try {
        last = request.status === 200 ? lines().at(-1) : JSON.parse(request.responseText);
      } catch {
        last = { error: `The server answered ${request.status}.` };
      }
      if (last?.error) return fail(last.error);
      bar.value = 1;
      said.textContent = `${plural(last.indexed, "document")} added` + (last.failed ? `, ${last.failed} left out: ${last.errors[0]}` : "");
      resolve();
    };
    const form = new FormData();
    form.append("file", file);
    request.send(form);
  });
}
