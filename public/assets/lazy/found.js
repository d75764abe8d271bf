// Highlights the words of a search in the message that was found. The colours are ranges over the text (CSS.highlights), so that the
// document stays as it was rendered. Loaded with the first search result that is opened; see app/src/agent_conversations/highlight.rs.

const NAME = "cw-found";
const MOST = 200;

/** Ranges over every place of a word, without regard to case. */
function places(root, words) {
  const ranges = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  while (walker.nextNode() && ranges.length < MOST) {
    const node = walker.currentNode;
    // Letters whose lower case is longer would move what follows: there nothing is marked.
    const text = node.data.toLowerCase();
    if (text.length !== node.data.length) continue;
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0 && ranges.length < MOST; at = text.indexOf(word, at + word.length)) {
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
  const found = new Highlight(...places(body, words));
  CSS.highlights.set(NAME, found);
}

if (globalThis.CSS?.highlights && globalThis.Highlight && globalThis.StaticRange) {
  new MutationObserver(show).observe(document.body, { subtree: true, attributeFilter: ["data-found"] });
  show();
}
