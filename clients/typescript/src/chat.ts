import { GoneError, NotPendingError, RequestError } from "./error.ts";
import type { Http } from "./http.ts";
import { Reply, type Source } from "./reply.ts";
import { type Conversation, type FilePart, type Message, type Part, getPendingCalls } from "./types.ts";

/** The user's choices, which are sent with each request. They count where the agent allows a choice. */
export interface Choices {
  /** The id of the model. */
  model?: string;
  /** Whether the model thinks before it answers. */
  thinking?: boolean;
  /** Whether the agent writes a plan. */
  planMode?: boolean;
  /** Whether the agent searches documents. */
  documents?: boolean;
  /** The ids of the libraries that it searches. */
  libraries?: string[];
  /** Whether the agent uses the web. */
  web?: boolean;
  /** Whether the agent may hand tasks to a copy of itself. */
  delegate?: boolean;
  /** The states of the composer's switches. */
  switches?: Record<string, boolean>;
  /** The query of the page, which expressions of the config read. */
  urlQuery?: Record<string, unknown>;
}

export interface ChatOptions extends Choices {
  /** The page with the agent's chat; by default the page with the agent's id, as agents made at run time have one. */
  page?: string;
  /** The id of the chat's block, if the page has several with this agent. */
  block?: string;
  /** The id of the conversation (letters, digits, `-`, `_`); a new one by default. */
  conversation?: string;
  /** The state that the agent sees, as it sees the shared state of a page. A function is asked before each request. */
  sharedState?: Record<string, unknown> | (() => Record<string, unknown>);
}

export interface SendOptions extends Choices {
  /** Ends the reading; the answer goes on. */
  signal?: AbortSignal;
  /** Earlier messages, with which a new conversation begins. */
  history?: Message[];
}

/** A message of the user. */
export type Input = string | { text?: string; files?: FilePart[]; parts?: Part[]; id?: string; metadata?: Record<string, unknown> };

/** An answer to a call that waits: a decision, or the result of a tool that the program runs. */
export type Answer =
  | { toolCallId: string; approved: boolean; reason?: string }
  | { toolCallId: string; output: unknown }
  | { toolCallId: string; errorText: string };

/** A chat with an agent in one conversation. */
export class Chat {
  readonly agent: string;
  readonly page: string;
  /** The id of the conversation. It exists on the server once a message was sent. */
  readonly conversation: string;
  readonly #http: Http;
  readonly #options: ChatOptions;

  constructor(http: Http, agent: string, options: ChatOptions = {}) {
    this.#http = http;
    this.agent = agent;
    this.page = options.page ?? agent;
    this.conversation = options.conversation ?? newId();
    this.#options = options;
  }

  /** Sends a message; the reply is the answer. */
  send(input: Input, options: SendOptions = {}): Reply {
    const message = toMessage(input);
    const body = { messages: [...(options.history ?? []), message] };
    return this.#reply(options, {
      // The id of the message is the idempotency key.
      isIdempotent: true,
      open: (signal) => this.#post(body, options, signal),
      find: ({ messages }) => answerTo(messages, messages.findIndex((one) => one.id === message.id)),
    });
  }

  /** Sends another version of a message of the user. The old one stays on a branch of its own. */
  edit(messageId: string, input: Input, options: SendOptions = {}): Reply {
    const body = { messageId, messages: [{ ...toMessage(input), id: messageId }] };
    return this.#another(body, options);
  }

  /** Answers again: the newest message, or the one that the message with this id answered. */
  regenerate(messageId?: string, options: SendOptions = {}): Reply {
    return this.#another({ trigger: "regenerate-message", messageId }, options);
  }

  /** Sends what makes another answer, which must not be sent twice. */
  #another(body: { messageId: string | undefined; trigger?: string; messages?: Message[] }, options: SendOptions): Reply {
    let before: Set<string> | undefined;
    return this.#reply(options, {
      isIdempotent: false,
      open: async (signal) => {
        const { messages } = await this.load(signal);
        before ??= new Set(messages.map((message) => message.id));
        const newest = messages.at(-1);
        if (!newest) throw new GoneError("The conversation has no message.");
        return this.#post({ messages: [newest], ...body, messageId: body.messageId ?? newest.id }, options, signal);
      },
      find: ({ messages }) => messages.findLast((message) => message.role === "assistant" && !before?.has(message.id)),
    });
  }

  /** Answers calls of the newest message that wait. The reply goes on once none waits. */
  answer(answers: Answer[], options: SendOptions = {}): Reply {
    let base: Message | undefined;
    return this.#reply(options, {
      isIdempotent: false,
      base: () => base,
      open: async (signal) => {
        const { messages } = await this.load(signal);
        base ??= fill(messages.at(-1), answers);
        return this.#post({ messages: [base] }, options, signal);
      },
      find: ({ messages }) => {
        const found = messages.find((message) => message.id === base?.id);
        const pending = new Set(getPendingCalls(found).map((call) => call.toolCallId));
        return answers.some((answer) => pending.has(answer.toolCallId)) ? undefined : found;
      },
    });
  }

  /** Approves a call. */
  approve(toolCallId: string, options: SendOptions & { reason?: string } = {}): Reply {
    return this.#decide(toolCallId, true, options);
  }

  /** Denies a call; the model reads the reason. */
  deny(toolCallId: string, options: SendOptions & { reason?: string } = {}): Reply {
    return this.#decide(toolCallId, false, options);
  }

  #decide(toolCallId: string, approved: boolean, { reason, ...options }: SendOptions & { reason?: string }): Reply {
    return this.answer([reason === undefined ? { toolCallId, approved } : { toolCallId, approved, reason }], options);
  }

  /**
   * Reads the answer in progress, from its beginning. If there is none, the reply has no events, and its message is the
   * newest answer.
   */
  resume(options: { signal?: AbortSignal } = {}): Reply {
    return this.#reply(options, {
      isIdempotent: true,
      open: (signal) => this.#stream(undefined, signal),
      find: ({ messages }) => messages.findLast((message) => message.role === "assistant"),
    });
  }

  /** Stops the answer in progress. The text received so far is kept. */
  async stop(): Promise<void> {
    await this.#http.run("POST", ["api", "agent", this.page, this.agent, this.conversation, "stop"]);
  }

  /** Loads the conversation with its messages. */
  load(signal?: AbortSignal): Promise<Conversation> {
    return this.#http.json("GET", ["api", "conversations", this.conversation], { signal });
  }

  #reply(options: { signal?: AbortSignal }, source: Pick<Source, "open" | "find" | "isIdempotent" | "base">): Reply {
    return new Reply(
      {
        ...source,
        conversation: this.conversation,
        resume: (cursor, signal) => this.#stream(cursor, signal),
        load: (signal) => this.load(signal),
        stop: () => this.stop(),
      },
      options.signal,
    );
  }

  async #post(body: object, options: SendOptions, signal: AbortSignal): Promise<Response> {
    const { signal: _, history: __, ...choices } = options;
    const { page: ___, block, conversation: ____, sharedState, ...defaults } = this.#options;
    const json = {
      ...defaults,
      ...choices,
      blockId: block,
      sharedState: typeof sharedState === "function" ? sharedState() : sharedState,
      ...body,
    };
    const query = { conversationId: this.conversation };
    return this.#http.send("POST", ["api", "agent", this.page, this.agent], { json, query, signal });
  }

  async #stream(cursor: string | undefined, signal: AbortSignal): Promise<Response | null> {
    const headers: Record<string, string> = cursor === undefined ? {} : { "last-event-id": cursor };
    const path = ["api", "agent", this.page, this.agent, this.conversation, "stream"];
    try {
      const response = await this.#http.send("GET", path, { headers, signal });
      return response.status === 204 ? null : response;
    } catch (error) {
      // The conversation does not exist: nothing was sent yet.
      if (error instanceof RequestError && error.status === 404) return null;
      throw error;
    }
  }
}

/** Returns an id that does not exist yet and sorts by time. */
export function newId(): string {
  const time = Date.now().toString(16).padStart(12, "0");
  return `${time}${crypto.getRandomValues(new Uint8Array(10)).reduce((id, byte) => id + byte.toString(16).padStart(2, "0"), "")}`;
}

/** Returns the message of an input. */
export function toMessage(input: Input): Message {
  const given = typeof input === "string" ? { text: input } : input;
  const parts: Part[] = [...(given.parts ?? []), ...(given.files ?? [])];
  if (given.text !== undefined) parts.push({ type: "text", text: given.text });
  const message: Message = { id: given.id ?? newId(), role: "user", parts };
  if (given.metadata) message.metadata = given.metadata as Message["metadata"];
  return message;
}

/** Returns the answer that follows the message at an index. */
function answerTo(messages: Message[], index: number): Message | undefined {
  const next = index < 0 ? undefined : messages[index + 1];
  return next?.role === "assistant" ? next : undefined;
}

/** Returns the message with answers to its calls, as the server expects them. */
export function fill(message: Message | undefined, answers: Answer[]): Message {
  const pending = new Set(getPendingCalls(message).map((call) => call.toolCallId));
  const missing = answers.find((answer) => !pending.has(answer.toolCallId));
  if (!message || missing) throw new NotPendingError(`No call \`${missing?.toolCallId}\` waits for an answer.`);
  const parts = message.parts.map((part): Part => {
    if (!("toolCallId" in part)) return part;
    const answer = answers.find((one) => one.toolCallId === part.toolCallId);
    if (!answer || !pending.has(part.toolCallId)) return part;
    if ("output" in answer) return { ...part, state: "output-available", output: answer.output };
    if ("errorText" in answer) return { ...part, state: "output-error", errorText: answer.errorText };
    if (!part.approval) throw new NotPendingError(`The call \`${part.toolCallId}\` waits for a result, not for a decision.`);
    const { approved, reason } = answer;
    const approval = { ...part.approval, approved, ...(reason === undefined ? {} : { reason }) };
    return { ...part, state: "approval-responded", approval };
  });
  return { ...message, parts };
}
