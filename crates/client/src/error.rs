//! What can go wrong.

use wire::{ErrorCode, UserError};

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// This is not the address of a server.
    #[error("this is not the address of a server: {0}")]
    Address(String),
    /// The server has refused it, and says why; [`UserError::code`] is for programs.
    #[error("{0}")]
    Refused(UserError),
    /// The server cannot be reached, or the connection broke and could not be made again.
    #[error("the server cannot be reached: {0}")]
    Connection(#[source] reqwest::Error),
    /// What the server said cannot be understood: it is no server of this kind, or a newer one.
    #[error("the server's answer cannot be read: {0}")]
    Unreadable(String),
    /// The answer went on while nobody read it, and cannot be told again from there. The conversation has it.
    #[error("a part of the answer was missed; load the conversation")]
    Gap,
    /// No call of the newest message waits for this answer.
    #[error("no call `{0}` waits for an answer")]
    NotWaiting(String),
}

impl Error {
    /// What the server has refused it for, if it has.
    pub fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Refused(error) => Some(error.code),
            _ => None,
        }
    }
}
