import { AnswerError, ChatwrightError, ConnectionError, GoneError, RequestError } from "./error.ts";
import { catchUp, isBehind } from "./catch-up.ts";
import { Reducer } from "./reducer.ts";
import { type SseEvent, SseDecoder } from "./sse.ts";
import { type Chunk, type Conversation, type Message, isDataChunk } from "./types.ts";

/** The waits before attempts to reconnect, in milliseconds. An event that arrives begins them anew. */
const BACKOFF = [100, 500, 1_000, 2_000, 4_000, 8_000, 15_000];
/** The server sends a comment every 15 seconds, so that longer silence means that the connection is dead. */
const SILENCE = 40_000;

/** Where an answer comes from. */
export interface Source {
  conversation: string;
  /** Sends the request that makes the answer; `null` if there is none. */
  open(signal: AbortSignal): Promise<Response | null>;
  /** Whether the request can be sent twice with the effect of once. */
  isIdempotent: boolean;
  /** The message that the answer continues, known once the request was sent. */
  base?(): Message | undefined;
  /** Reads the answer in progress, after a cursor or from its beginning; `null` if there is none. */
  resume(cursor: string | undefined, signal: AbortSignal): Promise<Response | null>;
  load(signal: AbortSignal): Promise<Conversation>;
  /** Returns the answer in the conversation when it is not known by its id; `undefined` if the request had no effect. */
  find(conversation: Conversation): Message | undefined;
  /** Stops the answer on the server. */
  stop(): Promise<void>;
}

/**
 * An answer. It can be read event by event, with `for await`, and awaited as a whole; the request is sent at once in
 * either case. It reconnects when the connection breaks, and each part of the answer is read once.
 *
 * The answer belongs to the server: to end the loop only ends the reading. `stop` stops the answer.
 */
export class Reply implements AsyncIterable<Chunk>, PromiseLike<Message> {
  readonly #source: Source;
  readonly #abort = new AbortController();
  readonly #opened: Promise<Response | null>;
  #events: AsyncGenerator<Chunk, void> | undefined;
  #end: PromiseWithResolversOf<Message> | undefined;
  #outcome: { message: Message } | { error: unknown } | undefined;
  #reducer = new Reducer();
  /** Reads the message from its beginning once more, after events were missed. */
  #second: Reducer | undefined;
  #cursor: string | undefined;
  #hasBegun = false;
  #isComplete = false;
  /** Whether the stream ended before it has reached what is known. */
  #isBehind = false;
  /** Whether the answer had ended before the reading began. */
  #isOld = false;
  #failure: string | undefined;

  constructor(source: Source, signal?: AbortSignal) {
    this.#source = source;
    if (signal?.aborted) this.#abort.abort(signal.reason);
    signal?.addEventListener("abort", () => this.#abort.abort(signal.reason), { signal: this.#abort.signal });
    this.#opened = source.open(this.#abort.signal);
    // The reader gets the error. Without one, it must not count as an unhandled rejection.
    this.#opened.catch(() => {});
  }

  /** The id of the conversation. */
  get conversation(): string {
    return this.#source.conversation;
  }

  /** The message so far. */
  get message(): Message {
    return this.#reducer.message;
  }

  /** Stops the answer on the server. The text received so far is kept. */
  stop(): Promise<void> {
    return this.#source.stop();
  }

  /** Reads to the end and returns the whole message. */
  async finished(): Promise<Message> {
    if (!this.#events) for await (const _ of this);
    else if (!this.#outcome) {
      this.#end ??= withResolvers();
      return this.#end.promise;
    }
    if (this.#outcome && "message" in this.#outcome) return this.#outcome.message;
    throw this.#outcome?.error;
  }

  then<A = Message, B = never>(
    onFulfilled?: ((message: Message) => A | PromiseLike<A>) | null,
    onRejected?: ((error: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.finished().then(onFulfilled, onRejected);
  }

  /** The events, once: a second loop continues where the first has ended, or has none. */
  [Symbol.asyncIterator](): AsyncGenerator<Chunk, void> {
    this.#events ??= this.#run();
    return this.#events;
  }

  async *#run(): AsyncGenerator<Chunk, void> {
    try {
      yield* this.#read();
      const { message } = this;
      const outcome = this.#isOld ? undefined : message.metadata?.outcome;
      if (this.#failure !== undefined || outcome === "failed" || outcome === "interrupted") {
        const said = message.metadata?.error?.message ?? this.#failure ?? "The answer was interrupted.";
        throw new AnswerError(said, message, outcome ?? "failed");
      }
      this.#outcome = { message };
      this.#end?.resolve(message);
    } catch (error) {
      this.#fail(error);
      throw error;
    } finally {
      if (!this.#outcome) this.#fail(new ChatwrightError("The reading was ended before the answer has."));
      this.#abort.abort();
    }
  }

  #fail(error: unknown): void {
    this.#outcome = { error };
    this.#end?.reject(error);
  }

  async *#read(): AsyncGenerator<Chunk, void> {
    let attempt = 0;
    let broken: unknown;
    let stored: Conversation | undefined;
    let response = await this.#opened.catch((error: unknown) => {
      if (!(error instanceof ConnectionError)) throw error;
      broken = error;
      return undefined;
    });
    if (response) this.#begin();
    if (response === null) return this.#settle(await this.#source.load(this.#abort.signal));
    for (;;) {
      if (stored) return yield* this.#complete(stored);
      try {
        for await (const event of response ? events(response) : []) {
          attempt = 0;
          yield* this.#accept(event);
          if (this.#isComplete && event.data === DONE) return;
          if (this.#isBehind) return yield* this.#complete(await this.#source.load(this.#abort.signal));
        }
      } catch (error) {
        this.#abort.signal.throwIfAborted();
        if (!(error instanceof ConnectionError)) throw error;
        broken = error;
      }
      // A stream that ends without its last event was cut off.
      response = undefined;
      if (attempt === BACKOFF.length) throw broken ?? new ConnectionError("The connection broke.");
      let wait = BACKOFF[attempt++]!;
      while (!response && !stored) {
        await sleep(wait, this.#abort.signal);
        try {
          response = await this.#reconnect();
          if (response === null) stored = await this.#source.load(this.#abort.signal);
        } catch (error) {
          this.#abort.signal.throwIfAborted();
          const isTemporary = error instanceof ConnectionError || (error instanceof RequestError && isPassing(error));
          if (!isTemporary || attempt === BACKOFF.length) throw error;
          wait = Math.max(BACKOFF[attempt++]!, error instanceof RequestError ? 1_000 * (error.retryAfter ?? 0) : 0);
        }
      }
    }
  }

  /** The request was accepted; now it is known what the answer continues. */
  #begin(): void {
    const base = this.#source.base?.();
    if (base && !this.#hasBegun) this.#reducer = new Reducer(base);
  }

  /** Returns the response that goes on, or `null` if the answer has ended. */
  async #reconnect(): Promise<Response | null> {
    const { signal } = this.#abort;
    if (this.#hasBegun) {
      // From the beginning, if the server cannot repeat what follows the newest event.
      if (this.#cursor === undefined) this.#second = new Reducer();
      return this.#source.resume(this.#cursor, signal);
    }
    if (this.#source.isIdempotent) return this.#source.open(signal);
    const running = await this.#source.resume(undefined, signal);
    this.#begin();
    if (running) {
      this.#second = new Reducer();
      return running;
    }
    const found = this.#source.find(await this.#source.load(signal));
    return found ? null : this.#source.open(signal);
  }

  /** Takes the newest answer of a conversation in which none is in progress. */
  #settle(conversation: Conversation): void {
    const found = this.#source.find(conversation);
    if (!found) throw new GoneError("The conversation has no answer.");
    this.#isOld = true;
    this.#reducer.reset(found);
  }

  /** Adds what the conversation has of the answer and what was not received. */
  async *#complete(conversation: Conversation): AsyncGenerator<Chunk, void> {
    const { id } = this.#reducer.message;
    const found = this.#hasBegun
      ? conversation.messages.find((message) => message.id === id)
      : this.#source.find(conversation);
    if (!found) throw new GoneError("The conversation no longer has this answer.");
    yield* catchUp(this.#reducer, found);
    if (this.#isComplete) return;
    this.#isComplete = true;
    const finishReason = found.metadata?.finishReason;
    if (this.#hasBegun) yield finishReason ? { type: "finish", finishReason } : { type: "finish" };
  }

  /** Applies an event; returns what the reader is told. */
  *#accept({ id, data }: SseEvent): Generator<Chunk, void> {
    if (data === DONE) {
      if (this.#isComplete) return;
      throw new ConnectionError("The answer broke off.");
    }
    const chunk = parse(data);
    if (chunk.type === "data-gap") {
      this.#cursor = undefined;
      throw new ConnectionError("The server cannot repeat a part of the answer.");
    }
    // A continuation that is not streamed by a run is the whole message: it has no cursors.
    if (!this.#hasBegun && id === undefined && this.#source.base?.()) this.#second = new Reducer();
    this.#hasBegun = true;
    if (id !== undefined) this.#cursor = id;
    const isEnd = chunk.type === "finish" || chunk.type === "abort" || chunk.type === "error";
    if (chunk.type === "error") this.#failure = chunk.errorText;
    const second = this.#second;
    if (!second) {
      this.#reducer.apply(chunk);
      this.#isComplete ||= isEnd;
      yield chunk;
      return;
    }
    second.apply(chunk);
    const { message } = second;
    if (!isBehind(message, this.#reducer.message)) yield* catchUp(this.#reducer, message);
    else if (isEnd) {
      this.#isBehind = true;
      return;
    }
    this.#isComplete ||= isEnd;
    if (isEnd || (isDataChunk(chunk) && chunk.transient)) yield chunk;
  }
}

const DONE = "[DONE]";

function parse(data: string): Chunk {
  try {
    return JSON.parse(data) as Chunk;
  } catch (error) {
    throw new ChatwrightError("The server's answer cannot be read.", { cause: error });
  }
}

/** Reads the events of a response. */
async function* events(response: Response): AsyncGenerator<SseEvent, void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  const decoder = new SseDecoder();
  try {
    for (;;) {
      const { done, value } = await within(SILENCE, reader.read());
      if (done) return;
      yield* decoder.push(value);
    }
  } catch (error) {
    if (error instanceof ChatwrightError) throw error;
    if (error instanceof RangeError) throw new ChatwrightError("The server's answer cannot be read.", { cause: error });
    throw new ConnectionError("The connection broke.", { cause: error });
  } finally {
    reader.cancel().catch(() => {});
  }
}

async function within<T>(milliseconds: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new ConnectionError("The server is silent.")), milliseconds);
  });
  try {
    return await Promise.race([work, silence]);
  } finally {
    clearTimeout(timer);
  }
}

function isPassing(error: RequestError): boolean {
  return error.status >= 500 || error.status === 429;
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal.reason as Error);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
}

interface PromiseWithResolversOf<T> {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>(): PromiseWithResolversOf<T> {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  promise.catch(() => {});
  return { promise, resolve, reject };
}
