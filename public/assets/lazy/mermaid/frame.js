// In the frame that draws diagrams; see ../diagram.js. It is asked with {number, text, dark} and answers with {number, svg, width, height},
// without `svg` when the text is no diagram.

const FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif';

function configure(dark) {
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    suppressErrorRendering: true,
    look: "classic",
    theme: dark ? "dark" : "neutral",
    fontFamily: FONT,
    maxTextSize: 20_000,
    maxEdges: 300,
    // Words as text of the drawing: HTML in it would not be shown in an image.
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false },
    class: { htmlLabels: false },
  });
}

addEventListener("message", async ({ data, source }) => {
  if (source !== parent) return;
  const { number, text, dark } = data;
  try {
    configure(dark);
    const { svg } = await mermaid.render(`diagram-${number}`, text);
    const drawn = new DOMParser().parseFromString(svg, "text/html").querySelector("svg");
    const [, , width, height] = (drawn.getAttribute("viewBox") ?? "0 0 0 0").split(/[\s,]+/).map(Number);
    drawn.setAttribute("width", width);
    drawn.setAttribute("height", height);
    drawn.removeAttribute("style");
    parent.postMessage({ number, svg: new XMLSerializer().serializeToString(drawn), width, height }, "*");
  } catch {
    parent.postMessage({ number }, "*");
  }
});
parent.postMessage({ ready: true }, "*");
