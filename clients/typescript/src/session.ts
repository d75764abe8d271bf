// The state of a chat for a page: the part of `useChat` that does not depend on React.
import { type Answer, type Chat, type Choices, type Input, type SendOptions, fill, toMessage } from "./chat.ts";
import { AnswerError, ChatwrightError, NotPendingError, RequestError } from "./error.ts";
import type { Reply } from "./reply.ts";
import { type Chunk, type DataPart, type FilePart, type FinishReason, type Message, getPendingCalls, isDataChunk } from "./types.ts";

/** `submitted`: sent, nothing has come yet. `streaming`: an answer is being written. `error`: see `error`. */
export type ChatStatus = "submitted" | "streaming" | "ready" | "error";

export interface ChatState {
  messages: Message[];
  status: ChatStatus;
  error: Error | undefined;
}

export interface FinishEvent {
  message: Message;
  messages: Message[];
  /** Whether the user stopped it. */
  isAbort: boolean;
  /** Whether the connection was lost for good. */
  isDisconnect: boolean;
  isError: boolean;
  finishReason?: FinishReason;
}

export interface ChatCallbacks {
  /** An answer has ended. */
  onFinish?(event: FinishEvent): void;
  onError?(error: Error): void;
  /** Data of the application has come, also transient data. */
  onData?(part: DataPart): void;
  /**
   * The agent calls a tool; the arguments are complete. For a tool that the page runs, call `addToolOutput`, without
   * `await`.
   */
  onToolCall?(event: { toolCall: Extract<Chunk, { type: "tool-input-available" }> }): void;
}

/** A message of the user; `messageId` names the message of which it is another version. */
export type SessionInput =
  | string
  | (Omit<Exclude<Input, string>, "files"> & { files?: FileList | File[] | FilePart[]; messageId?: string });

export interface SessionOptions {
  chat: Chat;
  /** Whether the conversation may exist on the server. */
  isKnown: boolean;
  /** The messages until the conversation is loaded; a new conversation begins with them. */
  messages: Message[];
  /** The least milliseconds between two updates while an answer is written. */
  throttle: number;
}

/** A chat whose state a page follows. */
export class ChatSession {
  callbacks: ChatCallbacks = {};
  /** The choices that are sent with each request. */
  choices: Choices = {};
  readonly chat: Chat;
  readonly #listeners = new Set<() => void>();
  readonly #throttle: number;
  #state: ChatState;
  #isKnown: boolean;
  /** Whether the reading ends once the server has the message. */
  #isLeaving = false;
  #reading: AbortController | undefined;
  #loading: Promise<void> | undefined;
  /** Answers that wait until the stream has ended. */
  #answers: Answer[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(options: SessionOptions) {
    this.chat = options.chat;
    this.#isKnown = options.isKnown;
    this.#throttle = options.throttle;
    this.#state = { messages: options.messages, status: "ready", error: undefined };
  }

  readonly getState = (): ChatState => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Begins to follow the conversation; returns what ends the reading. The answer itself goes on. */
  attach(resume: boolean): () => void {
    this.#isLeaving = false;
    if (resume && this.#isKnown) void this.resumeStream();
    return () => {
      // A message that is on its way must not be lost.
      if (this.#state.status === "submitted") this.#isLeaving = true;
      else this.#leave();
    };
  }

  #leave(): void {
    this.#reading?.abort();
    this.#reading = undefined;
    if (this.#isBusy) this.#set({ status: "ready" });
  }

  /** Loads the conversation and goes on reading an answer in progress. */
  readonly resumeStream = async (): Promise<void> => {
    if (this.#isBusy) return;
    const reading = this.#read();
    const loading = this.#load(reading.signal);
    this.#loading = loading.then(() => {}, () => {});
    const isRunning = await loading;
    if (!isRunning || reading.signal.aborted) return;
    this.#set({ status: "submitted" });
    await this.#follow(this.chat.resume({ signal: reading.signal }), reading);
  };

  async #load(signal: AbortSignal): Promise<boolean> {
    try {
      const { messages, active } = await this.chat.load(signal);
      if (signal.aborted) return false;
      this.#set({ messages });
      return active !== undefined;
    } catch (error) {
      if (signal.aborted) return false;
      // The conversation does not exist: no message was sent yet.
      if (error instanceof RequestError && error.code === "not_found") {
        this.#isKnown = false;
        return false;
      }
      this.#fail(error);
      return false;
    }
  }

  /** Sends a message, or another version of the message with this `messageId`. */
  readonly sendMessage = async (given: SessionInput, options?: Omit<SendOptions, "signal">): Promise<void> => {
    await this.#idle();
    const messageId = typeof given === "string" ? undefined : given.messageId;
    const input = await toInput(given);
    const { messages } = this.#state;
    if (messageId === undefined) {
      const message = toMessage(input);
      const history = this.#isKnown ? {} : { history: messages };
      return this.#answer([...messages, message], (signal) => this.chat.send(message, { ...this.choices, ...options, ...history, signal }));
    }
    const at = messages.findIndex((message) => message.id === messageId);
    if (at < 0) throw new ChatwrightError(`There is no message \`${messageId}\`.`);
    const edited = { ...toMessage(input), id: messageId };
    await this.#answer([...messages.slice(0, at), edited], (signal) => this.chat.edit(messageId, input, { ...this.choices, ...options, signal }));
    // The server has given the new version an id of its own.
    if (this.#state.status === "ready") await this.resumeStream();
  };

  /** Answers again: the newest message, or the one that this message answered. */
  readonly regenerate = async (options: { messageId?: string } & Omit<SendOptions, "signal"> = {}): Promise<void> => {
    await this.#idle();
    const { messageId, ...choices } = options;
    const { messages } = this.#state;
    const found = messageId === undefined ? messages.length - 1 : messages.findIndex((message) => message.id === messageId);
    const message = messages[found];
    if (!message) throw new ChatwrightError("There is no message to answer again.");
    if (message.role === "user" && found === messages.length - 1) {
      // Its answer has failed before it began: the same message is sent again, and is stored once.
      const history = this.#isKnown ? {} : { history: messages.slice(0, -1) };
      return this.#answer(messages, (signal) => this.chat.send(message, { ...this.choices, ...choices, ...history, signal }));
    }
    const kept = messages.slice(0, message.role === "user" ? found + 1 : found);
    return this.#answer(kept, (signal) => this.chat.regenerate(message.id, { ...this.choices, ...choices, signal }));
  };

  /** Stops the answer on the server. The text received so far is kept. */
  readonly stop = async (): Promise<void> => {
    if (this.#isBusy) await this.chat.stop();
  };

  /** Gives the result of a call, or its failure with `errorText`. */
  readonly addToolOutput = async (
    result: { toolCallId: string; tool?: string } & ({ output: unknown } | { state: "output-error"; errorText: string }),
  ): Promise<void> => {
    const { toolCallId } = result;
    this.#give("errorText" in result ? { toolCallId, errorText: result.errorText } : { toolCallId, output: result.output });
  };

  /** Decides about a call, by the id of its approval. */
  readonly addToolApprovalResponse = async (decision: { id: string; approved: boolean; reason?: string }): Promise<void> => {
    const call = getPendingCalls(this.#state.messages.at(-1)).find((part) => part.approval?.id === decision.id);
    if (!call) throw new NotPendingError(`No call waits for the decision \`${decision.id}\`.`);
    const { approved, reason } = decision;
    this.#give({ toolCallId: call.toolCallId, approved, ...(reason === undefined ? {} : { reason }) });
  };

  /** Replaces what is shown; the server keeps its own messages. A new conversation begins with these. */
  readonly setMessages = (messages: Message[] | ((messages: Message[]) => Message[])): void => {
    this.#set({ messages: typeof messages === "function" ? messages(this.#state.messages) : messages });
  };

  readonly clearError = (): void => {
    if (this.#state.status === "error") this.#set({ status: "ready", error: undefined });
  };

  /** Shows an answer to a call at once, and sends it when no answer is being read. */
  #give(answer: Answer): void {
    const newest = this.#state.messages.at(-1);
    const filled = fill(newest, [answer]);
    this.#answers.push(answer);
    this.#set({ messages: [...this.#state.messages.slice(0, -1), filled] });
    if (!this.#isBusy) void this.#sendAnswers();
  }

  async #sendAnswers(): Promise<void> {
    // Answers that are given at once are sent together.
    await Promise.resolve();
    if (this.#isBusy || this.#answers.length === 0) return;
    const answers = this.#answers.splice(0);
    await this.#answer(this.#state.messages, (signal) => this.chat.answer(answers, { ...this.choices, signal }));
  }

  get #isBusy(): boolean {
    return this.#state.status === "submitted" || this.#state.status === "streaming";
  }

  async #idle(): Promise<void> {
    await this.#loading;
    if (this.#isBusy) throw new ChatwrightError("An answer is being written: wait for it, or stop it.");
  }

  #read(): AbortController {
    this.#reading?.abort();
    return (this.#reading = new AbortController());
  }

  async #answer(messages: Message[], send: (signal: AbortSignal) => Reply): Promise<void> {
    const reading = this.#read();
    this.#set({ messages, status: "submitted", error: undefined });
    await this.#follow(send(reading.signal), reading);
  }

  async #follow(reply: Reply, reading: AbortController): Promise<void> {
    let isAbort = false;
    try {
      for await (const chunk of reply) {
        if (reading.signal.aborted) return;
        this.#isKnown = true;
        if (this.#isLeaving) return this.#leave();
        isAbort ||= chunk.type === "abort";
        this.#show(reply.message);
        this.#tell(chunk);
      }
      if (reading.signal.aborted) return;
      this.#isKnown = true;
      this.#show(reply.message);
      this.#set({ status: "ready" });
      this.#finish(reply.message, isAbort, undefined);
    } catch (error) {
      if (reading.signal.aborted) return;
      this.#fail(error);
      if (reply.message.id !== "") this.#finish(reply.message, isAbort, error);
    }
    await this.#sendAnswers();
  }

  #show(message: Message): void {
    // A message without an id is not shown yet.
    if (message.id === "") return;
    const known = this.#state.messages;
    const at = known.findLastIndex((one) => one.id === message.id);
    const given = this.#answers.length > 0 ? withAnswers(message, this.#answers) : message;
    const messages = at < 0 ? [...known, given] : known.with(at, given);
    this.#state = { ...this.#state, messages, status: "streaming" };
    this.#timer ??= setTimeout(() => this.#notify(), this.#throttle);
  }

  #tell(chunk: Chunk): void {
    if (isDataChunk(chunk)) this.callbacks.onData?.(chunk);
    if (chunk.type === "tool-input-available" && chunk.providerExecuted !== true) {
      this.callbacks.onToolCall?.({ toolCall: chunk });
    }
  }

  #finish(message: Message, isAbort: boolean, error: unknown): void {
    const finishReason = message.metadata?.finishReason;
    this.callbacks.onFinish?.({
      message,
      messages: this.#state.messages,
      isAbort,
      isDisconnect: error !== undefined && !(error instanceof AnswerError),
      isError: error !== undefined,
      ...(finishReason ? { finishReason } : {}),
    });
  }

  #fail(error: unknown): void {
    const failure = error instanceof Error ? error : new ChatwrightError(String(error));
    this.#set({ status: "error", error: failure });
    this.callbacks.onError?.(failure);
  }

  #set(change: Partial<ChatState>): void {
    this.#state = { ...this.#state, ...change };
    this.#notify();
  }

  #notify(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const listener of this.#listeners) listener();
  }
}

/** Returns an input with the files that a page has chosen as `data:` URLs. */
async function toInput(given: SessionInput): Promise<Input> {
  if (typeof given === "string") return given;
  const { files = [], messageId: _, ...input } = given;
  return { ...input, files: await Promise.all(Array.from<File | FilePart>(files).map(toFilePart)) };
}

async function toFilePart(file: File | FilePart): Promise<FilePart> {
  if (!(file instanceof Blob)) return file;
  const bytes = new Uint8Array(await file.arrayBuffer());
  let binary = "";
  // A call has a limited number of arguments.
  for (let at = 0; at < bytes.length; at += 32_768) binary += String.fromCharCode(...bytes.subarray(at, at + 32_768));
  const mediaType = file.type || "application/octet-stream";
  return { type: "file", mediaType, url: `data:${mediaType};base64,${btoa(binary)}`, filename: file.name };
}

/** Keeps answers visible that were given while the message was read. */
function withAnswers(message: Message, answers: Answer[]): Message {
  const pending = new Set(getPendingCalls(message).map((call) => call.toolCallId));
  return fill(message, answers.filter((answer) => pending.has(answer.toolCallId)));
}
