import type { ErrorCode, ErrorReason, Message, Outcome } from "./types.ts";

/** The body of a response to a request that the server refuses. */
export interface ErrorBody {
  code: ErrorCode;
  reason?: ErrorReason;
  message: string;
  path?: string;
  retryAfter?: number;
  traceId?: string;
}

/** An error of the client; those below say which. */
export class ChatwrightError extends Error {
  override name = "ChatwrightError";
}

/** The server refused a request. */
export class RequestError extends ChatwrightError {
  override name = "RequestError";
  /** The HTTP status. */
  readonly status: number;
  /** The stable code, for programs. */
  readonly code: ErrorCode;
  /** The specific cause behind the code. */
  readonly reason: ErrorReason | undefined;
  /** The invalid field, with the code `invalid`. */
  readonly path: string | undefined;
  /** Seconds to wait before trying again. */
  readonly retryAfter: number | undefined;
  /** The id by which the operator finds the request in the log. */
  readonly traceId: string | undefined;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.status = status;
    this.code = body.code;
    this.reason = body.reason;
    this.path = body.path;
    this.retryAfter = body.retryAfter;
    this.traceId = body.traceId;
  }
}

/** The server cannot be reached, or the connection broke and could not be restored. */
export class ConnectionError extends ChatwrightError {
  override name = "ConnectionError";
}

/** An answer failed, or the server went down in the middle. The text received so far is in `partial`. */
export class AnswerError extends ChatwrightError {
  override name = "AnswerError";
  readonly partial: Message;
  readonly outcome: Outcome;
  /** The cause, if the server knows one. */
  readonly reason: ErrorReason | undefined;

  constructor(message: string, partial: Message, outcome: Outcome) {
    super(message);
    this.partial = partial;
    this.outcome = outcome;
    this.reason = partial.metadata?.error?.reason;
  }
}

/** The answer is no longer in the conversation: it was deleted, or another version of it was selected. */
export class GoneError extends ChatwrightError {
  override name = "GoneError";
}

/** No call of the newest message waits for the answer that was given. */
export class NotPendingError extends ChatwrightError {
  override name = "NotPendingError";
}
