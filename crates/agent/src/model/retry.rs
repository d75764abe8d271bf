//! Sends a request to a model, with retries and fallback models as long as nothing of the reply has
//! arrived. After the first part there are no retries, because its parts would be emitted twice.

use crate::model::reply::RunFailure;
use crate::{Agent, Event, EventSink, SinkClosed};
use contract::{Model, ModelError, ModelErrorKind, Part, PartStream, Request};
use futures::StreamExt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// The longest wait that a provider may ask for. Beyond that the request fails, and the user
/// decides whether to try again.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first wait, which doubles with each retry.
const FIRST_WAIT: Duration = Duration::from_secs(2);
/// The maximum time that one request waits for models with an open circuit.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A reply whose first part has arrived.
pub(crate) struct StartedReply {
    pub(crate) first: Part,
    pub(crate) rest: PartStream,
}

/// Sends the request until a reply begins. `current` is the index of the model to ask first, and
/// afterwards of the one that answered.
pub(crate) async fn start_reply<S: EventSink>(
    agent: &Agent,
    current: &mut usize,
    request: &Request,
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<StartedReply, RunFailure> {
    let mut waits = RetryState::default();
    loop {
        let error = match try_models(agent, current, request, cancel, sink).await? {
            Ok(begun) => return Ok(begun),
            Err(error) => error,
        };
        let Some(wait) = waits.next_wait(&error, agent.settings.max_retries) else { return Err(error.into()) };
        let attempt = waits.asked + waits.refused;
        tracing::info!(agent = agent.id, %error, attempt, ?wait, "the model failed before its reply; asking again");
        sink.emit(Event::Retry { attempt, wait, error: error.to_string() }).await?;
        tokio::select! {
            () = cancel.cancelled() => return Err(cancelled_error().into()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Asks each model once, starting with the current one, until one answers. If all fail, the error
/// of a model that was asked takes precedence over an open circuit, and a request that is too long,
/// which can be made shorter, over an error that stays.
async fn try_models<S: EventSink>(
    agent: &Agent,
    current: &mut usize,
    request: &Request,
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<Result<StartedReply, ModelError>, SinkClosed> {
    let models: Vec<_> = agent.models().collect();
    let (first, mut failed) = (*current, None);
    loop {
        let error = match try_model(agent, &**models[*current], request.clone(), cancel).await {
            Ok(begun) => return Ok(Ok(begun)),
            Err(error) => error,
        };
        let next = (*current + 1) % models.len();
        // A stopped run is not a failure of the model.
        if next == first || error.kind == ModelErrorKind::Cancelled {
            *current = first;
            // An open circuit closes soon, so it takes precedence over an error that is not
            // retryable.
            let failed = failed.filter(|failed: &ModelError| match failed.kind {
                ModelErrorKind::ContextTooLong => !error.retryable(),
                _ => error.kind == ModelErrorKind::CircuitOpen && failed.retryable(),
            });
            return Ok(Err(failed.unwrap_or(error)));
        }
        *current = next;
        let to = models[next].id().clone();
        tracing::warn!(agent = agent.id, %error, %to, "a model failed before its reply; asking another");
        sink.emit(Event::Fallback { to, error: error.to_string() }).await?;
        failed = match failed {
            Some(failed) if failed.kind == ModelErrorKind::ContextTooLong => Some(failed),
            failed => Some(error).filter(|error| error.kind != ModelErrorKind::CircuitOpen).or(failed),
        };
    }
}

async fn try_model(
    agent: &Agent,
    model: &dyn Model,
    request: Request,
    cancel: &CancellationToken,
) -> Result<StartedReply, ModelError> {
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(cancelled_error()),
        begun = await_first_part(model, request, agent.settings.timeouts.first_byte(), cancel) => begun,
    }
}

/// Waits for the first part of a reply. Each keep-alive resets the timeout, so that a model that
/// reasons silently is not asked twice.
async fn await_first_part(
    model: &dyn Model,
    request: Request,
    limit: Duration,
    cancel: &CancellationToken,
) -> Result<StartedReply, ModelError> {
    let late = |_| ModelError::new(ModelErrorKind::Timeout, format!("no answer within {limit:?} (first byte)"));
    let mut parts = timeout(limit, model.stream(request, cancel.clone())).await.map_err(late)??;
    loop {
        match timeout(limit, parts.next()).await.map_err(late)? {
            Some(Ok(Part::Alive)) => {}
            Some(first) => return Ok(StartedReply { first: first?, rest: parts }),
            None => return Err(ModelError::new(ModelErrorKind::BrokenStream, "the reply was empty")),
        }
    }
}

/// The waits of one request so far.
#[derive(Default)]
struct RetryState {
    /// The number of failed attempts.
    asked: u32,
    /// The number of attempts that were refused because all circuits were open.
    refused: u32,
    /// The total time waited for open circuits.
    rested: Duration,
}

impl RetryState {
    /// Returns how long to wait before the next attempt; `None` if there is none.
    fn next_wait(&mut self, error: &ModelError, max_retries: u32) -> Option<Duration> {
        if error.kind != ModelErrorKind::CircuitOpen {
            self.asked += 1;
            return wait(error, self.asked, max_retries);
        }
        // No model was asked, so this does not count as a retry. An error without a time means that
        // another request is trying the model.
        self.refused += 1;
        let wait = backoff(error, self.refused).filter(|_| max_retries > 0)?;
        self.rested += wait;
        (self.rested <= LONGEST_REST).then_some(wait)
    }
}

/// Returns how long to wait after a failed attempt; `None` if there is no further one.
fn wait(error: &ModelError, attempt: u32, max_retries: u32) -> Option<Duration> {
    if attempt > max_retries || !error.retryable() {
        return None;
    }
    backoff(error, attempt)
}

/// Returns the wait that the provider asks for, or an exponential one; `None` if the provider asks
/// for too long.
fn backoff(error: &ModelError, attempt: u32) -> Option<Duration> {
    match error.retry_after {
        Some(asked) if asked > LONGEST_WAIT => None,
        Some(asked) => Some(asked),
        None => Some(jitter(FIRST_WAIT * 2_u32.pow((attempt - 1).min(4)))),
    }
}

/// Returns a random time between half of `wait` and `wait`, so that requests that failed together
/// are not retried together.
fn jitter(wait: Duration) -> Duration {
    let random = RandomState::new().hash_one(0_u8) as u32;
    wait / 2 + (wait / 2).mul_f64(f64::from(random) / f64::from(u32::MAX))
}

pub(crate) fn cancelled_error() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "stopped")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_depend_on_the_error_and_the_attempt() {
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

    /// Waiting for an open circuit does not use up the retries, but is limited in time.
    #[test]
    fn an_open_circuit_is_waited_for_without_using_retries() {
        let rests = |seconds: Option<u64>| {
            let retry_after = seconds.map(Duration::from_secs);
            ModelError { retry_after, ..ModelError::new(ModelErrorKind::CircuitOpen, "") }
        };
        let mut waits = RetryState::default();
        assert_eq!(waits.next_wait(&rests(Some(31)), 2), None);
        for _ in 0..3 {
            assert_eq!(waits.next_wait(&rests(Some(5)), 2), Some(Duration::from_secs(5)));
        }
        let failed = ModelError::new(ModelErrorKind::Unavailable, "");
        assert!(waits.next_wait(&failed, 2).is_some() && waits.next_wait(&failed, 2).is_some());
        assert!(waits.next_wait(&failed, 2).is_none(), "retries are counted");
        let more = std::iter::from_fn(|| waits.next_wait(&rests(Some(20)), 2)).count();
        assert_eq!(more, 2);
        assert_eq!(RetryState::default().next_wait(&rests(Some(5)), 0), None, "without retries nothing is waited for");
    }
}
