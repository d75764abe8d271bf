// Shows PDF files with pdf.js. Loaded with the first file that is shown; see app/src/ui/pdf.rs.
//
// <cw-pdf src="…"> lays out all pages as wide as there is room, and draws those that are near the viewport. Above each drawn page lies
// its text, transparent, for selection, search in the page and screen readers. Scripts, forms and links of a file are not run.
//
// Attributes: `src`, an address of this server; `page`, the number of the page that is scrolled to; `quote`, the words that are marked
// on it; and the texts `data-page` ("Page {1} of {2}"), `data-loading`, `data-failed`, `data-locked` and `data-rest`. Once the words
// are marked, the element has the attribute `data-marked`; an event "cw-pdf-failed" says that the file cannot be shown.

/** Files with more pages end with a note, in pages. */
const MAX_PAGES = 2_000;
/** Larger images within a file are left out, in pixels. */
const MAX_IMAGE_PIXELS = 64 * 1024 * 1024;
/** A canvas has at most this many pixels. */
const MAX_CANVAS_PIXELS = 8 * 1024 * 1024;
/** The width to which pages are enlarged at most, as a multiple of their size on paper. */
const MAX_SCALE = 2;
/** How long a change of the width is waited out before the pages are drawn again, in milliseconds. */
const RESIZE_MS = 200;
/** The pages this far from the viewport are drawn. */
const NEAR = "100% 0%";
/** The beginning of a quote that is looked for at least, in letters. */
const MIN_QUOTE = 20;
const HIGHLIGHT = "cw-pdf-quote";

const STYLE = `
:host { display: block; color: var(--cw-text-quiet, inherit); }
p { margin: 0; padding-block: 1rem; text-align: center; }
.page { position: relative; margin: 0 auto 0.75rem; background: #fff; box-shadow: 0 0 0 1px rgb(0 0 0 / 0.15); overflow: clip; }
canvas { display: block; inline-size: 100%; block-size: 100%; }
.text { position: absolute; inset: 0; overflow: clip; line-height: 1; text-align: initial; color-scheme: only light;
  transform-origin: 0 0; forced-color-adjust: none; --min-font-size: 1;
  --text-scale-factor: calc(var(--total-scale-factor) * var(--min-font-size)); --min-font-size-inv: calc(1 / var(--min-font-size)); }
.text :is(span, br) { position: absolute; color: transparent; white-space: pre; cursor: text; transform-origin: 0 0; }
.text > span { --font-height: 0; --scale-x: 1; --rotate: 0deg; font-size: calc(var(--text-scale-factor) * var(--font-height));
  transform: rotate(var(--rotate)) scaleX(var(--scale-x)) scale(var(--min-font-size-inv)); }
.text ::selection { background: rgb(0 90 200 / 0.3); }
.text ::highlight(${HIGHLIGHT}) { background: rgb(255 200 0 / 0.45); }
`;

let library;

/** Loads pdf.js. */
function load() {
  library ??= import("./pdf/pdf.min.mjs").then((pdfjs) => {
    pdfjs.GlobalWorkerOptions.workerSrc = new URL("./pdf/pdf.worker.min.mjs", import.meta.url).href;
    return pdfjs;
  });
  library.catch(() => { library = undefined; });
  return library;
}

/** Reads a file. */
async function read(src, signal) {
  const [pdfjs, answer] = await Promise.all([load(), fetch(src, { signal })]);
  if (!answer.ok) throw new Error(`status ${answer.status}`);
  const folder = (name) => new URL(`./pdf/${name}/`, import.meta.url).href;
  return pdfjs.getDocument({
    data: await answer.arrayBuffer(),
    cMapUrl: folder("cmaps"),
    standardFontDataUrl: folder("fonts"),
    wasmUrl: folder("wasm"),
    maxImageSize: MAX_IMAGE_PIXELS,
    verbosity: pdfjs.VerbosityLevel.ERRORS,
  });
}

/** Returns what is compared of a text and a quote: without spaces, hyphens and other signs, ligatures and case. */
const letters = (text) => text.normalize("NFKC").replace(/[^\p{L}\p{M}\p{N}]/gu, "").toLowerCase();

/** Returns the range of a quote in the text of a page, or of its beginning, if it goes on on the next page. */
function findQuote(root, quote) {
  let wanted = letters(quote);
  if (!wanted) return undefined;
  let text = "";
  /** The node and offset of each letter. */
  const places = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    let offset = 0;
    for (const sign of walker.currentNode.data) {
      const own = letters(sign);
      text += own;
      for (let count = 0; count < own.length; count += 1) places.push([walker.currentNode, offset, offset + sign.length]);
      offset += sign.length;
    }
  }
  let at = text.indexOf(wanted);
  while (at < 0 && wanted.length >= 2 * MIN_QUOTE) {
    wanted = wanted.slice(0, wanted.length / 2);
    at = text.indexOf(wanted);
  }
  if (at < 0) return undefined;
  const [first, last] = [places[at], places[at + wanted.length - 1]];
  const range = document.createRange();
  range.setStart(first[0], first[1]);
  range.setEnd(last[0], last[2]);
  return range;
}

/** A page of a file. */
class Page {
  constructor(view, number, size) {
    this.view = view;
    this.number = number;
    this.element = document.createElement("div");
    this.element.className = "page";
    this.element.setAttribute("role", "group");
    this.resize(size);
  }

  /** Sets the size on paper, in CSS pixels. */
  resize(size) {
    this.size = size;
    this.element.style.maxInlineSize = `${size.width * MAX_SCALE}px`;
    this.element.style.aspectRatio = `${size.width} / ${size.height}`;
  }

  /** Draws the page, unless it is drawn at this width. */
  async draw() {
    if (this.width === this.element.clientWidth) return;
    this.clear();
    const { pdf, pdfjs } = this.view;
    const drawing = (this.drawing = { cancel() {} });
    // A page that cannot be read stays blank; the file may have been closed by now.
    const page = await pdf.getPage(this.number).catch(() => undefined);
    if (!page || this.drawing !== drawing) return;
    this.resize(page.getViewport({ scale: 1 }));
    this.width = this.element.clientWidth;
    const viewport = page.getViewport({ scale: this.width / this.size.width });
    const sharpness = Math.min(devicePixelRatio, Math.sqrt(MAX_CANVAS_PIXELS / (viewport.width * viewport.height)));
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.floor(viewport.width * sharpness));
    canvas.height = Math.max(1, Math.floor(viewport.height * sharpness));
    const task = page.render({ canvas, viewport, transform: [sharpness, 0, 0, sharpness, 0, 0] });
    const container = document.createElement("div");
    container.className = "text";
    container.style.setProperty("--total-scale-factor", viewport.scale);
    const text = new pdfjs.TextLayer({ textContentSource: page.streamTextContent(), container, viewport });
    drawing.cancel = () => {
      task.cancel();
      text.cancel();
    };
    // A page that cannot be drawn, or was left, is blank; its text may still be there.
    await Promise.allSettled([task.promise, text.render()]);
    if (this.drawing !== drawing) return;
    this.element.replaceChildren(canvas, container);
    page.cleanup();
    if (this.number === this.view.shownPage) this.view.mark(container);
  }

  /** Removes what is drawn, which takes memory. */
  clear() {
    this.drawing?.cancel();
    this.drawing = this.width = undefined;
    this.element.replaceChildren();
  }
}

class PdfView extends HTMLElement {
  static observedAttributes = ["src", "page", "quote"];

  constructor() {
    super();
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    this.attachShadow({ mode: "open" }).adoptedStyleSheets = [sheet];
    this.pages = [];
  }

  connectedCallback() {
    this.attributeChangedCallback();
  }

  disconnectedCallback() {
    this.close();
    this.src = undefined;
  }

  attributeChangedCallback() {
    if (!this.isConnected || this.isPlanned) return;
    this.isPlanned = true;
    // Several attributes may change at once.
    queueMicrotask(() => {
      this.isPlanned = false;
      if (!this.isConnected) return;
      if (this.getAttribute("src") === this.src) this.show();
      else this.open();
    });
  }

  /** The number of the page that is scrolled to. */
  get shownPage() {
    return Number(this.getAttribute("page")) || 1;
  }

  /** Returns one of the texts that the app gives. */
  words(name, ...values) {
    return values.reduce((text, value, at) => text.replace(`{${at + 1}}`, value), this.dataset[name] ?? "");
  }

  note(text, role) {
    const note = document.createElement("p");
    note.textContent = text;
    note.setAttribute("role", role);
    return note;
  }

  close() {
    this.request?.abort();
    this.near?.disconnect();
    this.sizes?.disconnect();
    clearTimeout(this.timer);
    for (const page of this.pages) page.clear();
    this.pages = [];
    CSS.highlights?.delete(HIGHLIGHT);
    this.task?.destroy();
    this.task = this.pdf = undefined;
    this.removeAttribute("data-marked");
  }

  /** Reads the file and lays out its pages. */
  async open() {
    this.close();
    this.src = this.getAttribute("src");
    if (!this.src) return this.shadowRoot.replaceChildren();
    const request = (this.request = new AbortController());
    this.shadowRoot.replaceChildren(this.note(this.words("loading"), "status"));
    try {
      const task = await read(this.src, request.signal);
      if (request.signal.aborted) return void task.destroy();
      this.task = task;
      const pdf = await task.promise;
      const first = (await pdf.getPage(1)).getViewport({ scale: 1 });
      const pdfjs = await load();
      if (request.signal.aborted) return;
      Object.assign(this, { pdf, pdfjs });
      this.layOut(first);
    } catch (error) {
      if (request.signal.aborted) return;
      this.shadowRoot.replaceChildren(this.note(this.words(error?.name === "PasswordException" ? "locked" : "failed"), "alert"));
      this.dispatchEvent(new Event("cw-pdf-failed"));
    }
  }

  /** Shows empty pages of the size of the first one. Each gets its own size when it is drawn. */
  layOut(size) {
    const count = Math.min(this.pdf.numPages, MAX_PAGES);
    this.pages = Array.from({ length: count }, (_, at) => new Page(this, at + 1, size));
    const rest = this.pdf.numPages > count ? [this.note(this.words("rest"), "note")] : [];
    for (const page of this.pages) page.element.setAttribute("aria-label", this.words("page", page.number, this.pdf.numPages));
    this.shadowRoot.replaceChildren(...this.pages.map((page) => page.element), ...rest);
    const pages = new Map(this.pages.map((page) => [page.element, page]));
    const near = new Set();
    this.near = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const page = pages.get(target);
        if (isIntersecting) near.add(page);
        else near.delete(page);
        if (isIntersecting) page.draw();
        else page.clear();
      }
    }, { rootMargin: NEAR, scrollMargin: NEAR });
    for (const page of this.pages) this.near.observe(page.element);
    this.sizes = new ResizeObserver(() => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => near.forEach((page) => page.draw()), RESIZE_MS);
    });
    this.sizes.observe(this);
    this.show();
  }

  /** Scrolls to the page that is asked for, and marks the words on it. */
  show() {
    CSS.highlights?.delete(HIGHLIGHT);
    this.removeAttribute("data-marked");
    const page = this.pages[this.shownPage - 1];
    if (!page) return;
    if (this.hasAttribute("page")) page.element.scrollIntoView({ block: "start" });
    const text = page.element.querySelector(".text");
    if (text) this.mark(text);
  }

  /** Marks the quoted words in the text of the page that is asked for. */
  mark(text) {
    const found = findQuote(text, this.getAttribute("quote") ?? "");
    if (!found || !CSS.highlights) return;
    const isFirst = !this.hasAttribute("data-marked");
    CSS.highlights.set(HIGHLIGHT, new Highlight(found));
    this.setAttribute("data-marked", "");
    // Not when the page is drawn again while it is read.
    if (isFirst) found.startContainer.parentElement.scrollIntoView({ block: "center" });
  }
}

customElements.define("cw-pdf", PdfView);
