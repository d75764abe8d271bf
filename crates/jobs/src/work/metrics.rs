//! Metrics of the queue. Kinds that this program does not know count as `other`, so their number is
//! bounded.

use crate::context::{Attempt, StopReason};
use crate::outcome::End;
use crate::table::{JobState, QueueStatus};
use metrics::{counter, gauge, histogram};
use std::collections::HashMap;
use std::time::Duration;

const OTHER: &str = "other";

/// Counts the end of an attempt.
pub(super) fn record_end(attempt: &Attempt, end: &End, took: Duration) {
    let outcome = match end {
        End::Nothing if attempt.why_stopped() == Some(StopReason::Lost) => "lost",
        End::Done | End::Again(_) | End::Nothing => "done",
        End::Failed(_) => "failed",
        End::Retry(..) => "retried",
        End::Cancelled => "cancelled",
        End::Released => "released",
    };
    let kind = attempt.kind.clone();
    counter!("chatwright_job_attempts_total", "kind" => kind.clone(), "outcome" => outcome).increment(1);
    histogram!("chatwright_job_seconds", "kind" => kind).record(took);
}

/// Records how many jobs there are.
pub(super) fn record_queue(status: &QueueStatus, kinds: &[&'static str]) {
    let mut jobs: HashMap<(&str, JobState), f64> = HashMap::new();
    for kind in kinds.iter().copied().chain([OTHER]) {
        for state in [JobState::Waiting, JobState::Running, JobState::Failed] {
            jobs.insert((kind, state), 0.0);
        }
    }
    for count in &status.counts {
        let kind = kinds.iter().copied().find(|kind| *kind == count.kind).unwrap_or(OTHER);
        if let Some(sum) = jobs.get_mut(&(kind, count.state)) {
            *sum += count.jobs as f64;
        }
    }
    for ((kind, state), count) in jobs {
        gauge!("chatwright_jobs", "kind" => kind.to_owned(), "state" => state.name()).set(count);
    }
    let oldest = status.oldest_due_ms.unwrap_or_default() as f64 / 1_000.0;
    gauge!("chatwright_jobs_oldest_due_seconds").set(oldest);
}
