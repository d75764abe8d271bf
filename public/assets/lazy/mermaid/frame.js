// Renders diagrams in the sandboxed iframe of ../diagram.js. A request is the message {number, text, dark}; the response is
// {number, svg, width, height}, without `svg` if the text is not a valid diagram.

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
    // Labels are SVG text: browsers do not show HTML labels of an SVG in an <img>.
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
