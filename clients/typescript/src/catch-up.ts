// Computes the chunks that a client missed while its connection was broken, from the message as the server has it now.
// The text deltas then contain each word exactly once, even if the server can no longer repeat the events.
import { type Chunk, type Message, type Part, type ToolPart, getToolName, isToolPart } from "./types.ts";
import type { Reducer } from "./reducer.ts";

/**
 * Returns the chunks that make the reducer's message this one, and applies them. If it does not continue what is there,
 * this is a snapshot.
 */
export function catchUp(reducer: Reducer, target: Message): Chunk[] {
  const known = reducer.message;
  const chunks = known.id === "" || known.id === target.id ? missing(known, target, reducer) : undefined;
  const told = chunks ?? [{ type: "snapshot", message: target }];
  for (const chunk of told) reducer.apply(chunk);
  // Details that no chunk carries.
  reducer.reset(target);
  return told;
}

function missing(known: Message, target: Message, reducer: Reducer): Chunk[] | undefined {
  const chunks: Chunk[] = [];
  if (known.id === "") chunks.push({ type: "start", messageId: target.id });
  if (known.parts.length > target.parts.length) return undefined;
  for (const [index, part] of target.parts.entries()) {
    const before = known.parts[index];
    const more = before ? changed(before, part, reducer.openId(index)) : added(part, `missed-${index}`);
    if (!more) return undefined;
    if (part.type === "step-start" && !before && index > 0) chunks.push({ type: "finish-step" });
    chunks.push(...more);
  }
  if (target.metadata && !isSame(known.metadata, target.metadata)) {
    chunks.push({ type: "message-metadata", messageMetadata: target.metadata });
  }
  return chunks;
}

/** Returns the chunks that change a part; `undefined` if none do. */
function changed(before: Part, part: Part, openId: string | undefined): Chunk[] | undefined {
  if ((part.type === "text" && before.type === "text") || (part.type === "reasoning" && before.type === "reasoning")) {
    if (!part.text.startsWith(before.text)) return undefined;
    const delta = part.text.slice(before.text.length);
    // A part whose end was received does not grow.
    if (openId === undefined) return delta === "" ? [] : undefined;
    return text(part, openId, delta, false);
  }
  if (isToolPart(part) && isToolPart(before)) {
    if (part.toolCallId !== before.toolCallId || part.type !== before.type) return undefined;
    return isSame(before, part) ? [] : call(part, before);
  }
  if (part.type !== before.type) return undefined;
  return isSame(before, part) ? [] : part.type.startsWith("data-") ? added(part, "") : undefined;
}

function added(part: Part, id: string): Chunk[] {
  if (part.type === "text" || part.type === "reasoning") return text(part, id, part.text, true);
  if (part.type === "step-start") return [{ type: "start-step" }];
  return isToolPart(part) ? call(part) : [part];
}

function text(part: Extract<Part, { type: "text" | "reasoning" }>, id: string, delta: string, isNew: boolean): Chunk[] {
  const chunks: Chunk[] = [];
  const metadata = part.providerMetadata ? { providerMetadata: part.providerMetadata } : {};
  if (isNew) chunks.push({ type: `${part.type}-start`, id, ...metadata });
  if (delta !== "") chunks.push({ type: `${part.type}-delta`, id, delta });
  if (part.state !== "streaming") {
    const citations = part.type === "text" && part.citations ? { citations: part.citations } : {};
    chunks.push({ type: `${part.type}-end`, id, ...citations, ...metadata } as Chunk);
  }
  return chunks;
}

/** Returns the chunks of a call, without those that it has had before. */
function call(part: ToolPart, before?: ToolPart): Chunk[] {
  const { toolCallId, title, providerExecuted, approval, state } = part;
  const common = {
    toolCallId,
    toolName: getToolName(part),
    ...(part.type === "dynamic-tool" ? { dynamic: true } : {}),
    ...(providerExecuted === undefined ? {} : { providerExecuted }),
    ...(title === undefined ? {} : { title }),
  };
  if (state === "input-streaming") return before ? [] : [{ type: "tool-input-start", ...common }];
  const errorText = part.errorText ?? "";
  if (part.input === undefined && part.rawInput !== undefined) {
    return [{ type: "tool-input-error", ...common, input: part.rawInput, errorText }];
  }
  const hasInput = before && before.state !== "input-streaming" && isSame(before.input, part.input);
  const chunks: Chunk[] = hasInput ? [] : [{ type: "tool-input-available", ...common, input: part.input ?? null }];
  if (state === "approval-requested" && approval) {
    const terms = approval.terms ? { terms: approval.terms } : {};
    chunks.push({ type: "tool-approval-request", approvalId: approval.id, toolCallId, ...terms });
  }
  if (state === "output-available") {
    const preliminary = part.preliminary === undefined ? {} : { preliminary: part.preliminary };
    chunks.push({ type: "tool-output-available", toolCallId, output: part.output ?? null, ...preliminary });
  }
  if (state === "output-error") chunks.push({ type: "tool-output-error", toolCallId, errorText });
  if (state === "output-denied") chunks.push({ type: "tool-output-denied", toolCallId });
  return chunks;
}

/** Compares JSON, whatever the order of the fields. */
function isSame(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [one, other] = [a as Record<string, unknown>, b as Record<string, unknown>];
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].every((key) => isSame(one[key], other[key]));
}

/** Returns whether a message that is read from its beginning again has not reached what is known of it. */
export function isBehind(message: Message, known: Message): boolean {
  if (message.parts.length < known.parts.length) return true;
  return known.parts.some((before, index) => {
    const part = message.parts[index];
    if (!part) return true;
    if ("text" in part && "text" in before) return part.text.length < before.text.length;
    if (isToolPart(part) && isToolPart(before)) return STATES.indexOf(part.state) < STATES.indexOf(before.state);
    return false;
  });
}

/** The states of a call, in the order in which it can reach them. */
const STATES: ToolPart["state"][] = [
  "input-streaming",
  "approval-requested",
  "approval-responded",
  "input-available",
  "output-available",
  "output-error",
  "output-denied",
];
