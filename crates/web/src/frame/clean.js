// Renames elements in HTML that an artifact must not have: those that open another document, because its scripts would run without the
// guard (guard.js), and links, because browsers look up the hosts of `preconnect` whatever the policy says.
//
// The artifact's scripts can replace every function of the page. What runs after them uses operators, and functions that were taken before.
const { apply } = Reflect;
const { slice } = String.prototype;

/** The names of these elements, in lower and upper case. */
const REFUSED = [
  { lower: "iframe", upper: "IFRAME" }, { lower: "frame", upper: "FRAME" }, { lower: "frameset", upper: "FRAMESET" },
  { lower: "fencedframe", upper: "FENCEDFRAME" }, { lower: "portal", upper: "PORTAL" }, { lower: "object", upper: "OBJECT" },
  { lower: "embed", upper: "EMBED" }, { lower: "link", upper: "LINK" },
];
const LINK = REFUSED[7];

/** Whether a character can be a part of a tag's name. */
function isOfName(sign) {
  return sign !== "<" && sign !== ">" && sign !== "/" && sign !== " " && sign !== "\t" && sign !== "\n" && sign !== "\f" && sign !== "\r";
}

/** Whether a tag's name at this position is that of an element, in any case. */
function isAt(text, at, name) {
  const lower = name.lower;
  const upper = name.upper;
  if (at + lower.length > text.length) return false;
  for (let sign = 0; sign < lower.length; sign += 1) {
    if (text[at + sign] !== lower[sign] && text[at + sign] !== upper[sign]) return false;
  }
  const end = at + lower.length;
  return end === text.length || !isOfName(text[end]);
}

/** Whether a tag's name at this position is that of an element that is refused. */
function isRefused(text, at) {
  for (let index = 0; index < REFUSED.length; index += 1) {
    if (isAt(text, at, REFUSED[index])) return true;
  }
  return false;
}

/** Returns where the name is without its prefix, which XML allows: `<h:iframe xmlns:h="…">`. */
function afterPrefix(text, at) {
  let end = at;
  while (end < text.length && isOfName(text[end]) && text[end] !== ":") end += 1;
  return end < text.length && text[end] === ":" ? end + 1 : at;
}

/** Returns HTML or XML in which the elements have other names. */
function cleaned(text) {
  let clean = "";
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== "<") continue;
    const name = at + 1 < text.length && text[at + 1] === "/" ? at + 2 : at + 1;
    if (!isRefused(text, name) && !isRefused(text, afterPrefix(text, name))) continue;
    // `meta` has no content, like `link`, and stays in the head.
    clean += apply(slice, text, [from, name]) + (isAt(text, name, LINK) ? "meta data-x-" : "x-");
    from = name;
  }
  clean += apply(slice, text, [from, text.length]);
  // The next text that is written must not complete the name of a tag: `<ifr` and `ame>`.
  let end = clean.length;
  while (end > 0 && (isOfName(clean[end - 1]) || clean[end - 1] === "/")) end -= 1;
  return end > 0 && clean[end - 1] === "<" ? clean + " " : clean;
}
