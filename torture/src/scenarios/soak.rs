//! Row L8: the load of L1 for a long time with a fault every ten seconds. In the first third, the
//! server is killed. After it, providers disconnect, clients leave or do not read, and an MCP
//! server is killed. Memory is measured in the second half, when the caches of the last server have
//! been filled.

use crate::client::Client;
use crate::provider::Script;
use crate::proxy::Proxy;
use crate::random::Random;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::scenarios::kill::check_conversation_continues;
use crate::server::{Server, Setup};
use crate::{measure, peer};
use anyhow::{Context, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

/// The number of streams of L1, whose deltas are counted, and of users whose events are recorded
/// and checked.
const STREAMS: usize = 100;
const FAULTY_USERS: usize = 5;

/// The number of turns per conversation.
const ROUNDS_PER_CONVERSATION: usize = 10;

/// The time between two faults.
const FAULT_INTERVAL: Duration = Duration::from_secs(10);

/// The duration in seconds that counts as an hour.
const HOUR_SECONDS: u64 = 3_600;

/// The maximum growth of memory in the second half: in MB per ten minutes for an hour, and as a
/// factor for any duration.
const MAX_SLOPE_MB: f64 = 1.0;
const MAX_GROWTH: f64 = 1.2;

/// The maximum time until unused connections are closed; connections to providers are kept for a
/// while.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(60);

/// The number of files for the pipes and the process of an MCP server.
const MCP_FILES: usize = 4;

/// The maximum time until a killed MCP server answers again.
const RESTART_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs the scenario.
pub(crate) async fn soak(options: &RunOptions) -> Result<Outcome> {
    let mut testbed = Testbed::new(options, "soak").await?;
    testbed.setup.has_peer = true;
    let (mut random, hold, mut outcome) =
        (Random::from_seed(options.seed), options.duration(120, HOUR_SECONDS), Outcome::default());
    let (proxy, mut server) = (Proxy::start().await?, testbed.setup.start(&testbed.history).await?);
    proxy.set_servers([&server].into_iter())?;
    let over = Arc::new(AtomicBool::new(false));
    let (counted, mut users) = (Arc::new(AtomicUsize::new(0)), Vec::new());
    let newest: Arc<[AtomicUsize]> = (0..STREAMS).map(|_| AtomicUsize::new(0)).collect();
    for number in 0..STREAMS {
        let client = Client::new(&proxy.origin, &format!("u{number}"), &testbed.history)?;
        let (clock, newest) = (testbed.provider.clock, newest.clone());
        let stream = StreamUser { client, clock, slow: options.load_divisor(), number, newest };
        users.push(tokio::spawn(run_turns(stream, over.clone(), counted.clone())));
    }
    for number in 0..FAULTY_USERS {
        let client = Client::new(&proxy.origin, &format!("talker{number}"), &testbed.history)?;
        users.push(tokio::spawn(run_faulty_turns(client, random.below(u64::MAX), over.clone())));
    }
    let (begun, mut samples, mut kills, mut peers) = (Instant::now(), Vec::new(), 0, 0);
    let mut sleepers: Vec<TcpStream> = Vec::new();
    while begun.elapsed() < hold {
        let until = Instant::now() + FAULT_INTERVAL;
        while Instant::now() < until {
            tokio::time::sleep(Duration::from_secs(1)).await;
            if begun.elapsed() > hold / 2 {
                samples.push((begun.elapsed().as_secs_f64(), server.memory_mb()?));
            }
        }
        outcome.injected += 1;
        sleepers.clear();
        outcome.expect(!server.has_ended(), || "the server ended by itself".to_owned());
        let running = peer::running_processes(&testbed.setup.folder).len();
        outcome.expect(running <= 1, || format!("I9 {running} MCP servers run instead of one"));
        match random.below(4) {
            0 | 1 if begun.elapsed() < hold / 3 => {
                server.kill(&testbed.history).await?;
                server = testbed.setup.start(&testbed.history).await?;
                proxy.set_servers([&server].into_iter())?;
                kills += 1;
            }
            0 | 2 => peers += peer::kill(&testbed.setup.folder),
            _ => {
                let number = random.below(STREAMS as u64) as usize;
                sleepers.push(open_unread_stream(&server, number, newest[number].load(Relaxed)).await?);
            }
        }
    }
    over.store(true, Relaxed);
    for user in users {
        user.await??;
    }
    drop(sleepers);
    for number in 0..FAULTY_USERS {
        let (user, client) = (format!("talker{number}"), testbed.client(&server, &format!("talker{number}"))?);
        check_conversation_continues(&client, &user, &conversation(&user, 0), u64::MAX, &mut outcome).await?;
    }
    check_mcp_restart(&testbed.client(&server, "talker0")?, &mut outcome).await?;
    let files = check_idle_files(&testbed, &server, &mut outcome).await?;
    let slope = slope(&samples);
    check_growth(&samples, slope, hold, &mut outcome);
    let counted = counted.load(Relaxed);
    outcome.expect(counted >= STREAMS, || format!("only {counted} turns were completed"));
    server.stop().await?;
    tokio::time::sleep(peer::CALL_DURATION * 2).await;
    let left = peer::running_processes(&testbed.setup.folder).len();
    outcome.expect(left == 0, || format!("I9 {left} MCP servers run after the server has ended"));
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!(
        "{} s of {HOUR_SECONDS}: {counted} turns, {kills} kills, {peers} kills of MCP servers, {slope:.1} MB in ten minutes, {files} files open at the end",
        hold.as_secs()
    );
    Ok(outcome)
}

/// Returns the conversation of a turn. Each has ten turns, since the cost of a turn grows with the
/// earlier ones.
fn conversation(user: &str, round: usize) -> String {
    format!("c-{user}-{}", round / ROUNDS_PER_CONVERSATION)
}

/// A user with one of L1's streams.
struct StreamUser {
    client: Client,
    clock: Instant,
    slow: u32,
    /// The index in `newest`, which contains the current turn of each user.
    number: usize,
    newest: Arc<[AtomicUsize]>,
}

/// Runs turns until `over` is set; starts another one after a disconnect.
async fn run_turns(stream: StreamUser, over: Arc<AtomicBool>, counted: Arc<AtomicUsize>) -> Result<()> {
    let StreamUser { client, clock, slow, number, newest } = stream;
    let (deltas, pause) = (500 / slow as usize, 20 * u64::from(slow));
    for round in 0.. {
        if over.load(Relaxed) {
            break;
        }
        let tag = format!("{}-{round}", client.user());
        let script = Script { tag, tools: 1, deltas, pause, timed: true, ..Script::default() };
        newest[number].store(round, Relaxed);
        match measure::send_and_time(&client, &conversation(client.user(), round), &script, clock).await {
            Ok(pieces) if pieces.len() == deltas => drop(counted.fetch_add(1, Relaxed)),
            _ => tokio::time::sleep(Duration::from_secs(1)).await,
        }
    }
    Ok(())
}

/// Runs short turns; in some the provider disconnects, in some the client leaves and rejoins.
async fn run_faulty_turns(client: Client, seed: u64, over: Arc<AtomicBool>) -> Result<()> {
    let mut random = Random::from_seed(seed);
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
        // The history shows which requests a killed server did not answer.
        let _ = client.turn(&conversation(client.user(), round), &script, leave_after).await;
        tokio::time::sleep(Duration::from_millis(500 + random.below(2_000))).await;
    }
    Ok(())
}

/// Joins the current stream of a user without reading it.
async fn open_unread_stream(server: &Server, number: usize, round: usize) -> Result<TcpStream> {
    let address = server.origin.strip_prefix("http://").context("no address")?;
    let mut stream = TcpStream::connect(address).await?;
    let conversation = conversation(&format!("u{number}"), round);
    let path = format!("/api/agent/page/worker/{conversation}/stream");
    let request = format!("GET {path} HTTP/1.1\r\nhost: {address}\r\nx-forwarded-user: u{number}\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Checks that a killed MCP server is restarted when it is needed, if not immediately.
async fn check_mcp_restart(client: &Client, outcome: &mut Outcome) -> Result<()> {
    let begun = Instant::now();
    for round in 0.. {
        let tag = format!("{}-again-{round}", client.user());
        let conversation = format!("c-{tag}");
        client.turn(&conversation, &Script { tag, looks: 1, ..Script::default() }, None).await?;
        let view = client.view(&conversation).await?.unwrap_or_default();
        if view.to_string().contains(peer::RESULT) || begun.elapsed() > RESTART_TIMEOUT {
            break;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    outcome.expect(begun.elapsed() <= RESTART_TIMEOUT, || "the MCP server was not restarted".to_owned());
    Ok(())
}

/// Returns the number of open files of the idle server; it must be close to that of a new server.
async fn check_idle_files(testbed: &Testbed, server: &Server, outcome: &mut Outcome) -> Result<usize> {
    let folder = tempfile::tempdir()?;
    let fresh = Setup { folder: folder.path().to_owned(), has_peer: false, ..testbed.setup.clone() };
    let fresh = fresh.start(&testbed.history).await?;
    let least = fresh.open_files()?;
    drop(fresh);
    let begun = Instant::now();
    let most = least + 4 + MCP_FILES;
    while server.open_files()? > most && begun.elapsed() < CLOSE_TIMEOUT {
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let files = server.open_files()?;
    outcome.expect(files <= most, || format!("I9 {files} files are open, {least} in a new server"));
    Ok(files)
}

fn check_growth(samples: &[(f64, f64)], slope: f64, hold: Duration, outcome: &mut Outcome) {
    if hold.as_secs() >= HOUR_SECONDS {
        outcome.expect(slope <= MAX_SLOPE_MB, || format!("I9 memory grows by {slope:.1} MB in ten minutes"));
    }
    let (earlier, later) = samples.split_at(samples.len() / 2);
    let mean = |samples: &[(f64, f64)]| samples.iter().map(|(_, mb)| mb).sum::<f64>() / samples.len().max(1) as f64;
    let (earlier, later) = (mean(earlier), mean(later));
    outcome.expect(later <= earlier * MAX_GROWTH, || format!("I9 memory grows from {earlier:.0} to {later:.0} MB"));
}

/// Returns the growth of memory in MB per ten minutes, by least squares.
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
    fn slope_is_a_least_squares_fit() {
        let line: Vec<_> = (0..60).map(|second| (f64::from(second), 100.0 + f64::from(second) / 60.0)).collect();
        assert!((slope(&line) - 10.0).abs() < 1e-9);
        assert!(slope(&[]).abs() < 1e-9);
    }
}
