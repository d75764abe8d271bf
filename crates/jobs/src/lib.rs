#![doc = include_str!("../README.md")]

mod context;
mod handler;
mod kind;
mod new_job;
mod outcome;
mod queue;
mod table;
#[cfg(test)]
mod tests;
mod work;

pub use context::{Fence, JobContext, StopReason};
pub use handler::Handler;
pub use kind::{Backoff, Kind, Lane};
pub use new_job::{Due, Enqueued, MAX_KEY, MAX_PAYLOAD, NewJob, OnPending};
pub use outcome::{JobError, Outcome};
pub use queue::Jobs;
pub use table::{CancelOutcome, JobCount, JobFilter, JobRow, JobState, QueueStatus};
pub use work::Workers;
