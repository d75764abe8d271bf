//! L8: L1 for a long time, and something goes wrong every ten seconds: kills in the first half; in the second, in which memory is looked
//! at, providers that break off, clients that go away, clients that do not read, and an MCP server that is killed.

use crate::client::Client;
use crate::provider::Script;
use crate::proxy::Proxy;
use crate::random::Random;
use crate::scenario::{Given, Outcome, World};
use crate::scenarios::kill::goes_on;
use crate::server::{Server, Setup};
use crate::{measure, peer};
use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// L1's streams, whose pieces are counted; and a few whose every event is kept and compared.
const STREAMS: usize = 100;
const TALKERS: usize = 5;

/// Rounds in one conversation.
const ROUNDS: usize = 10;

/// Between two faults.
const FAULTS: Duration = Duration::from_secs(10);

/// How long an hour is.
const HOUR: u64 = 3_600;

/// By how much memory may grow in the second half: in an hour by so many MB in ten minutes; in less time by a fifth.
const SLOPE: f64 = 1.0;
const GROWTH: f64 = 1.2;

/// How long it may take until what is no longer needed is closed: connections to providers are kept for a while.
const CLOSED: Duration = Duration::from_secs(60);

/// Files by which an MCP server is reached and watched.
const PIPES: usize = 4;

/// How long it may take until an MCP server that was killed answers again.
const STARTED: Duration = Duration::from_secs(60);

/// All of it.
pub(crate) async fn soak(given: &Given) -> Result<Outcome> {
    let mut world = World::new(given, "soak").await?;
    world.setup.has_peer = true;
    let (mut random, hold, mut outcome) = (Random::of(given.seed), given.hold(120, HOUR), Outcome::default());
    let (proxy, mut server) = (Proxy::start().await?, world.setup.start(&world.history).await?);
    proxy.lead_to([&server].into_iter())?;
    let over = Arc::new(AtomicBool::new(false));
    let (counted, mut users) = (Arc::new(AtomicUsize::new(0)), Vec::new());
    let newest: Arc<[AtomicUsize]> = (0..STREAMS).map(|_| AtomicUsize::new(0)).collect();
    for number in 0..STREAMS {
        let client = Client::new(&proxy.origin, &format!("u{number}"), &world.history)?;
        let (clock, newest) = (world.provider.began, newest.clone());
        let stream = Stream { client, clock, slow: given.slowness(), number, newest };
        users.push(tokio::spawn(go_on(stream, over.clone(), counted.clone())));
    }
    for number in 0..TALKERS {
        let client = Client::new(&proxy.origin, &format!("talker{number}"), &world.history)?;
        users.push(tokio::spawn(talk(client, random.below(u64::MAX), over.clone())));
    }
    let (begun, mut samples, mut kills, mut peers) = (Instant::now(), Vec::new(), 0, 0);
    let mut sleepers: Vec<TcpStream> = Vec::new();
    while begun.elapsed() < hold {
        let until = Instant::now() + FAULTS;
        while Instant::now() < until {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if begun.elapsed() > hold / 2 {
                samples.push((begun.elapsed().as_secs_f64(), server.memory_mb()?));
            }
        }
        outcome.injected += 1;
        sleepers.clear();
        outcome.expect(!server.has_ended(), || "the server ended by itself".to_owned());
        let running = peer::running(&world.setup.folder).len();
        outcome.expect(running <= 1, || format!("I9 {running} MCP servers run, one is needed"));
        match random.below(4) {
            0 | 1 if begun.elapsed() < hold / 2 => {
                server.kill(&world.history).await?;
                server = world.setup.start(&world.history).await?;
                proxy.lead_to([&server].into_iter())?;
                kills += 1;
            }
            0 | 2 => peers += peer::kill(&world.setup.folder),
            _ => {
                let number = random.below(STREAMS as u64) as usize;
                sleepers.push(do_not_read(&server, number, newest[number].load(Relaxed)).await?);
            }
        }
    }
    over.store(true, Relaxed);
    for user in users {
        user.await??;
    }
    drop(sleepers);
    for number in 0..TALKERS {
        let (user, client) = (format!("talker{number}"), world.client(&server, &format!("talker{number}"))?);
        goes_on(&client, &user, &conversation(&user, 0), u64::MAX, &mut outcome).await?;
    }
    looks_again(&world.client(&server, "talker0")?, &mut outcome).await?;
    let files = idle_files(&world, &server, &mut outcome).await?;
    let slope = slope(&samples);
    grown(&samples, slope, hold, &mut outcome);
    let counted = counted.load(Relaxed);
    outcome.expect(counted >= STREAMS, || format!("only {counted} turns came whole"));
    server.stop().await?;
    tokio::time::sleep(peer::TAKES * 2).await;
    let left = peer::running(&world.setup.folder).len();
    outcome.expect(left == 0, || format!("I9 {left} MCP servers outlive who started them"));
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!(
        "{} s of {HOUR}: {counted} turns, {kills} kills, {peers} of an MCP server, {slope:.1} MB in ten minutes, {files} files open at the end",
        hold.as_secs()
    );
    Ok(outcome)
}

/// In which conversation somebody's round is: each ten have one, since what a turn costs grows with what was said before it.
fn conversation(user: &str, round: usize) -> String {
    format!("c-{user}-{}", round / ROUNDS)
}

/// One of L1's.
struct Stream {
    client: Client,
    clock: Instant,
    slow: u32,
    /// Its place in `newest`, which says of each stream in which round it is.
    number: usize,
    newest: Arc<[AtomicUsize]>,
}

/// One turn of L1 after the other. Who is cut off by a kill begins another one.
async fn go_on(stream: Stream, over: Arc<AtomicBool>, counted: Arc<AtomicUsize>) -> Result<()> {
    let Stream { client, clock, slow, number, newest } = stream;
    let (deltas, pause) = (500 / slow as usize, 20 * u64::from(slow));
    for round in 0.. {
        if over.load(Relaxed) {
            break;
        }
        let tag = format!("{}-{round}", client.user());
        let script = Script { tag, tools: 1, deltas, pause, timed: true, ..Script::default() };
        newest[number].store(round, Relaxed);
        match measure::pieces(&client, &conversation(client.user(), round), &script, clock).await {
            Ok(pieces) if pieces.len() == deltas => drop(counted.fetch_add(1, Relaxed)),
            _ => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
    Ok(())
}

/// Short turns in which a provider breaks off now and then, and from which the user goes away now and then.
async fn talk(client: Client, seed: u64, over: Arc<AtomicBool>) -> Result<()> {
    let mut random = Random::of(seed);
    for round in 0.. {
        if over.load(Relaxed) {
            break;
        }
        let script = Script {
            tag: format!("{}-{round}", client.user()),
            looks: random.below(3) as usize,
            tools: random.below(3) as usize,
            deltas: 40,
            pause: 50,
            cut_after: (random.below(4) == 0).then(|| random.below(40) as usize),
            ..Script::default()
        };
        let leave_after = (random.below(3) == 0).then(|| 1 + random.below(30) as usize);
        // What the dead do not answer is in the history as what was not answered.
        let _ = client.turn(&conversation(client.user(), round), &script, leave_after).await;
        tokio::time::sleep(Duration::from_millis(500 + random.below(2_000))).await;
    }
    Ok(())
}

/// Watches somebody's answer in the conversation in which he is now, or nothing, without reading.
async fn do_not_read(server: &Server, number: usize, round: usize) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?;
    let mut stream = TcpStream::connect(address).await?;
    let conversation = conversation(&format!("u{number}"), round);
    let path = format!("/api/agent/page/worker/{conversation}/stream");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nx-forwarded-user: u{number}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// An MCP server that was killed is started again for who needs it, though not at once.
async fn looks_again(client: &Client, outcome: &mut Outcome) -> Result<()> {
    let begun = Instant::now();
    for round in 0.. {
        let tag = format!("{}-again-{round}", client.user());
        let conversation = format!("c-{tag}");
        client.turn(&conversation, &Script { tag, looks: 1, ..Script::default() }, None).await?;
        let view = client.view(&conversation).await?.unwrap_or_default();
        if view.to_string().contains(peer::SEEN) || begun.elapsed() > STARTED {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    outcome.expect(begun.elapsed() <= STARTED, || "the MCP server was not started again".to_owned());
    Ok(())
}

/// What is open when nobody asks any more, beside what a server that has just started has open.
async fn idle_files(world: &World, server: &Server, outcome: &mut Outcome) -> Result<usize> {
    let folder = tempfile::tempdir()?;
    let fresh = Setup { folder: folder.path().to_owned(), has_peer: false, ..world.setup.clone() };
    let fresh = fresh.start(&world.history).await?;
    let least = fresh.files()?;
    drop(fresh);
    let begun = Instant::now();
    let most = least + 4 + PIPES;
    while server.files()? > most && begun.elapsed() < CLOSED {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let files = server.files()?;
    outcome.expect(files <= most, || format!("I9 {files} files are open, {least} at the beginning"));
    Ok(files)
}

fn grown(samples: &[(f64, f64)], slope: f64, hold: Duration, outcome: &mut Outcome) {
    if hold.as_secs() >= HOUR {
        outcome.expect(slope <= SLOPE, || format!("I9 memory grows by {slope:.1} MB in ten minutes"));
    }
    let (earlier, later) = samples.split_at(samples.len() / 2);
    let mean = |samples: &[(f64, f64)]| samples.iter().map(|(_, mb)| mb).sum::<f64>() / samples.len().max(1) as f64;
    let (earlier, later) = (mean(earlier), mean(later));
    outcome.expect(later <= earlier * GROWTH, || format!("I9 memory grows from {earlier:.0} to {later:.0} MB"));
}

/// By how many MB memory grows in ten minutes: the line that fits best.
fn slope(samples: &[(f64, f64)]) -> f64 {
    let count = samples.len().max(1) as f64;
    let (at, mb) = samples.iter().fold((0.0, 0.0), |(at, mb), sample| (at + sample.0, mb + sample.1));
    let (at, mb) = (at / count, mb / count);
    let (above, below) = samples.iter().fold((0.0, 0.0), |(above, below), sample| {
        ((sample.0 - at).mul_add(sample.1 - mb, above), (sample.0 - at).mul_add(sample.0 - at, below))
    });
    if below == 0.0 { 0.0 } else { above / below * 600.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_fits() {
        let line: Vec<_> = (0..60).map(|second| (f64::from(second), 100.0 + f64::from(second) / 60.0)).collect();
        assert!((slope(&line) - 10.0).abs() < 1e-9);
        assert!(slope(&[]).abs() < 1e-9);
    }
}
