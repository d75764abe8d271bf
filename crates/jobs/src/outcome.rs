//! How an attempt ends.

use crate::Due;
use std::time::Duration;
use store::StoreError;

/// How a successful attempt ends. [`crate::JobContext::finish`] returns one that is stored already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome(pub(crate) End);

/// The stored result of an attempt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The work is done.
    Done,
    /// The work goes on later, as the same job.
    Again(Due),
    /// It failed for good.
    Failed(String),
    /// It failed and is tried again after this time.
    Retry(Duration, String),
    /// An operator cancelled it.
    Cancelled,
    /// The attempt does not count: the server shuts down.
    Released,
    /// Nothing: the end is stored already, or the job belongs to another worker.
    Nothing,
}

impl Outcome {
    /// The work is done. A recurring job waits for its next time.
    pub const DONE: Self = Self(End::Done);

    /// The work goes on later: the same job is due again, with its attempts counted anew. In between
    /// it takes no task and no memory.
    pub const fn again(due: Due) -> Self {
        Self(End::Again(due))
    }
}

/// Why an attempt failed.
#[derive(Debug)]
pub struct JobError {
    pub(crate) cause: String,
    pub(crate) next: Next,
}

/// The action after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Another attempt after the kind's pause, if one is left.
    Retry,
    /// Another attempt after this pause, if one is left.
    RetryAfter(Duration),
    /// None.
    Fail,
    /// The job belongs to another worker, or is gone.
    Lost,
}

impl JobError {
    /// Another attempt may succeed. `?` makes this of errors of the store, of `anyhow` and of JSON.
    pub fn retry(cause: impl ToString) -> Self {
        Self { cause: cause.to_string(), next: Next::Retry }
    }

    /// Another attempt may succeed after this time, for example the one that a service has named.
    pub fn retry_after(pause: Duration, cause: impl ToString) -> Self {
        Self { cause: cause.to_string(), next: Next::RetryAfter(pause) }
    }

    /// No further attempt can succeed.
    pub fn fail(cause: impl ToString) -> Self {
        Self { cause: cause.to_string(), next: Next::Fail }
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        let next = if error == StoreError::Fenced { Next::Lost } else { Next::Retry };
        Self { cause: error.to_string(), next }
    }
}

impl From<anyhow::Error> for JobError {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast_ref::<StoreError>() {
            Some(StoreError::Fenced) => StoreError::Fenced.into(),
            _ => Self::retry(format!("{error:#}")),
        }
    }
}

impl From<serde_json::Error> for JobError {
    fn from(error: serde_json::Error) -> Self {
        Self::retry(error)
    }
}
