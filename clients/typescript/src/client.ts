import { Chat, type ChatOptions, type Input, type SendOptions } from "./chat.ts";
import { type ChatwrightOptions, Http } from "./http.ts";
import type { Reply } from "./reply.ts";
import type {
  AgentDefinition,
  Conversation,
  ConversationChange,
  ConversationList,
  ConversationSummary,
  ConversationUsage,
  Feedback,
  FilePart,
  Invocation,
  InvokeRequest,
  ListedModel,
  RunRequest,
  SearchHitList,
  StandingApproval,
  StoredDefinition,
  StoredFile,
  SyncResult,
  WorkspaceFile,
} from "./types.ts";

/** The most definitions that the server takes in one request. */
const MOST_DEFINITIONS = 100;

/** An agent that the caller may use. */
export interface Agent {
  id: string;
  models: ListedModel[];
}

/** A client of one server. It keeps nothing but what it was made with. */
export class Chatwright {
  readonly conversations: Conversations;
  readonly files: Files;
  readonly runs: Runs;
  readonly #http: Http;

  constructor(options: ChatwrightOptions = {}) {
    this.#http = new Http(options);
    this.conversations = new Conversations(this.#http);
    this.files = new Files(this.#http);
    this.runs = new Runs(this.#http);
  }

  /** Returns a chat with an agent: in a new conversation, or in the one that the options name. */
  chat(agent: string, options?: ChatOptions): Chat {
    return new Chat(this.#http, agent, options);
  }

  /** Sends one message to an agent, in a new conversation or in the one that the options name. */
  send(agent: string, input: Input, options: ChatOptions & SendOptions = {}): Reply {
    const { signal, history, ...chat } = options;
    return this.chat(agent, chat).send(input, { ...(signal ? { signal } : {}), ...(history ? { history } : {}) });
  }

  /** Lists the models of the agents that the caller may use. */
  async models(): Promise<ListedModel[]> {
    return (await this.#http.json<{ models: ListedModel[] }>("GET", ["api", "models"])).models;
  }

  /** Lists the agents that the caller may use, with their models. */
  async agents(): Promise<Agent[]> {
    const agents = new Map<string, Agent>();
    for (const model of await this.models()) {
      for (const { id } of model.agents) {
        const agent = agents.get(id) ?? { id, models: [] };
        agents.set(id, agent);
        agent.models.push(model);
      }
    }
    return [...agents.values()];
  }

  /** Calls an endpoint of a page. */
  callEndpoint<T = unknown>(page: string, endpoint: string, payload: Record<string, unknown> = {}): Promise<T> {
    return this.#http.json("POST", ["api", "endpoints", page, endpoint], { json: payload });
  }

  /** Lists the standing approvals of the user. It needs a session or a token. */
  async standingApprovals(): Promise<StandingApproval[]> {
    return (await this.#http.json<{ items: StandingApproval[] }>("GET", ["api", "grants"])).items;
  }

  /** Revokes a standing approval. */
  revokeStandingApproval(id: string): Promise<void> {
    return this.#http.run("DELETE", ["api", "grants", id]);
  }

  /**
   * Stores the agents that an app brings along. What is already there does not change, so an app does this each time it
   * starts. One that cannot be stored is `failed` in the result and does not keep the others from being stored.
   */
  async syncAgentDefinitions(definitions: readonly Partial<AgentDefinition>[]): Promise<SyncResult> {
    const all: SyncResult = { state: "synced", created: 0, updated: 0, unchanged: 0, failed: 0, results: [] };
    for (let at = 0; at < definitions.length; at += MOST_DEFINITIONS) {
      const json = definitions.slice(at, at + MOST_DEFINITIONS);
      const result = await this.#http.json<SyncResult>("POST", ["api", "agents", "definitions"], { json });
      for (const key of ["created", "updated", "unchanged", "failed"] as const) all[key] += result[key];
      all.results.push(...result.results);
    }
    if (all.failed > 0) all.state = all.failed === all.results.length ? "failed" : "partial";
    return all;
  }

  /** Lists the stored definitions of agents, with whether the config still allows each. */
  async agentDefinitions(): Promise<StoredDefinition[]> {
    return (await this.#http.json<{ items: StoredDefinition[] }>("GET", ["api", "agents", "definitions"])).items;
  }

  /** Deletes the definition of an agent, by its name. */
  deleteAgentDefinition(name: string): Promise<void> {
    return this.#http.run("DELETE", ["api", "agents", "definitions", name]);
  }
}

export interface ListOptions {
  limit?: number;
  /** `next` of the page before. */
  cursor?: string;
  archived?: boolean;
  folder?: string;
}

/** The conversations of the user. */
export class Conversations {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Lists one page of conversations. */
  list(options: ListOptions = {}): Promise<ConversationList> {
    return this.#http.json("GET", ["api", "conversations"], { query: { ...options } });
  }

  /** Iterates over all conversations, page by page. */
  async *all(options: ListOptions = {}): AsyncGenerator<ConversationSummary, void> {
    let { cursor } = options;
    do {
      const page = await this.list({ ...options, ...(cursor === undefined ? {} : { cursor }) });
      yield* page.items;
      cursor = page.next;
    } while (cursor !== undefined);
  }

  get(id: string): Promise<Conversation> {
    return this.#http.json("GET", ["api", "conversations", id]);
  }

  /** Changes the title, the folder, or whether it is pinned, archived, unread or temporary. */
  update(id: string, change: ConversationChange): Promise<void> {
    return this.#http.run("PATCH", ["api", "conversations", id], { json: change });
  }

  rename(id: string, title: string): Promise<void> {
    return this.update(id, { title });
  }

  /** Deletes a conversation; `restore` undoes it for five minutes. */
  delete(id: string): Promise<void> {
    return this.#http.run("DELETE", ["api", "conversations", id]);
  }

  restore(id: string): Promise<void> {
    return this.update(id, { deleted: false });
  }

  usage(id: string): Promise<ConversationUsage> {
    return this.#http.json("GET", ["api", "conversations", id, "usage"]);
  }

  /** Searches titles and messages. */
  search(query: string): Promise<SearchHitList> {
    return this.#http.json("GET", ["api", "search"], { query: { q: query } });
  }

  /** Rates an answer; without a rating, the user's rating is withdrawn. */
  async rate(id: string, messageId: string, rating: Feedback["rating"] | null, reason?: string): Promise<void> {
    const feedback = rating === null ? null : { rating, ...(reason === undefined ? {} : { reason }) };
    await this.#change(id, { kind: "rate", messageId, feedback });
  }

  /** Selects the version of a message with what followed it. */
  async switchBranch(id: string, messageId: string): Promise<void> {
    await this.#change(id, { kind: "switch", messageId });
  }

  /** Deletes a message and what follows it; `restoreMessage` undoes it for a while. */
  async deleteMessage(id: string, messageId: string): Promise<void> {
    await this.#change(id, { kind: "delete", messageId });
  }

  async restoreMessage(id: string, messageId: string): Promise<void> {
    await this.#change(id, { kind: "restore", messageId });
  }

  /** Copies everything up to a message into a new conversation; returns its id. */
  copy(id: string, messageId: string): Promise<string> {
    return this.#change(id, { kind: "copy", messageId });
  }

  async #change(id: string, json: object): Promise<string> {
    const path = ["api", "conversations", id, "change"];
    return (await this.#http.json<{ conversationId: string }>("POST", path, { json })).conversationId;
  }

  /** Lists the files of a conversation's workspace. */
  async files(id: string): Promise<WorkspaceFile[]> {
    return (await this.#http.json<{ items: WorkspaceFile[] }>("GET", ["api", "conversations", id, "files"])).items;
  }

  /** Uploads files to a conversation's workspace: all or none. */
  async uploadFiles(id: string, files: { name: string; data: Blob | BufferSource | string }[]): Promise<WorkspaceFile[]> {
    const body = new FormData();
    for (const { name, data } of files) body.append("file", data instanceof Blob ? data : new Blob([data]), name);
    const path = ["api", "conversations", id, "files"];
    return (await this.#http.json<{ items: WorkspaceFile[] }>("POST", path, { body })).items;
  }

  /** Downloads a version of a file of a conversation's workspace. */
  async downloadFile(id: string, version: string): Promise<Blob> {
    return (await this.#http.send("GET", ["api", "conversations", id, "files", version])).blob();
  }

  /** Deletes a file of a conversation's workspace, with all its versions. */
  deleteFile(id: string, path: string): Promise<void> {
    return this.#http.run("DELETE", ["api", "conversations", id, "files"], { query: { path } });
  }
}

/** Files for messages. They need a session or a token: an API key cannot use them. */
export class Files {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Uploads a file. `toPart` makes it a part of a message. */
  upload(data: Blob | BufferSource | string, options: { name?: string } = {}): Promise<StoredFile> {
    const name = options.name ?? (typeof File !== "undefined" && data instanceof File ? data.name : undefined);
    const headers = { "content-type": "application/octet-stream" };
    return this.#http.json("POST", ["api", "files"], { body: data, headers, query: { name } });
  }

  async download(id: string): Promise<Blob> {
    return (await this.#http.send("GET", ["api", "files", id])).blob();
  }

  delete(id: string): Promise<void> {
    return this.#http.run("DELETE", ["api", "files", id]);
  }

  /** Returns the part of a message with a stored file. */
  toPart({ url, mediaType, filename }: StoredFile): FilePart {
    return { type: "file", url, mediaType, filename };
  }
}

/** Agents without a conversation: one question, one answer. */
export class Runs {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /** Asks an agent a single question and waits for the answer: a text, or JSON that fits `response_schema`. */
  invoke(agent: string, prompt: string, options: Omit<Partial<InvokeRequest>, "agent_name" | "input"> = {}): Promise<Invocation> {
    const json = { ...options, agent_name: agent, input: { prompt } };
    return this.#http.json("POST", ["api", "runs", "invoke"], { json });
  }

  /** Runs an agent with its tools, in the mode `sync` (the default) or `queued`. */
  start(agent: string, prompt: string, options: Omit<Partial<RunRequest>, "agent_name" | "input" | "mode"> & { mode?: "sync" | "queued" } = {}): Promise<Invocation> {
    const json = { ...options, agent_name: agent, input: { prompt } };
    return this.#http.json("POST", ["api", "runs"], { json });
  }

  get(id: string): Promise<Invocation> {
    return this.#http.json("GET", ["api", "runs", id]);
  }

  /** Decides about a call for which the run waits. */
  answer(id: string, callId: string, approved: boolean, reason?: string): Promise<Invocation> {
    return this.#http.json("POST", ["api", "runs", id, "answer"], { json: { call_id: callId, approved, reason } });
  }

  stop(id: string): Promise<void> {
    return this.#http.run("POST", ["api", "runs", id, "stop"]);
  }
}
