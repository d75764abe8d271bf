//! The errors of messengers.

use ::jobs::JobError;
use ::store::StoreError;
use std::time::Duration;

/// The error of a method. The messages contain neither a secret nor the text that was sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ApiError {
    /// Too many requests.
    #[error("the messenger asks to wait {} s", .0.as_secs())]
    Wait(Duration),
    /// The messenger refuses the request as it is.
    #[error("the messenger refuses it: {description}")]
    Refused { refusal: Refusal, description: String },
    /// There is no answer, or one that cannot be read.
    #[error("the messenger cannot be reached: {0}")]
    Unavailable(String),
    /// The mail server is reached, but refuses a command, or its response cannot be read.
    #[error("the messenger does not do it: {0}")]
    Failed(String),
}

/// The reason why a messenger refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The token is not valid.
    Token,
    /// The chat is closed to the bot: the person has blocked the bot, or a group has removed it.
    Blocked,
    /// Something else is wrong with the request.
    Other,
}

impl ApiError {
    /// Returns whether the same request may succeed later.
    pub(crate) fn is_temporary(&self) -> bool {
        !matches!(self, Self::Refused { .. })
    }

    /// Returns whether it is because of the connection, and not of what was asked for.
    pub(crate) fn is_of_connection(&self) -> bool {
        matches!(self, Self::Wait(_) | Self::Unavailable(_))
    }

    /// Returns whether the chat is closed to the bot.
    pub(crate) fn is_blocked(&self) -> bool {
        matches!(self, Self::Refused { refusal: Refusal::Blocked, .. })
    }

    /// Returns whether the messenger refuses it with these words.
    pub(crate) fn description_contains(&self, words: &str) -> bool {
        matches!(self, Self::Refused { description, .. } if description.contains(words))
    }

    /// Returns the error for a file that is larger than allowed.
    pub(crate) fn too_large() -> Self {
        Self::refused("the file is too large")
    }

    pub(crate) fn refused(description: impl Into<String>) -> Self {
        Self::Refused { refusal: Refusal::Other, description: description.into() }
    }
}

/// The error of receiving or sending: the messenger or the database has failed.
#[derive(Debug)]
pub(crate) enum SendError {
    Api(ApiError),
    Store(StoreError),
}

impl From<ApiError> for SendError {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<StoreError> for SendError {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<SendError> for JobError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Api(ApiError::Wait(time)) => Self::retry_after(time, "the messenger asks to wait"),
            SendError::Api(error) => Self::retry(error),
            SendError::Store(error) => error.into(),
        }
    }
}
