// The outer of the two frames of an app (MCP Apps): the sandbox proxy of its specification. The app runs in the inner frame, which has the
// policy of this document; this document decides where the inner one may go: nowhere. It passes on messages, and sends none itself.
const START = /* the beginning of the inner document */ null;
const content = /* the app */ null;

/** Whether a message is of the protocol between apps and hosts. Those to a sandbox proxy are for other hosts. */
function isPassedOn(data) {
  return data?.jsonrpc === "2.0" && !`${data.method}`.startsWith("ui/notifications/sandbox-");
}

if (window.trustedTypes) {
  trustedTypes.createPolicy("default", { createHTML: (html) => html });
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.title = content.title;
  addEventListener("message", ({ source, data }) => {
    if (!isPassedOn(data)) return;
    if (source === parent) frame.contentWindow?.postMessage(data, "*");
    else if (source === frame.contentWindow) parent.postMessage(data, "*");
  });
  frame.srcdoc = START + cleaned(content.html);
  document.body.replaceChildren(frame);
} else {
  parent.postMessage({ artifactFrame: "unsupported" }, "*");
}
