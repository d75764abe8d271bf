//! Why an endpoint has no result.

use thiserror::Error;

/// Why an endpoint has no result. The text of each is for the caller and for a model; causes are in the log.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EndpointError {
    /// There is no endpoint with this id.
    #[error("There is no such endpoint.")]
    NotFound,
    /// The payload does not fit.
    #[error("The payload does not fit at {path}: {message}")]
    Payload {
        /// A JSON pointer.
        path: String,
        /// What is wrong.
        message: String,
    },
    /// The routine said no (`:reject`, `:throw`).
    #[error("{0}")]
    Rejected(String),
    /// A step failed.
    #[error("The step `{step}` failed: {message}")]
    Step {
        /// Its id.
        step: String,
        /// Why, without addresses or paths.
        message: String,
    },
    /// A limit of time or steps.
    #[error("The routine did not finish within its limit of {0}.")]
    Limit(String),
    /// The caller has gone.
    #[error("The call was stopped.")]
    Cancelled,
}
