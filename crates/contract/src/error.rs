//! Errors, chosen by their reader: the loop reads the kind, an operator the cause, a model the tool's text.

use std::time::Duration;
use thiserror::Error;

/// A model could not answer, or not to the end.
#[derive(Debug, Error)]
#[error("{kind}: {cause}")]
pub struct ModelError {
    /// What the loop does with it.
    pub kind: ModelErrorKind,
    /// For the operator's log. Never holds a key; may hold a piece of the provider's answer, so it never reaches a browser.
    pub cause: String,
    /// What the provider asked us to wait.
    pub retry_after: Option<Duration>,
}

/// What went wrong with a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ModelErrorKind {
    /// 401, 403: the key is missing or wrong.
    #[error("the provider refused the credentials")]
    Unauthorized,
    /// 429: too many requests or no quota.
    #[error("the provider limits the rate")]
    RateLimited,
    /// 400, 404, 422: the request is wrong; asking again does not help.
    #[error("the provider refused the request")]
    Refused,
    /// 408, 409, 5xx, `overloaded`.
    #[error("the provider is in trouble")]
    Unavailable,
    /// No connection.
    #[error("the provider cannot be reached")]
    Unreachable,
    /// No headers, or no bytes, for too long.
    #[error("the provider fell silent")]
    Timeout,
    /// The stream ended before its end, or held something that cannot be read.
    #[error("the provider's stream broke off")]
    BrokenStream,
    /// It was not asked: it failed before, and its circuit is open.
    #[error("the provider is not asked for now")]
    CircuitOpen,
    /// The run was stopped.
    #[error("stopped")]
    Cancelled,
}

impl ModelError {
    /// An error with its cause.
    pub fn new(kind: ModelErrorKind, cause: impl Into<String>) -> Self {
        Self { kind, cause: cause.into(), retry_after: None }
    }

    /// Whether asking again may help, as long as nothing of the reply has arrived.
    pub fn retryable(&self) -> bool {
        use ModelErrorKind::{BrokenStream, CircuitOpen, RateLimited, Timeout, Unavailable, Unreachable};
        matches!(self.kind, RateLimited | Unavailable | Unreachable | Timeout | BrokenStream | CircuitOpen)
    }
}

/// A tool could not do what it was asked. The text is for the model.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ToolError {
    /// For the model; never a secret or a path.
    pub message: String,
}

impl ToolError {
    /// An error that the model reads.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
