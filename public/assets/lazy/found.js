// Highlights the words of a search in the message that was found, with the CSS Custom Highlight API, which does not change the DOM.
// Loaded when the first search result is opened; see app/src/agent_conversations/highlight.rs.

const NAME = "cw-found";
/** The maximum number of highlighted places. */
const MAX_RANGES = 200;

/** Returns a range for each occurrence of a word, ignoring case. */
function findRanges(root, words) {
  const ranges = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < MAX_RANGES) {
    const node = walker.currentNode;
    // If the lower-case text has another length, its offsets do not match the node's, so the node is skipped.
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0 && ranges.length < MAX_RANGES; at = text.indexOf(word, at + word.length)) {
        ranges.push(new StaticRange({ startContainer: node, startOffset: at, endContainer: node, endOffset: at + word.length }));
      }
    }
  }
  return ranges;
}

function show() {
  const message = document.querySelector("[data-found]");
  const body = message?.querySelector(".cw-message-body");
  if (!body) return void CSS.highlights.delete(NAME);
  const words = JSON.parse(message.dataset.found).map((word) => word.toLowerCase()).filter(Boolean);
  const found = new Highlight(...findRanges(body, words));
  CSS.highlights.set(NAME, found);
}

if (globalThis.CSS?.highlights && globalThis.Highlight && globalThis.StaticRange) {
  new MutationObserver(show).observe(document.body, { subtree: true, attributeFilter: ["data-found"] });
  show();
}
