/**
 * Parses JSON whose end is still missing: closes what is open, and drops a key without a value and a literal that is
 * cut off. Returns `undefined` if there is no value yet, or if it is not JSON.
 */
export function parsePartialJson(text: string): unknown {
  const whole = parse(text);
  if (whole !== undefined) return whole;
  /** The closing signs of the open objects and arrays. */
  const open: string[] = [];
  /** Up to here the text is valid once what is open is closed, with the closers of that place. */
  let valid = 0;
  let closers = "";
  let inString = false;
  let isKey = false;
  /** Whether the next string is a key. */
  let expectsKey = false;
  const mark = (end: number) => {
    valid = end;
    closers = open.toReversed().join("");
  };
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (inString) {
      if (character === "\\") at += text[at + 1] === "u" ? 5 : 1;
      else if (character === '"') {
        inString = false;
        if (!isKey) mark(at + 1);
      }
      if (inString && !isKey && at < text.length) {
        valid = at + 1;
        closers = `"${open.toReversed().join("")}`;
      }
      continue;
    }
    switch (character) {
      case '"':
        inString = true;
        isKey = expectsKey;
        if (!isKey) {
          valid = at + 1;
          closers = `"${open.toReversed().join("")}`;
        }
        break;
      case "{":
        open.push("}");
        expectsKey = true;
        mark(at + 1);
        break;
      case "[":
        open.push("]");
        expectsKey = false;
        mark(at + 1);
        break;
      case "}":
      case "]":
        open.pop();
        expectsKey = false;
        mark(at + 1);
        break;
      case ":":
        expectsKey = false;
        break;
      case ",":
        expectsKey = open.at(-1) === "}";
        break;
      default:
        // A number or literal is a value as soon as what was read of it is one.
        if (parse(/[-+.\w]+$/.exec(text.slice(Math.max(0, at - 32), at + 1))?.[0] ?? "") !== undefined) mark(at + 1);
    }
  }
  return valid === 0 ? undefined : parse(text.slice(0, valid) + closers);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
