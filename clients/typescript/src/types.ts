// The types of messages and of the stream. They are written by hand, because OpenAPI cannot describe types such as
// `tool-${name}` and the events of a stream. All others are generated.
import type { components } from "./openapi.ts";

type Schemas = components["schemas"];

export type AgentDefinition = Schemas["AgentDefinition"];
export type StoredDefinition = Schemas["StoredDefinition"];
export type SyncResult = Schemas["SyncResult"];
export type ConversationSummary = Schemas["ConversationSummary"];
export type ConversationList = Schemas["ConversationList"];
export type ConversationChange = Schemas["ConversationChange"];
export type ConversationUsage = Schemas["ConversationUsage"];
export type SearchHitList = Schemas["SearchHitList"];
export type Feedback = Schemas["Feedback"];
export type StoredFile = Schemas["StoredFile"];
export type WorkspaceFile = Schemas["WorkspaceFile"];
export type StandingApproval = Schemas["StandingApproval"];
export type ListedModel = Schemas["ListedModel"];
export type Invocation = Schemas["Invocation"];
export type InvokeRequest = Schemas["InvokeRequest"];
export type RunRequest = Schemas["RunRequest"];
export type MessageMetadata = Schemas["MessageMetadata"];
export type Outcome = Schemas["Outcome"];
export type FinishReason = Schemas["FinishReason"];
export type Approval = Schemas["Approval"];
export type ApprovalTerms = Schemas["ApprovalTerms"];
export type ToolState = Schemas["ToolState"];
export type ErrorCode = Schemas["ErrorCode"];
export type ErrorReason = Schemas["ErrorReason"];

/** A message. Its form is that of the AI SDK's `UIMessage`. */
export interface Message {
  id: string;
  role: "user" | "assistant" | "system";
  metadata?: MessageMetadata;
  parts: Part[];
}

/** A conversation with the messages of its active branch, oldest first. */
export interface Conversation extends Omit<Schemas["ConversationView"], "messages"> {
  messages: Message[];
}

/** A part of a message. */
export type Part =
  | TextPart
  | ReasoningPart
  | FilePart
  | SourceUrlPart
  | SourceDocumentPart
  | StepStartPart
  | ToolPart
  | DataPart;

export interface TextPart {
  type: "text";
  text: string;
  state?: "streaming" | "done";
  /** The citations of the text. */
  citations?: Citation[];
  providerMetadata?: ProviderMetadata;
}

/** A passage of a text with the source that it rests on. */
export interface Citation {
  source: unknown;
  startIndex?: number;
  endIndex?: number;
  citedText?: string;
}

export interface ReasoningPart {
  type: "reasoning";
  id?: string;
  text: string;
  state?: "streaming" | "done";
  providerMetadata?: ProviderMetadata;
}

export interface FilePart {
  type: "file";
  mediaType: string;
  /** The address of a stored file, or a `data:` URL. */
  url: string;
  filename?: string;
  providerMetadata?: ProviderMetadata;
}

export interface SourceUrlPart {
  type: "source-url";
  sourceId: string;
  url: string;
  title?: string;
  providerMetadata?: ProviderMetadata;
}

export interface SourceDocumentPart {
  type: "source-document";
  sourceId: string;
  mediaType: string;
  title: string;
  filename?: string;
  providerMetadata?: ProviderMetadata;
}

export interface StepStartPart {
  type: "step-start";
}

/** Data of the application; a later part of the same type and id replaces it. */
export interface DataPart {
  type: `data-${string}`;
  id?: string;
  data: unknown;
}

/** A tool call with its result. Which fields are present depends on the state. */
export interface ToolPart {
  /** `tool-NAME`, or `dynamic-tool` for a tool that the agent does not declare. */
  type: `tool-${string}` | "dynamic-tool";
  /** The name, with the type `dynamic-tool`. */
  toolName?: string;
  toolCallId: string;
  state: ToolState;
  title?: string;
  providerExecuted?: boolean;
  /** The arguments; incomplete in the state `input-streaming`. */
  input?: unknown;
  /** Unusable arguments, as received. */
  rawInput?: unknown;
  output?: unknown;
  errorText?: string;
  /** Whether a later output will replace this one. */
  preliminary?: boolean;
  /** The request for an approval, and the decision. */
  approval?: Approval;
  callProviderMetadata?: ProviderMetadata;
  resultProviderMetadata?: ProviderMetadata;
}

export type ProviderMetadata = Record<string, unknown>;

interface OfTool {
  toolCallId: string;
  providerExecuted?: boolean;
  providerMetadata?: ProviderMetadata;
  dynamic?: boolean;
}

/** An event of an answer: a chunk of the AI SDK's UI message stream, or a snapshot. */
export type Chunk =
  | { type: "start"; messageId?: string; messageMetadata?: MessageMetadata }
  | { type: "start-step" }
  | { type: "text-start"; id: string; providerMetadata?: ProviderMetadata }
  | { type: "text-delta"; id: string; delta: string; providerMetadata?: ProviderMetadata }
  | { type: "text-end"; id: string; citations?: Citation[]; providerMetadata?: ProviderMetadata }
  | { type: "reasoning-start"; id: string; providerMetadata?: ProviderMetadata }
  | { type: "reasoning-delta"; id: string; delta: string; providerMetadata?: ProviderMetadata }
  | { type: "reasoning-end"; id: string; providerMetadata?: ProviderMetadata }
  | ({ type: "tool-input-start"; toolName: string; title?: string } & OfTool)
  | { type: "tool-input-delta"; toolCallId: string; inputTextDelta: string }
  | ({ type: "tool-input-available"; toolName: string; input: unknown; title?: string } & OfTool)
  | ({ type: "tool-input-error"; toolName: string; input: unknown; errorText: string } & OfTool)
  // With `approved` it is decided, and is told again to a client that joins later.
  | { type: "tool-approval-request"; approvalId: string; toolCallId: string; terms?: ApprovalTerms; approved?: boolean }
  | ({ type: "tool-output-available"; output: unknown; preliminary?: boolean } & OfTool)
  | ({ type: "tool-output-error"; errorText: string } & OfTool)
  | { type: "tool-output-denied"; toolCallId: string }
  | SourceUrlPart
  | SourceDocumentPart
  | FilePart
  | { type: "finish-step" }
  | { type: "finish"; finishReason?: FinishReason; messageMetadata?: MessageMetadata }
  | { type: "message-metadata"; messageMetadata: MessageMetadata }
  | { type: "abort"; reason?: string }
  | { type: "error"; errorText: string }
  | Snapshot
  | DataChunk;

/**
 * The message was read anew, because a part of the stream could not be read again and does not continue what was
 * received. It replaces everything before. The client makes it, not the server.
 */
export interface Snapshot {
  type: "snapshot";
  message: Message;
}

/** Data of the application. */
export interface DataChunk extends DataPart {
  /** Whether it is for this moment only and in no message. */
  transient?: boolean;
}

/** Returns whether a chunk has data of the application. */
export function isDataChunk(chunk: Chunk): chunk is DataChunk {
  return chunk.type.startsWith("data-");
}

/** Returns whether a part is a tool call. */
export function isToolPart(part: Part): part is ToolPart {
  return part.type.startsWith("tool-") || part.type === "dynamic-tool";
}

/** Returns the name of the tool of a call. */
export function getToolName(part: ToolPart): string {
  return part.type === "dynamic-tool" ? (part.toolName ?? "") : part.type.slice("tool-".length);
}

/** Returns the text of a message, without reasoning. Between two texts is a blank line. */
export function getText(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

/** Returns the calls of a message that wait for an approval, for an answer of the user, or for a result of a client tool. */
export function getPendingCalls(message: Message | undefined): ToolPart[] {
  if (message?.role !== "assistant") return [];
  return message.parts.filter(isToolPart).filter((part) => {
    return part.state === "approval-requested" || (part.state === "input-available" && part.providerExecuted !== true);
  });
}
