//! A job to enqueue.

use crate::kind::{Kind, Policy};
use serde::Serialize;
use std::time::Duration;
use store::StoreError;

/// The longest payload, in bytes of JSON. Larger data is stored elsewhere and named by its id.
pub const MAX_PAYLOAD: usize = 64 * 1024;

/// The longest unique key, in bytes.
pub const MAX_KEY: usize = 300;

/// A job to enqueue.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub(crate) policy: Policy,
    /// The JSON, or why there is none.
    pub(crate) payload: Result<String, StoreError>,
    pub(crate) owner: Option<String>,
    pub(crate) key: Option<String>,
    pub(crate) due: Due,
    pub(crate) on_pending: OnPending,
    pub(crate) every: Option<Duration>,
}

/// When a job is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// At once.
    Now,
    /// After a delay, which also holds if the clock is set back meanwhile.
    After(Duration),
    /// At a time; Unix time in milliseconds, by the database's clock.
    At(i64),
}

/// The effect of enqueueing if a job of the kind with the same key waits already. If it runs, it is
/// repeated after its end, at the new due time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnPending {
    /// The job gets the new payload and the earlier of the two due times, and its attempts begin again.
    #[default]
    Earlier,
    /// The job gets the new payload and the new due time, and its attempts begin again: with a delay it
    /// runs once nobody has enqueued it for that long.
    Replace,
    /// The job stays as it is, also if it runs.
    Keep,
}

/// The enqueued job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Enqueued {
    /// A new job with this id.
    New(String),
    /// The job with this id, which has the same key.
    Pending(String),
}

impl Enqueued {
    /// Returns the id of the job.
    pub fn id(&self) -> &str {
        match self {
            Self::New(id) | Self::Pending(id) => id,
        }
    }
}

impl<P: Serialize> Kind<P> {
    /// Returns a job of this kind: of the server, due now, without a key.
    pub fn job(&self, payload: &P) -> NewJob {
        let payload = match serde_json::to_string(payload) {
            Ok(json) if json.len() > MAX_PAYLOAD => Err(StoreError::Invalid("the payload of a job is too large")),
            Ok(json) => Ok(json),
            Err(_) => Err(StoreError::Invalid("the payload of a job cannot be written as JSON")),
        };
        NewJob {
            policy: self.policy(),
            payload,
            owner: None,
            key: None,
            due: Due::Now,
            on_pending: OnPending::default(),
            every: None,
        }
    }
}

impl NewJob {
    /// The user whose work it is. The job is deleted with them, so work that deletes a user has none.
    #[must_use]
    pub fn owner(self, user_id: impl Into<String>) -> Self {
        Self { owner: Some(user_id.into()), ..self }
    }

    /// A key that at most one job of the kind has while it waits or runs. All such jobs have the same
    /// owner.
    #[must_use]
    pub fn key(self, key: impl Into<String>) -> Self {
        Self { key: Some(key.into()), ..self }
    }

    /// When it is due.
    #[must_use]
    pub fn due(self, due: Due) -> Self {
        Self { due, ..self }
    }

    /// The effect if a job with its key waits already.
    #[must_use]
    pub fn on_pending(self, on_pending: OnPending) -> Self {
        Self { on_pending, ..self }
    }
}
