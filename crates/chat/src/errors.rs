//! Failures in the words of their reader. The cause goes to the log, where the operator finds it.

use contract::{ModelError, ModelErrorKind};
use store::StoreError;
use wire::{ErrorCode, UserError};

/// What the user reads when the model failed: what happened and what to do next, nothing of the provider's answer.
pub(crate) fn of_model(error: &ModelError) -> UserError {
    let (code, message) = match error.kind {
        ModelErrorKind::Unauthorized => (
            ErrorCode::Unavailable,
            "The model provider refused the credentials. Tell whoever runs this site, then try again.",
        ),
        ModelErrorKind::RateLimited => (
            ErrorCode::RateLimited,
            "The model provider is receiving too many requests. Wait a moment, then try again.",
        ),
        ModelErrorKind::Refused => (
            ErrorCode::Unavailable,
            "The model provider did not accept this request. Try again, or start a new conversation.",
        ),
        ModelErrorKind::Unavailable => {
            (ErrorCode::Unavailable, "The model provider is in trouble. Try again in a moment.")
        }
        ModelErrorKind::Unreachable => {
            (ErrorCode::Unavailable, "The model provider cannot be reached. Try again in a moment.")
        }
        ModelErrorKind::Timeout => (ErrorCode::Unavailable, "The model provider stopped answering. Try again."),
        ModelErrorKind::BrokenStream => (ErrorCode::Unavailable, "The answer broke off before its end. Try again."),
        ModelErrorKind::CircuitOpen => {
            (ErrorCode::Unavailable, "The model provider is in trouble and is given a rest. Try again in a moment.")
        }
        ModelErrorKind::Cancelled => (ErrorCode::Unavailable, "The answer was stopped."),
    };
    let retry_after = error.retry_after.map(|wait| wait.as_secs().min(3600) as u32);
    UserError { retry_after, ..UserError::new(code, message) }
}

/// What the user reads when the answer could not be kept.
pub(crate) fn of_closed_sink(why: Option<&str>) -> UserError {
    match why {
        Some("size") => UserError::new(ErrorCode::TooLarge, "The answer grew too long and was ended here."),
        _ => UserError::new(ErrorCode::Unavailable, "The answer could not be saved. Try again in a moment."),
    }
}

/// What the caller reads when the store failed.
pub(crate) fn of_store(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound => UserError::not_found(),
        StoreError::Busy => busy(),
        error => {
            tracing::error!(%error, "the store failed");
            let message = "This could not be saved or read just now. Try again in a moment.";
            UserError { retry_after: Some(2), ..UserError::new(ErrorCode::Unavailable, message) }
        }
    }
}

/// A place in a list that no answer of ours named.
pub(crate) fn foreign_cursor() -> UserError {
    UserError::new(ErrorCode::Malformed, "The cursor is not one of ours.")
}

/// There is no room; in how many seconds there may be.
pub(crate) fn full(seconds: u32) -> UserError {
    let message = "The server is busy with other answers. Try again in a moment.";
    UserError { retry_after: Some(seconds), ..UserError::new(ErrorCode::Unavailable, message) }
}

/// As many answers are being written for the user as he may have at once.
pub(crate) fn too_many_runs(most: usize) -> UserError {
    let message = match most {
        1 => "Another answer is being written for you. Wait for it, or stop it, then try again.".to_owned(),
        most => format!("{most} other answers are being written for you. Wait for one, or stop one, then try again."),
    };
    UserError { retry_after: Some(10), ..UserError::new(ErrorCode::RateLimited, message) }
}

/// The server is about to end.
pub(crate) fn draining() -> UserError {
    let message = "The server is restarting. Try again in a moment.";
    UserError { retry_after: Some(5), ..UserError::new(ErrorCode::Unavailable, message) }
}

/// A second run in one conversation.
pub(crate) fn busy() -> UserError {
    UserError::new(
        ErrorCode::Busy,
        "An answer is still being written in this conversation. Wait for it, or stop it first.",
    )
}

/// A fault of ours.
pub(crate) fn internal() -> UserError {
    UserError::new(ErrorCode::Internal, "Something went wrong on our side. Try again.")
}
