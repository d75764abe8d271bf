//! Asking a model, with retries as long as nothing of its reply has arrived; never after it, since what was told would be
//! told twice.

use crate::reply::Failure;
use crate::{Agent, Event, EventSink, SinkClosed};
use contract::{Model, ModelError, ModelErrorKind, Part, PartStream, Request};
use futures::StreamExt;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A wait that the provider asks for beyond this is not waited for: the user decides.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// The first wait; doubled each time.
const FIRST_WAIT: Duration = Duration::from_secs(2);

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
    let mut attempt = 0;
    loop {
        let error = match ask_all(agent, current, request, cancel, sink).await? {
            Ok(begun) => return Ok(begun),
            Err(error) => error,
        };
        attempt += 1;
        let Some(wait) = wait(&error, attempt, agent.settings.max_retries) else { return Err(error.into()) };
        tracing::info!(agent = agent.id, %error, attempt, ?wait, "the model failed before its reply; asking again");
        sink.emit(Event::Retry { attempt, wait, error: error.to_string() }).await?;
        tokio::select! {
            () = cancel.cancelled() => return Err(stopped().into()),
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Asks each model once, beginning with the current one, until one answers.
async fn ask_all<S: EventSink>(
    agent: &Agent,
    current: &mut usize,
    request: &Request,
    cancel: &CancellationToken,
    sink: &mut S,
) -> Result<Result<Begun, ModelError>, SinkClosed> {
    let models: Vec<_> = agent.models().collect();
    let first = *current;
    loop {
        let error = match ask_once(agent, &**models[*current], request.clone(), cancel).await {
            Ok(begun) => return Ok(Ok(begun)),
            Err(error) => error,
        };
        let next = (*current + 1) % models.len();
        // A stop is no failure of the model's.
        if next == first || error.kind == ModelErrorKind::Cancelled {
            *current = first;
            return Ok(Err(error));
        }
        *current = next;
        let to = models[next].id().clone();
        tracing::warn!(agent = agent.id, %error, %to, "a model failed before its reply; asking another");
        sink.emit(Event::Fallback { to, error: error.to_string() }).await?;
    }
}

async fn ask_once(
    agent: &Agent,
    model: &dyn Model,
    request: Request,
    cancel: &CancellationToken,
) -> Result<Begun, ModelError> {
    let begin = async {
        let mut parts = model.stream(request, cancel.clone()).await?;
        match parts.next().await {
            Some(first) => Ok(Begun { first: first?, rest: parts }),
            None => Err(ModelError::new(ModelErrorKind::BrokenStream, "the reply was empty")),
        }
    };
    let limit = agent.settings.timeouts.first_byte;
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(stopped()),
        begun = tokio::time::timeout(limit, begin) => begun.unwrap_or_else(|_| {
            Err(ModelError::new(ModelErrorKind::Timeout, format!("no answer within {limit:?} (first byte)")))
        }),
    }
}

/// How long to wait before the next attempt; none when there is to be none.
fn wait(error: &ModelError, attempt: u32, max_retries: u32) -> Option<Duration> {
    if attempt > max_retries || !error.retryable() {
        return None;
    }
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
}
