/** The longest event, in characters; the server's own limit is lower. */
const LONGEST = 8 * 1024 * 1024;

export interface SseEvent {
  id: string | undefined;
  data: string;
}

/** Decodes server-sent events; of their fields only `id` and `data` are used. */
export class SseDecoder {
  readonly #text = new TextDecoder();
  #rest = "";
  #id: string | undefined;
  #data: string[] = [];
  #size = 0;

  /** Returns the events that are complete with these bytes. */
  push(bytes: Uint8Array): SseEvent[] {
    const events: SseEvent[] = [];
    const lines = (this.#rest + this.#text.decode(bytes, { stream: true })).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line.endsWith("\r") ? line.slice(0, -1) : line, events);
    if (this.#rest.length + this.#size > LONGEST) throw new RangeError("an event of the stream is too long");
    return events;
  }

  #line(line: string, events: SseEvent[]): void {
    if (line === "") {
      if (this.#data.length > 0) events.push({ id: this.#id, data: this.#data.join("\n") });
      this.#id = undefined;
      this.#data = [];
      this.#size = 0;
      return;
    }
    const colon = line.indexOf(":");
    const [field, rest] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1)];
    const value = rest.startsWith(" ") ? rest.slice(1) : rest;
    if (field === "id") this.#id = value;
    if (field === "data") {
      this.#data.push(value);
      this.#size += value.length;
    }
  }
}
