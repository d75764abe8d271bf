//! Errors of the client.

use wire::{ErrorCode, UserError};

/// An error of the client.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The address is not the URL of a server.
    #[error("this is not the address of a server: {0}")]
    Address(String),
    /// The server refused the request; [`UserError::code`] is for programs.
    #[error("{0}")]
    Refused(UserError),
    /// The server is unreachable, or the connection broke and could not be restored.
    #[error("the server cannot be reached: {0}")]
    Connection(#[source] reqwest::Error),
    /// The response could not be parsed: the server is of another kind or a newer version.
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(String),
    /// Part of the answer was missed and cannot be streamed again. The conversation contains it.
    #[error("a part of the answer was missed; load the conversation")]
    Gap,
    /// No call of the newest message waits for this answer.
    #[error("no call `{0}` waits for an answer")]
    NotWaiting(String),
}

impl Error {
    /// Returns the server's error code, if the server refused the request.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(error) => Some(error.code),
            _ => None,
        }
    }
}
