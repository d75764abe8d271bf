export { Chat, newId, type Answer, type ChatOptions, type Choices, type Input, type SendOptions } from "./chat.ts";
export { Chatwright, Conversations, Files, Runs, type Agent, type ListOptions } from "./client.ts";
export { AnswerError, ChatwrightError, ConnectionError, GoneError, NotPendingError, RequestError } from "./error.ts";
export type { ChatwrightOptions, Credential } from "./http.ts";
export { Reply } from "./reply.ts";
export type { components, operations, paths } from "./openapi.ts";
export * from "./types.ts";
