//! Why an endpoint has no result.

use std::time::Duration;
use thiserror::Error;

/// Why an endpoint has no result. The text of each is for the caller and for a model; causes are in the log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// There is no endpoint with this id, or none that the caller may call.
    #[error("There is no such endpoint.")]
    NotFound,
    /// The caller would have to sign in.
    #[error("The user is not signed in.")]
    Unauthenticated,
    /// The payload does not fit.
    #[error("The payload does not fit at {path}: {message}")]
    Payload {
        /// A JSON pointer; `/` is the payload itself.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// The routine said that the caller did something wrong (`:reject`).
    #[error("{0}")]
    Rejected(String),
    /// The routine said that something went wrong (`:throw`).
    #[error("{0}")]
    Thrown(String),
    /// A step failed.
    #[error("The step `{step}` failed: {message}")]
    Step {
        /// Its id, or the control's name.
        step: String,
        /// Why, without addresses or paths.
        message: String,
    },
    /// Too many steps.
    #[error("The routine did not finish within {0} steps.")]
    TooManySteps(u32),
    /// It took too long.
    #[error("The routine did not finish within {} s.", .0.as_secs_f32())]
    TooSlow(Duration),
    /// The caller has gone.
    #[error("The call was stopped.")]
    Cancelled,
}
