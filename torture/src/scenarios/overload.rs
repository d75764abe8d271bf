//! Row L5: three times as many streams as the limit, and ten times as many short requests. The
//! excess is refused at once with `Retry-After`, accepted messages are answered completely, and the
//! server recovers.

use crate::client::{Client, Refusal, SendOutcome};
use crate::measure::{self, TimedDelta};
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::scenarios::load::MAX_BYSTANDER_MS;
use anyhow::{Result, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Three times the streams of L3, and the minimum that must be accepted: those of L3.
const STREAMS: u32 = 3_000;
const MIN_ACCEPTED: usize = 1_000;

/// Ten times the short requests of L3 per second.
const REQUESTS_PER_SECOND: u32 = 500;

/// At least one of this many requests must be answered, which is as many as L3 sends. The others
/// may be refused.
const REQUESTS_PER_ANSWER: usize = 10;

/// The time over which the streams start.
const RAMP_UP: Duration = Duration::from_secs(6);

/// The maximum p99 of a refusal in ms.
const MAX_REFUSAL_MS: f64 = 50.0;

/// The maximum time until a message is accepted again.
const MAX_RECOVERY: Duration = Duration::from_secs(10);

/// The time between two messages while the server is overloaded.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The outcome of a message.
enum MessageOutcome {
    Completed(Vec<TimedDelta>),
    Refused(Refusal),
}

/// Runs the scenario.
pub(crate) async fn overload(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "overload").await?;
    let mut server = testbed.setup.start(&testbed.history).await?;
    let warm = testbed.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    let slow = options.load_divisor();
    let (deltas, pause, a_second, starts) =
        (if slow > 1 { 90 } else { 300 }, 100 * u64::from(slow), REQUESTS_PER_SECOND / slow, RAMP_UP * slow);
    let (clock, over, refused) =
        (testbed.provider.clock, Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let requests = tokio::spawn(measure::send_requests(warm, a_second, over.clone()));
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        let user = format!("u{number}");
        let (client, refused) = (testbed.client(&server, &user)?, refused.clone());
        let script = Script { tag: format!("{user}-0"), deltas, pause, timed: true, ..Script::default() };
        streams.push(tokio::spawn(async move {
            tokio::time::sleep(starts / STREAMS * number).await;
            let stream = match client.try_send(&format!("c-{user}"), &script).await? {
                SendOutcome::Accepted(stream) => stream,
                SendOutcome::Refused(refusal) => {
                    refused.fetch_add(1, Relaxed);
                    return anyhow::Ok(MessageOutcome::Refused(refusal));
                }
            };
            Ok(MessageOutcome::Completed(measure::time_deltas(stream, clock).await?))
        }));
    }
    let late = testbed.client(&server, "late")?;
    let waits = measure_refusals(&late, &refused, &streams).await?;
    let (mut outcome, mut whole, mut refusals) = (Outcome::default(), 0, 0);
    for stream in streams {
        outcome.injected += 1;
        match stream.await? {
            Ok(MessageOutcome::Completed(pieces)) => {
                outcome.expect(pieces.len() == deltas, || format!("{} deltas of {deltas} were received", pieces.len()));
                whole += 1;
            }
            Ok(MessageOutcome::Refused(refusal)) => {
                check_refusal(&refusal, &mut outcome);
                refusals += 1;
            }
            Err(error) => outcome.violations.push(format!("a message was not answered: {error:#}")),
        }
    }
    let begun = Instant::now();
    over.store(true, Relaxed);
    let recovered = wait_for_recovery(&late, begun).await?;
    let requests = requests.await?;
    outcome.violations.extend(requests.wrong);
    outcome.expect(whole >= MIN_ACCEPTED, || format!("only {whole} messages were accepted"));
    outcome.expect(refusals > 0 && !waits.is_empty(), || "nothing was ever refused".to_owned());
    let (answered, turned_away) = (requests.waits.len(), requests.refused.len());
    outcome.expect(answered * REQUESTS_PER_ANSWER >= answered + turned_away, || {
        format!("{turned_away} requests of another client were refused, {answered} were not")
    });
    let (refusal, bystander) = (measure::p99(waits), measure::p99(requests.waits));
    let away = measure::p99(requests.refused);
    outcome.expect(bystander <= MAX_BYSTANDER_MS * options.time_factor(), || {
        format!("p99 of another client is {bystander:.0} ms")
    });
    outcome.expect(away <= MAX_REFUSAL_MS * options.time_factor(), || {
        format!("p99 of another client's refusals is {away:.0} ms")
    });
    outcome
        .expect(refusal <= MAX_REFUSAL_MS * options.time_factor(), || format!("p99 of a refusal is {refusal:.0} ms"));
    outcome.expect(recovered <= MAX_RECOVERY, || format!("a message is accepted again after {recovered:?}"));
    outcome.expect(!server.has_ended(), || "the server ended".to_owned());
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!(
        "{whole} completed, {refusals} refused, p99 of a refusal {refusal:.0} ms, of another client {bystander:.0} ms ({turned_away} refused), accepted again after {} ms",
        recovered.as_millis()
    );
    Ok(outcome)
}

fn check_refusal(refusal: &Refusal, outcome: &mut Outcome) {
    let is_told = matches!(refusal.status, 429 | 503) && refusal.retry_after.is_some();
    outcome.expect(is_told, || format!("the refusal is {refusal:?}"));
}

/// Sends messages while the server is overloaded; returns the response times of the refusals in ms.
async fn measure_refusals<T>(
    client: &Client,
    refused: &AtomicUsize,
    streams: &[tokio::task::JoinHandle<T>],
) -> Result<Vec<f64>> {
    // The overload begins with the first refusal and ends with the first completed stream.
    let has_ended = |least: usize| streams.iter().filter(|stream| stream.is_finished()).count() > least;
    while refused.load(Relaxed) == 0 && !has_ended(0) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut waits = Vec::new();
    while !has_ended(refused.load(Relaxed)) && waits.len() < 100 {
        let begun = Instant::now();
        let script = Script { tag: format!("late-{}", waits.len()), deltas: 1, ..Script::default() };
        match client.try_send("c-late", &script).await? {
            SendOutcome::Refused(refusal) if refusal.retry_after.is_some() => {
                waits.push(begun.elapsed().as_secs_f64() * 1e3)
            }
            SendOutcome::Refused(refusal) => bail!("the refusal is {refusal:?}"),
            // A run had ended, so this message was accepted.
            SendOutcome::Accepted(stream) => drop(client.read("c-late", stream, None).await),
        }
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
    Ok(waits)
}

/// Returns the time until a message is accepted again.
async fn wait_for_recovery(client: &Client, begun: Instant) -> Result<Duration> {
    for round in 0.. {
        let script = Script { tag: format!("late-again-{round}"), deltas: 3, ..Script::default() };
        if let Ok(stream) = client.send("c-late", &script).await? {
            client.read("c-late", stream, None).await;
            break;
        }
        if begun.elapsed() > MAX_RECOVERY * 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(begun.elapsed())
}
