// Shows a page that an agent wrote, on the page of a shared file; see app/src/shared/file.rs. It runs in a frame with an opaque origin
// that reaches nothing (crates/web/src/frame), which says when it is ready and is sent the page.
//
// The element `.cw-shared-frame` has the address of the file, the name of the frame, and the texts for when the page cannot be shown.

/** The document of the frame, for visitors as well. */
const FRAME = "/shared/frame";

const place = document.querySelector(".cw-shared-frame");
const { content, title, unsafe, failed } = place.dataset;

function note(text) {
  const line = document.createElement("p");
  line.className = "cw-shared-note";
  line.role = "status";
  line.textContent = text;
  place.replaceChildren(line);
}

const frame = document.createElement("iframe");
// Before the address.
frame.setAttribute("sandbox", "allow-scripts");
frame.referrerPolicy = "no-referrer";
frame.title = title;

const loaded = fetch(content).then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(`status ${answer.status}`))));

addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow) return;
  // The frame has an opaque origin, for which there is no other address than `*`; only its own document is ever in it.
  if (data?.artifactFrame === "ready") loaded.then((html) => source.postMessage({ html, title }, "*"), () => {});
  if (data?.artifactFrame === "unsupported") note(unsafe);
});
loaded.catch(() => note(failed));
frame.src = FRAME;
place.replaceChildren(frame);
