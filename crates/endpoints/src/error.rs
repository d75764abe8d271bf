//! Errors of endpoint calls.

use std::time::Duration;
use thiserror::Error;

/// An error of an endpoint call. The messages are for the caller and for models; causes are logged.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// There is no endpoint with this id that the caller may call.
    #[error("There is no such endpoint.")]
    NotFound,
    /// The endpoint requires a signed-in user.
    #[error("The user is not signed in.")]
    Unauthenticated,
    /// The payload is invalid.
    #[error("The payload is invalid at {path}: {message}")]
    Payload {
        /// The location as a JSON pointer; `/` is the payload itself.
        path: String,
        /// The error message.
        message: String,
    },
    /// The routine rejected the call as the caller's error (`:reject`).
    #[error("{0}")]
    Rejected(String),
    /// The routine reported an error (`:throw`).
    #[error("{0}")]
    Thrown(String),
    /// A step failed.
    #[error("The step `{step}` failed: {message}")]
    Step {
        /// The step's id, or the control's name.
        step: String,
        /// The error message, without addresses or paths.
        message: String,
        /// Where the step stands in the config (`file:line:column`), for the log. Callers do not
        /// see it.
        at: Option<String>,
    },
    /// A web service cannot be called on behalf of the user, who can do something about it.
    #[error("{message}")]
    NoUserToken {
        /// The error message for models.
        message: String,
        /// The message for the user, with a way to solve it.
        for_user: String,
    },
    /// The routine exceeded its number of steps.
    #[error("The routine did not finish within {0} steps.")]
    TooManySteps(u32),
    /// The routine exceeded its time limit.
    #[error("The routine did not finish within {} s.", .0.as_secs_f32())]
    TooSlow(Duration),
    /// The call was cancelled.
    #[error("The call was stopped.")]
    Cancelled,
}

impl EndpointError {
    /// Creates the error of a step whose position is added where the step was run.
    pub(crate) fn step(step: &str, message: impl Into<String>) -> Self {
        Self::Step { step: step.to_owned(), message: message.into(), at: None }
    }

    /// Adds the position, unless the error has that of an inner step.
    pub(crate) fn located(mut self, position: impl FnOnce() -> Option<String>) -> Self {
        if let Self::Step { at: at @ None, .. } = &mut self {
            *at = position();
        }
        self
    }

    /// Returns the position in the config of the step that failed, for the log.
    pub fn position(&self) -> &str {
        match self {
            Self::Step { at: Some(at), .. } => at,
            _ => "",
        }
    }
}
