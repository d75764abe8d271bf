//! L5: three times as many streams as there is room for, and ten times as many short requests. What is too much is told at once to come
//! again, what was accepted is whole, and afterwards everything is as before.

use crate::client::{Client, Offered, Refusal};
use crate::measure::{self, Piece};
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use crate::scenarios::load::BYSTANDER;
use anyhow::{Result, bail};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Three times L3, and the least of them that must be taken: L3 itself.
const STREAMS: u32 = 3_000;
const TAKEN: usize = 1_000;

/// Ten times the short requests of L3, in a second.
const REQUESTS: u32 = 500;

/// Of so many requests one must be answered, which is as many as L3 asks for; the others may be told to come again.
const ANSWERED: usize = 10;

/// In how much time all come.
const STARTS: Duration = Duration::from_secs(6);

/// How fast a refusal is, in ms.
const REFUSAL: f64 = 50.0;

/// How long it may take until a message is taken again.
const RECOVERS: Duration = Duration::from_secs(10);

/// Between two who come while there is no room.
const LATECOMERS: Duration = Duration::from_millis(100);

/// What one of those who came was given.
enum Came {
    Whole(Vec<Piece>),
    Refused(Refusal),
}

/// All of it at once.
pub(crate) async fn overload(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "overload").await?;
    let mut server = world.setup.start(&world.history).await?;
    let warm = world.client(&server, "warm")?;
    warm.turn("warm", &Script { tag: "warm-0".to_owned(), deltas: 3, ..Script::default() }, None).await?;
    let slow = given.slowness();
    let (deltas, pause, a_second, starts) =
        (if slow > 1 { 90 } else { 300 }, 100 * u64::from(slow), REQUESTS / slow, STARTS * slow);
    let (clock, over, refused) =
        (world.provider.began, Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let requests = tokio::spawn(measure::requests(warm, a_second, over.clone()));
    let mut streams = Vec::new();
    for number in 0..STREAMS {
        let user = format!("u{number}");
        let (client, refused) = (world.client(&server, &user)?, refused.clone());
        let script = Script { tag: format!("{user}-0"), deltas, pause, timed: true, ..Script::default() };
        streams.push(tokio::spawn(async move {
            tokio::time::sleep(starts / STREAMS * number).await;
            let stream = match client.offer(&format!("c-{user}"), &script).await? {
                Offered::Accepted(stream) => stream,
                Offered::Refused(refusal) => {
                    refused.fetch_add(1, Relaxed);
                    return anyhow::Ok(Came::Refused(refusal));
                }
            };
            Ok(Came::Whole(measure::pieces_of(stream, clock).await?))
        }));
    }
    let late = world.client(&server, "late")?;
    let waits = latecomers(&late, &refused, &streams).await?;
    let (mut outcome, mut whole, mut refusals) = (Outcome::default(), 0, 0);
    for stream in streams {
        outcome.injected += 1;
        match stream.await? {
            Ok(Came::Whole(pieces)) => {
                outcome.expect(pieces.len() == deltas, || format!("{} pieces of {deltas} came", pieces.len()));
                whole += 1;
            }
            Ok(Came::Refused(refusal)) => {
                expect_told(&refusal, &mut outcome);
                refusals += 1;
            }
            Err(error) => outcome.violations.push(format!("a message was not answered: {error:#}")),
        }
    }
    let begun = Instant::now();
    over.store(true, Relaxed);
    let recovered = recover(&late, begun).await?;
    let requests = requests.await?;
    outcome.violations.extend(requests.wrong);
    outcome.expect(whole >= TAKEN, || format!("only {whole} messages were taken"));
    outcome.expect(refusals > 0 && !waits.is_empty(), || "nothing was ever refused".to_owned());
    let (answered, turned_away) = (requests.waits.len(), requests.refused.len());
    outcome.expect(answered * ANSWERED >= answered + turned_away, || {
        format!("{turned_away} requests of a bystander were refused, {answered} were not")
    });
    let (refusal, bystander) = (measure::p99(waits), measure::p99(requests.waits));
    let away = measure::p99(requests.refused);
    outcome.expect(bystander <= BYSTANDER * given.slack(), || format!("p99 of a bystander is {bystander:.0} ms"));
    outcome.expect(away <= REFUSAL * given.slack(), || format!("p99 of a bystander's refusal is {away:.0} ms"));
    outcome.expect(refusal <= REFUSAL * given.slack(), || format!("p99 of a refusal is {refusal:.0} ms"));
    outcome.expect(recovered <= RECOVERS, || format!("a message is taken again after {recovered:?}"));
    outcome.expect(!server.has_ended(), || "the server ended".to_owned());
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!(
        "{whole} whole, {refusals} refused, p99 of a refusal {refusal:.0} ms, of a bystander {bystander:.0} ms ({turned_away} refused), taken again after {} ms",
        recovered.as_millis()
    );
    Ok(outcome)
}

fn expect_told(refusal: &Refusal, outcome: &mut Outcome) {
    let is_told = matches!(refusal.status, 429 | 503) && refusal.retry_after.is_some();
    outcome.expect(is_told, || format!("too much is told with {refusal:?}"));
}

/// Comes again and again while there is no room; how long each waited for a refusal, in ms.
async fn latecomers<T>(
    client: &Client,
    refused: &AtomicUsize,
    streams: &[tokio::task::JoinHandle<T>],
) -> Result<Vec<f64>> {
    // Nobody is refused before there is no room, and room there is when the first one has ended.
    let has_ended = |least: usize| streams.iter().filter(|stream| stream.is_finished()).count() > least;
    while refused.load(Relaxed) == 0 && !has_ended(0) {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut waits = Vec::new();
    while !has_ended(refused.load(Relaxed)) && waits.len() < 100 {
        let begun = Instant::now();
        let script = Script { tag: format!("late-{}", waits.len()), deltas: 1, ..Script::default() };
        match client.offer("c-late", &script).await? {
            Offered::Refused(refusal) if refusal.retry_after.is_some() => {
                waits.push(begun.elapsed().as_secs_f64() * 1e3)
            }
            Offered::Refused(refusal) => bail!("too much is told with {refusal:?}"),
            // Room was made for it.
            Offered::Accepted(stream) => drop(client.read("c-late", stream, None).await),
        }
        tokio::time::sleep(LATECOMERS).await;
    }
    Ok(waits)
}

/// How long it takes until a message is taken again.
async fn recover(client: &Client, begun: Instant) -> Result<Duration> {
    for round in 0.. {
        let script = Script { tag: format!("late-again-{round}"), deltas: 3, ..Script::default() };
        if let Ok(stream) = client.send("c-late", &script).await? {
            client.read("c-late", stream, None).await;
            break;
        }
        if begun.elapsed() > RECOVERS * 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(begun.elapsed())
}
