// The outer of the two frames of an artifact. It has no content of its own: the page sends it the artifact, `{html, title}`, which runs in
// the inner frame. The inner one has the policy of this document, and this document decides where the inner one may go: nowhere.
const START = /* the beginning of the inner document */ null;

if (window.trustedTypes) {
  trustedTypes.createPolicy("default", { createHTML: (html) => html });
  let frame;
  addEventListener("message", ({ source, data }) => {
    // Of a key that was pressed in the frame; its page may say so at any time.
    const isPressed = frame && source === frame.contentWindow && document.activeElement === frame;
    if (isPressed && data?.artifactFrame === "escape") parent.postMessage({ artifactFrame: "escape" }, "*");
    if (source !== parent || typeof data?.html !== "string") return;
    frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.title = String(data.title);
    frame.srcdoc = START + cleaned(data.html);
    document.body.replaceChildren(frame);
  });
}
parent.postMessage({ artifactFrame: window.trustedTypes ? "ready" : "unsupported" }, "*");
