import { parsePartialJson } from "./partial-json.ts";
import { type Chunk, type DataChunk, type Message, type Part, type ToolPart, isDataChunk, isToolPart } from "./types.ts";

type ToolChunk = Extract<Chunk, { toolCallId: string }>;
/** A chunk after which a call is there. */
type BeginningChunk = Extract<ToolChunk, { toolName: string }>;

/**
 * Builds a message from chunks, by the rules of the AI SDK's client. Parts are replaced and never changed, so that a
 * page that compares them sees what is new.
 */
export class Reducer {
  #id: string;
  #metadata: Message["metadata"];
  #parts: Part[];
  #texts = new Map<string, number>();
  #reasonings = new Map<string, number>();
  /** The JSON of arguments that are still arriving, by the index of the part. */
  #inputs = new Map<number, { text: string; isParsed: boolean }>();

  /** Continues a message, or begins an empty one. */
  constructor(message?: Message) {
    this.#id = message?.id ?? "";
    this.#metadata = message?.metadata;
    this.#parts = [...(message?.parts ?? [])];
  }

  /** The message so far. */
  get message(): Message {
    for (const [index, input] of this.#inputs) {
      const part = this.#parts[index];
      if (input.isParsed || !part || !isToolPart(part)) continue;
      input.isParsed = true;
      this.#parts[index] = { ...part, input: parsePartialJson(input.text) };
    }
    const message: Message = { id: this.#id, role: "assistant", parts: [...this.#parts] };
    if (this.#metadata !== undefined) message.metadata = this.#metadata;
    return message;
  }

  /** The id of the open text or reasoning part at this index. */
  openId(index: number): string | undefined {
    for (const open of [this.#texts, this.#reasonings]) {
      for (const [id, at] of open) if (at === index) return id;
    }
    return undefined;
  }

  /** Applies a chunk; one that does not fit is ignored. */
  apply(chunk: Chunk): void {
    switch (chunk.type) {
      case "start":
        if (chunk.messageId !== undefined) this.#id = chunk.messageId;
        this.#merge(chunk.messageMetadata);
        break;
      case "start-step":
        this.#parts.push({ type: "step-start" });
        break;
      case "text-start":
        this.#texts.set(chunk.id, this.#parts.length);
        this.#parts.push(withMetadata({ type: "text", text: "", state: "streaming" }, chunk));
        break;
      case "reasoning-start":
        this.#reasonings.set(chunk.id, this.#parts.length);
        this.#parts.push(withMetadata({ type: "reasoning", id: chunk.id, text: "", state: "streaming" }, chunk));
        break;
      case "text-delta":
        this.#grow(this.#texts.get(chunk.id), chunk.delta, chunk, false);
        break;
      case "reasoning-delta":
        this.#grow(this.#reasonings.get(chunk.id), chunk.delta, chunk, false);
        break;
      case "text-end":
        this.#grow(this.#texts.get(chunk.id), "", chunk, true);
        this.#texts.delete(chunk.id);
        break;
      case "reasoning-end":
        this.#grow(this.#reasonings.get(chunk.id), "", chunk, true);
        this.#reasonings.delete(chunk.id);
        break;
      case "source-url":
      case "source-document":
      case "file":
        this.#parts.push(chunk);
        break;
      case "finish-step":
        this.#texts.clear();
        this.#reasonings.clear();
        break;
      case "finish":
      case "message-metadata":
        this.#merge(chunk.messageMetadata);
        break;
      case "snapshot":
        this.reset(chunk.message);
        break;
      case "abort":
      case "error":
        break;
      default:
        if (isDataChunk(chunk)) this.#data(chunk);
        else if ("toolCallId" in chunk) this.#tool(chunk);
    }
  }

  /** Replaces the message. The ids of its open parts are kept as far as the parts are still open. */
  reset(message: Message): void {
    this.#id = message.id;
    this.#metadata = message.metadata;
    this.#parts = [...message.parts];
    this.#inputs.clear();
    for (const open of [this.#texts, this.#reasonings]) {
      for (const [id, at] of open) {
        const part = this.#parts[at];
        if (!part || !("state" in part) || part.state !== "streaming") open.delete(id);
      }
    }
  }

  #merge(metadata: Message["metadata"]): void {
    if (metadata) this.#metadata = merged(this.#metadata, metadata) as Message["metadata"];
  }

  #grow(index: number | undefined, delta: string, chunk: Chunk, isDone: boolean): void {
    const part = index === undefined ? undefined : this.#parts[index];
    if (index === undefined || (part?.type !== "text" && part?.type !== "reasoning")) return;
    const grown = withMetadata({ ...part, text: part.text + delta }, chunk);
    if (isDone) grown.state = "done";
    if (grown.type === "text" && chunk.type === "text-end" && chunk.citations) grown.citations = chunk.citations;
    this.#parts[index] = grown;
  }

  #data(chunk: DataChunk): void {
    if (chunk.transient) return;
    const { transient: _, ...part } = chunk;
    const index = this.#parts.findIndex((known) => {
      return part.id !== undefined && known.type === part.type && (known as DataChunk).id === part.id;
    });
    if (index < 0) this.#parts.push(part);
    else this.#parts[index] = part;
  }

  #tool(chunk: ToolChunk): void {
    switch (chunk.type) {
      case "tool-input-start":
        this.#inputs.set(this.#begin(chunk, "input-streaming", {}), { text: "", isParsed: true });
        break;
      case "tool-input-delta": {
        const input = this.#inputs.get(this.#find(chunk.toolCallId));
        if (input) this.#inputs.set(this.#find(chunk.toolCallId), { text: input.text + chunk.inputTextDelta, isParsed: false });
        break;
      }
      case "tool-input-available":
        this.#begin(chunk, "input-available", { input: chunk.input, callProviderMetadata: chunk.providerMetadata });
        break;
      case "tool-input-error": {
        const errorText = chunk.errorText;
        const isDynamic = this.#partType(chunk) === "dynamic-tool";
        const resultProviderMetadata = chunk.providerMetadata;
        const input = isDynamic ? { input: chunk.input } : { rawInput: chunk.input };
        this.#begin(chunk, "output-error", { ...input, errorText, resultProviderMetadata });
        break;
      }
      case "tool-approval-request":
        this.#update(chunk.toolCallId, {
          state: chunk.approved === undefined ? "approval-requested" : "approval-responded",
          approval: {
            id: chunk.approvalId,
            ...(chunk.approved === undefined ? {} : { approved: chunk.approved }),
            ...(chunk.terms ? { terms: chunk.terms } : {}),
          },
        });
        break;
      case "tool-output-available":
        this.#update(chunk.toolCallId, {
          state: "output-available",
          output: chunk.output,
          errorText: undefined,
          rawInput: undefined,
          preliminary: chunk.preliminary,
          ...(chunk.providerMetadata ? { resultProviderMetadata: chunk.providerMetadata } : {}),
        });
        break;
      case "tool-output-error":
        this.#update(chunk.toolCallId, {
          state: "output-error",
          errorText: chunk.errorText,
          output: undefined,
          preliminary: undefined,
        });
        break;
      case "tool-output-denied":
        this.#update(chunk.toolCallId, { state: "output-denied" });
        break;
    }
  }

  /** The index of the newest call with this id, or -1. */
  #find(callId: string): number {
    return this.#parts.findLastIndex((part) => isToolPart(part) && part.toolCallId === callId);
  }

  /** A call of the newest step with this id decides about the kind; otherwise the chunk does. */
  #partType(chunk: BeginningChunk): ToolPart["type"] {
    const known = this.#parts[this.#find(chunk.toolCallId)];
    if (chunk.type === "tool-input-error" && known && isToolPart(known)) return known.type;
    return chunk.dynamic === true ? "dynamic-tool" : `tool-${chunk.toolName}`;
  }

  /** Moves a call of the newest step to a state, or adds it; returns its index. */
  #begin(chunk: BeginningChunk, state: ToolPart["state"], more: Partial<ToolPart>): number {
    const type = this.#partType(chunk);
    const step = this.#parts.findLastIndex((part) => part.type === "step-start") + 1;
    const found = this.#parts.findIndex((part, at) => {
      const isSameKind = (part.type === "dynamic-tool") === (type === "dynamic-tool");
      return at >= step && isToolPart(part) && part.toolCallId === chunk.toolCallId && isSameKind;
    });
    const index = found < 0 ? this.#parts.length : found;
    const known = (this.#parts[index] ?? {}) as Partial<ToolPart>;
    const { providerExecuted = known.providerExecuted } = chunk;
    const title = ("title" in chunk ? chunk.title : undefined) ?? known.title;
    this.#inputs.delete(index);
    const { approval, callProviderMetadata, resultProviderMetadata } = known;
    this.#parts[index] = present<ToolPart>({
      type,
      toolName: type === "dynamic-tool" ? chunk.toolName : undefined,
      toolCallId: chunk.toolCallId,
      state,
      title,
      providerExecuted,
      approval,
      callProviderMetadata,
      resultProviderMetadata,
    });
    Object.assign(this.#parts[index], present(more));
    return index;
  }

  #update(callId: string, more: { [K in keyof ToolPart]?: ToolPart[K] | undefined }): void {
    const index = this.#find(callId);
    const part = this.#parts[index];
    if (part && isToolPart(part)) this.#parts[index] = present({ ...part, ...more } as ToolPart);
  }
}

/** Returns an object without the fields that are `undefined`. */
function present<T extends object>(value: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}

function withMetadata<T extends Part>(part: T, chunk: Chunk): T {
  return "providerMetadata" in chunk && chunk.providerMetadata ? { ...part, providerMetadata: chunk.providerMetadata } : part;
}

/** Merges objects recursively; everything else is replaced. */
function merged(known: unknown, change: unknown): unknown {
  if (!isObject(known) || !isObject(change)) return change;
  const result: Record<string, unknown> = { ...known };
  for (const [key, value] of Object.entries(change)) {
    if (key !== "__proto__" && key !== "constructor" && key !== "prototype") result[key] = merged(known[key], value);
  }
  return result;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
