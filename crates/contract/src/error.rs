//! The errors of models and tools. Each has its own reader: the loop reads the kind, an operator
//! the cause, and a model the text of a tool's error.

use std::time::Duration;
use thiserror::Error;

/// A request to a model that failed, before its reply or in the middle of it.
#[derive(Debug, Error)]
#[error("{kind}: {cause}")]
pub struct ModelError {
    /// The kind of failure, which decides how the loop reacts.
    pub kind: ModelErrorKind,
    /// The cause, for the operator's log. It never contains a key. It may contain a part of the
    /// provider's answer, so it is never sent to a browser.
    pub cause: String,
    /// How long the provider asks to wait before the next request.
    pub retry_after: Option<Duration>,
}

/// The kind of a model's failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ModelErrorKind {
    /// 401 or 403: the key is missing or wrong.
    #[error("the provider refused the credentials")]
    Unauthorized,
    /// 429: too many requests, or no quota.
    #[error("the rate limit of the provider is reached")]
    RateLimited,
    /// 400, 404 or 422: the request is wrong; repeating it does not help.
    #[error("the provider refused the request")]
    Refused,
    /// The request has more tokens than the model's context.
    #[error("the request is longer than the model's context")]
    ContextTooLong,
    /// 408, 409, 5xx or `overloaded`.
    #[error("the provider is temporarily unavailable")]
    Unavailable,
    /// The connection could not be established.
    #[error("the provider cannot be reached")]
    Unreachable,
    /// No headers, or no further bytes, arrived in time.
    #[error("the provider did not respond in time")]
    Timeout,
    /// The stream ended early, or contained something that cannot be parsed.
    #[error("the provider's stream is broken")]
    BrokenStream,
    /// The model was not asked: it failed before, and its circuit is open.
    #[error("the circuit breaker of the model is open")]
    CircuitOpen,
    /// The run was stopped.
    #[error("stopped")]
    Cancelled,
}

impl ModelError {
    /// Creates an error with its cause.
    pub fn new(kind: ModelErrorKind, cause: impl Into<String>) -> Self {
        Self { kind, cause: cause.into(), retry_after: None }
    }

    /// Returns whether a retry may help, as long as nothing of the reply has arrived.
    pub fn retryable(&self) -> bool {
        use ModelErrorKind::{BrokenStream, CircuitOpen, RateLimited, Timeout, Unavailable, Unreachable};
        matches!(self.kind, RateLimited | Unavailable | Unreachable | Timeout | BrokenStream | CircuitOpen)
    }
}

/// A failed tool call. The model reads the message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ToolError {
    /// The message for the model; never contains a secret or a path.
    pub message: String,
}

impl ToolError {
    /// Creates an error with the message for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
