//! Why a request cannot be served, and what callers read then. The cause is logged for the
//! operator.

use contract::{ModelError, ModelErrorKind};
use store::StoreError;
use wire::{ErrorCode, ErrorReason, UserError};

/// Why a request cannot be served. The facade converts it to the [`UserError`] that callers read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The request is refused.
    #[error(transparent)]
    Refused(#[from] UserError),
    /// The store failed, or has nothing with this id.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The result of what the facade does.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Error> for UserError {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(error) => error,
            Error::Store(error) => store_error(error),
        }
    }
}

/// Returns the error for a failed model request: what happened and what to do next, without the
/// provider's response.
pub(crate) fn model_error(error: &ModelError) -> UserError {
    let (code, reason, message) = match error.kind {
        ModelErrorKind::Unauthorized => (
            ErrorCode::Unavailable,
            ErrorReason::ModelCredentials,
            "The model provider refused the credentials. Tell the administrator, then try again.",
        ),
        ModelErrorKind::RateLimited => (
            ErrorCode::RateLimited,
            ErrorReason::ModelLimit,
            "The model provider is receiving too many requests. Wait a moment, then try again.",
        ),
        ModelErrorKind::Refused => (
            ErrorCode::Unavailable,
            ErrorReason::ModelRefused,
            "The model provider did not accept this request. Try again, or start a new conversation.",
        ),
        ModelErrorKind::ContextTooLong => (
            ErrorCode::Unavailable,
            ErrorReason::ModelRefused,
            "The conversation is longer than the model can read. Write a shorter message, or start a new conversation.",
        ),
        ModelErrorKind::Unavailable => (
            ErrorCode::Unavailable,
            ErrorReason::ModelAway,
            "The model provider is having problems. Try again in a moment.",
        ),
        ModelErrorKind::Unreachable => (
            ErrorCode::Unavailable,
            ErrorReason::ModelAway,
            "The model provider cannot be reached. Try again in a moment.",
        ),
        ModelErrorKind::Timeout => {
            (ErrorCode::Unavailable, ErrorReason::AnswerBroken, "The model provider stopped answering. Try again.")
        }
        ModelErrorKind::BrokenStream => {
            (ErrorCode::Unavailable, ErrorReason::AnswerBroken, "The answer broke off before its end. Try again.")
        }
        ModelErrorKind::CircuitOpen => (
            ErrorCode::Unavailable,
            ErrorReason::ModelAway,
            "The model provider is having problems and is not used for the moment. Try again in a moment.",
        ),
        ModelErrorKind::Cancelled => (ErrorCode::Unavailable, ErrorReason::AnswerBroken, "The answer was stopped."),
    };
    let retry_after = error.retry_after.map(|wait| wait.as_secs().min(3600) as u32);
    UserError { retry_after, ..UserError::new(code, message).because(reason) }
}

/// The model has written no summary.
pub(crate) fn empty_summary() -> UserError {
    UserError::new(ErrorCode::Unavailable, "The summary was empty, so nothing was changed. Try again.")
}

/// The answer could not be stored.
pub(crate) fn not_saved() -> UserError {
    UserError::new(ErrorCode::Unavailable, "The answer could not be saved. Try again in a moment.")
        .because(ErrorReason::NotSaved)
}

/// The cost limit cannot be enforced because a price is unknown.
pub(crate) fn unknown_price(model: &str) -> UserError {
    let message = format!(
        "The price of the model {model} is not known, so the cost limit cannot be kept. Tell the administrator."
    );
    UserError::new(ErrorCode::Unavailable, message)
}

/// The answer ended because of a call that cannot be run.
pub(crate) fn invalid_call() -> UserError {
    UserError::new(ErrorCode::Unavailable, "The agent made a call that cannot be run, and was ended. Try again.")
}

/// The conversation belongs to another agent.
pub(crate) fn other_agent() -> UserError {
    UserError::new(
        ErrorCode::OtherAgent,
        "This conversation is with another agent. Start a new conversation to ask this one.",
    )
}

/// Returns what callers read when the store failed, and logs the failure.
fn store_error(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound => UserError::not_found(),
        StoreError::Busy => busy(),
        error => {
            if !error.is_reported() {
                tracing::error!(%error, "the store failed");
            }
            let message = "This could not be saved or read just now. Try again in a moment.";
            let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::NotSaved);
            UserError { retry_after: Some(2), ..error }
        }
    }
}

/// The newest answer waits for the user.
pub(crate) fn waits_for_user() -> UserError {
    UserError::new(ErrorCode::Busy, "A question waits for your answer in this conversation. Answer it first.")
}

/// The cursor was not issued by this server.
pub(crate) fn foreign_cursor() -> UserError {
    UserError::new(ErrorCode::Malformed, "The cursor is invalid.")
}

/// The server is full; the caller may retry after this many seconds.
pub(crate) fn server_full(seconds: u32) -> UserError {
    let message = "The server is busy with other answers. Try again in a moment.";
    let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
    UserError { retry_after: Some(seconds), ..error }
}

/// The user has the maximum number of concurrent runs.
pub(crate) fn too_many_runs(most: usize) -> UserError {
    let message = match most {
        1 => "Another answer is being written for you. Wait for it, or stop it, then try again.".to_owned(),
        most => format!("{most} other answers are being written for you. Wait for one, or stop one, then try again."),
    };
    UserError { retry_after: Some(10), ..UserError::new(ErrorCode::RateLimited, message) }
}

/// Memory is short, so no new work starts.
pub(crate) fn memory_short() -> UserError {
    let message = "The server is short of memory just now. Try again in a moment.";
    let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
    UserError { retry_after: Some(5), ..error }
}

/// The answer was ended because memory was almost used up.
pub(crate) fn ended_for_memory() -> UserError {
    let message = "The server ran short of memory and ended this answer. Try again in a moment.";
    UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy)
}

/// The server is shutting down.
pub(crate) fn draining() -> UserError {
    let message = "The server is restarting. Try again in a moment.";
    let error = UserError::new(ErrorCode::Unavailable, message).because(ErrorReason::ServerBusy);
    UserError { retry_after: Some(5), ..error }
}

/// The conversation has an active run.
pub(crate) fn busy() -> UserError {
    UserError::new(
        ErrorCode::Busy,
        "An answer is still being written in this conversation. Wait for it, or stop it first.",
    )
}

/// The conversation does not end any more with the answer after which a message is sent.
pub(crate) fn gone_on() -> UserError {
    UserError::new(ErrorCode::Busy, "The conversation has gone on since this message was written.")
}

/// A fault of the server.
pub(crate) fn internal() -> UserError {
    UserError::new(ErrorCode::Internal, "Something went wrong on our side. Try again.")
        .because(ErrorReason::ServerFailed)
}
