//! Asking a model, with retries as long as nothing of its reply has arrived; never after it, since what was told would be
//! told twice.

use crate::reply::Failure;
use crate::{Agent, Event, EventSink, SinkClosed};
use contract::{Model, ModelError, ModelErrorKind, Part, PartStream, Request};
use futures::StreamExt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// A wait that the provider asks for beyond this is not waited for: the user decides.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first wait; doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// How long one request waits in all for models that are not asked for now.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A reply that has begun.
pub(crate) struct Begun {
    pub(crate) first: Part,
    pub(crate) rest: PartStream,
}

/// Asks until a reply begins. `current` is which of the agent's models is asked first; afterwards, which one answers.
pub(crate) async fn ask<S: EventSink>(
    agent: &Agent,
    current: &mut usize,
    request: &Request,
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<Begun, Failure> {
    let mut waits = Waits::default();
    loop {
        let error = match ask_all(agent, current, request, cancel, sink).await? {
            Ok(begun) => return Ok(begun),
            Err(error) => error,
        };
        let Some(wait) = waits.after(&error, agent.settings.max_retries) else { return Err(error.into()) };
        let attempt = waits.asked + waits.refused;
        tracing::info!(agent = agent.id, %error, attempt, ?wait, "the model failed before its reply; asking again");
        sink.emit(Event::Retry { attempt, wait, error: error.to_string() }).await?;
        tokio::select! {
            () = cancel.cancelled() => return Err(stopped().into()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Asks each model once, beginning with the current one, until one answers. When none does, what one of them said counts more than that
/// another was not asked.
async fn ask_all<S: EventSink>(
    agent: &Agent,
    current: &mut usize,
    request: &Request,
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<Result<Begun, ModelError>, SinkClosed> {
    let models: Vec<_> = agent.models().collect();
    let (first, mut failed) = (*current, None);
    loop {
        let error = match ask_once(agent, &**models[*current], request.clone(), cancel).await {
            Ok(begun) => return Ok(Ok(begun)),
            Err(error) => error,
        };
        let next = (*current + 1) % models.len();
        // A stop is no failure of the model's.
        if next == first || error.kind == ModelErrorKind::Cancelled {
            *current = first;
            // One that will answer in a moment counts more than one that never does.
            let failed =
                failed.filter(|failed: &ModelError| error.kind == ModelErrorKind::CircuitOpen && failed.retryable());
            return Ok(Err(failed.unwrap_or(error)));
        }
        *current = next;
        let to = models[next].id().clone();
        tracing::warn!(agent = agent.id, %error, %to, "a model failed before its reply; asking another");
        sink.emit(Event::Fallback { to, error: error.to_string() }).await?;
        failed = Some(error).filter(|error| error.kind != ModelErrorKind::CircuitOpen).or(failed);
    }
}

async fn ask_once(
    agent: &Agent,
    model: &dyn Model,
    request: Request,
    cancel: &CancellationToken,
) -> Result<Begun, ModelError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(stopped()),
        begun = begin(model, request, agent.settings.timeouts.first_byte, cancel) => begun,
    }
}

/// Waits for the first part of a reply. Each sign of life begins the time anew: a model that thinks silently is not asked twice.
async fn begin(
    model: &dyn Model,
    request: Request,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<Begun, ModelError> {
    let late = |_| ModelError::new(ModelErrorKind::Timeout, format!("no answer within {limit:?} (first byte)"));
    let mut parts = timeout(limit, model.stream(request, cancel.clone())).await.map_err(late)??;
    loop {
        match timeout(limit, parts.next()).await.map_err(late)? {
            Some(Ok(Part::Alive)) => {}
            Some(first) => return Ok(Begun { first: first?, rest: parts }),
            None => return Err(ModelError::new(ModelErrorKind::BrokenStream, "the reply was empty")),
        }
    }
}

/// What a request has waited so far.
#[derive(Default)]
struct Waits {
    /// Times that a model was asked.
    asked: u32,
    /// Times that none was, because their circuits are open.
    refused: u32,
    /// How long the latter took.
    rested: Duration,
}

impl Waits {
    /// How long to wait before the next attempt; none when there is to be none.
    fn after(&mut self, error: &ModelError, max_retries: u32) -> Option<Duration> {
        if error.kind != ModelErrorKind::CircuitOpen {
            self.asked += 1;
            return wait(error, self.asked, max_retries);
        }
        // Nothing was asked, so it is no retry. Without a time, somebody is trying the model.
        self.refused += 1;
        let wait = pause(error, self.refused).filter(|_| max_retries > 0)?;
        self.rested += wait;
        (self.rested <= LONGEST_REST).then_some(wait)
    }
}

/// How long to wait after a failure; none when it is not to be asked again.
fn wait(error: &ModelError, attempt: u32, max_retries: u32) -> Option<Duration> {
    if attempt > max_retries || !error.retryable() {
        return None;
    }
    pause(error, attempt)
}

/// As long as the provider asks for, or longer each time; none when that is too long.
fn pause(error: &ModelError, attempt: u32) -> Option<Duration> {
    match error.retry_after {
        Some(asked) if asked > LONGEST_WAIT => None,
        Some(asked) => Some(asked),
        None => Some(jitter(FIRST_WAIT * 2_u32.pow((attempt - 1).min(4)))),
    }
}

/// Between half of a wait and all of it, so that many who failed together do not come back together.
fn jitter(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) as u32;
    wait / 2 + (wait / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

pub(crate) fn stopped() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits() {
        let check = |kind, retry_after: Option<u64>, attempt, expected: Option<std::ops::RangeInclusive<u64>>| {
            let error = ModelError { retry_after: retry_after.map(Duration::from_secs), ..ModelError::new(kind, "") };
            let wait = wait(&error, attempt, 2).map(|wait| wait.as_millis() as u64);
            assert_eq!(wait.is_some(), expected.is_some(), "{error:?} {attempt}");
            assert!(wait.zip(expected).is_none_or(|(wait, range)| range.contains(&wait)), "{wait:?}");
        };
        check(ModelErrorKind::RateLimited, Some(7), 1, Some(7000..=7000));
        check(ModelErrorKind::RateLimited, Some(31), 1, None);
        check(ModelErrorKind::Unavailable, None, 1, Some(1000..=2000));
        check(ModelErrorKind::Unavailable, None, 2, Some(2000..=4000));
        check(ModelErrorKind::Unavailable, None, 3, None);
        check(ModelErrorKind::Unauthorized, None, 1, None);
        check(ModelErrorKind::Refused, None, 1, None);
    }

    /// A model that is not asked is waited for without using up the retries, but not for ever.
    #[test]
    fn waits_for_a_model_that_rests() {
        let rests = |seconds: Option<u64>| {
            let retry_after = seconds.map(Duration::from_secs);
            ModelError { retry_after, ..ModelError::new(ModelErrorKind::CircuitOpen, "") }
        };
        let mut waits = Waits::default();
        assert_eq!(waits.after(&rests(Some(31)), 2), None);
        for _ in 0..3 {
            assert_eq!(waits.after(&rests(Some(5)), 2), Some(Duration::from_secs(5)));
        }
        let failed = ModelError::new(ModelErrorKind::Unavailable, "");
        assert!(waits.after(&failed, 2).is_some() && waits.after(&failed, 2).is_some());
        assert!(waits.after(&failed, 2).is_none(), "retries are counted");
        let more = std::iter::from_fn(|| waits.after(&rests(Some(20)), 2)).count();
        assert_eq!(more, 2);
        assert_eq!(Waits::default().after(&rests(Some(5)), 0), None, "without retries nothing is waited for");
    }
}
