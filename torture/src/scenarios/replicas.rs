//! Row L9: three servers on one PostgreSQL database behind a proxy. One is killed repeatedly;
//! clients reconnect, and what they received stays valid.

use crate::client::{Client, JoinOutcome, StreamEnd};
use crate::history::Op;
use crate::provider::Script;
use crate::proxy::Proxy;
use crate::scenario::{Outcome, RunOptions, Testbed};
use crate::server::Setup;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SERVERS: usize = 3;
const STREAMS: usize = 300;

/// The time between two kills, and how long the killed server stays down.
const KILL_INTERVAL: Duration = Duration::from_secs(30);
const DOWNTIME: Duration = Duration::from_secs(5);

/// The maximum time until a run of a killed server is closed: the lease of 15 s and the polling
/// interval.
const MAX_TAKEOVER: Duration = Duration::from_secs(20);

/// Runs the scenario.
pub(crate) async fn replicas(options: &RunOptions) -> Result<Outcome> {
    let Some(url) = test_postgres::new_database().await else {
        return Ok(Outcome::skipped("PostgreSQL is not installed"));
    };
    let testbed = Testbed::new(options, "replicas").await?;
    let setups: Vec<_> = (0..SERVERS)
        .map(|number| Setup {
            folder: testbed.setup.folder.join(format!("server-{number}")),
            database: Some(url.clone()),
            ..testbed.setup.clone()
        })
        .collect();
    let (proxy, mut servers) = (Proxy::start().await?, Vec::new());
    for setup in &setups {
        servers.push(Some(setup.start(&testbed.history).await?));
    }
    proxy.set_servers(servers.iter().flatten())?;
    let (begun, hold) = (Instant::now(), options.duration(100, 600));
    let streams = STREAMS / options.load_divisor() as usize;
    let users: Vec<_> = (0..streams)
        .map(|number| {
            let user = format!("u{number}");
            let client = Client::new(&proxy.origin, &user, &testbed.history)?;
            anyhow::Ok(tokio::spawn(async move { run_user(&client, &user, begun, hold).await }))
        })
        .collect::<Result<_>>()?;
    let mut kills = 0;
    while begun.elapsed() + KILL_INTERVAL < hold {
        tokio::time::sleep(KILL_INTERVAL).await;
        let index = kills % SERVERS;
        servers[index].take().context("the server is running")?.kill(&testbed.history).await?;
        proxy.set_servers(servers.iter().flatten())?;
        tokio::time::sleep(DOWNTIME).await;
        servers[index] = Some(setups[index].start(&testbed.history).await?);
        proxy.set_servers(servers.iter().flatten())?;
        kills += 1;
    }
    let (mut outcome, mut longest, mut turns) =
        (Outcome { injected: kills as u64, ..Outcome::default() }, Duration::ZERO, 0);
    for user in users {
        let talked = user.await??;
        outcome.violations.extend(talked.wrong);
        (longest, turns) = (longest.max(talked.longest), turns + talked.turns);
    }
    let slack = Duration::from_secs(if options.is_debug() { 15 } else { 2 });
    outcome.expect(longest <= MAX_TAKEOVER + slack, || format!("I5 a run is closed after {longest:?}"));
    outcome.expect(kills > 0 && turns >= streams, || format!("{kills} kills, {turns} turns"));
    let gaps = max_gaps(&testbed.history.read()?);
    outcome.expect(gaps <= kills, || format!("a client received {gaps} gaps for {kills} kills"));
    for server in servers.into_iter().flatten() {
        server.stop().await?;
    }
    outcome.violations.extend(testbed.check_postgres(&url).await?);
    outcome.worst = format!(
        "{turns} turns, {kills} kills; a run is closed after {:.1} s, at most {gaps} gaps per client, {} s",
        longest.as_secs_f64(),
        begun.elapsed().as_secs()
    );
    Ok(outcome)
}

/// The result of one user.
#[derive(Default)]
struct UserResult {
    turns: usize,
    wrong: Vec<String>,
    /// The maximum time from a disconnect to the end of the run.
    longest: Duration,
}

/// Runs turns until the time is over; reconnects after a disconnect.
async fn run_user(client: &Client, user: &str, begun: Instant, hold: Duration) -> Result<UserResult> {
    let (conversation, mut talked, mut is_known) = (format!("c-{user}"), UserResult::default(), false);
    for round in 0.. {
        if begun.elapsed() >= hold {
            break;
        }
        let script =
            Script { tag: format!("{user}-{round}"), tools: round % 2, deltas: 80, pause: 100, ..Script::default() };
        let tried = Instant::now();
        let end = match client.send(&conversation, &script).await {
            Ok(Ok(stream)) => {
                is_known = true;
                client.read(&conversation, stream, None).await
            }
            // A run is still being closed, or the connection was cut before the response.
            Ok(Err(409 | 503)) => StreamEnd::Cut(None),
            Ok(Err(status)) => {
                talked.wrong.push(format!("a message of {user} was answered with {status}"));
                StreamEnd::Cut(None)
            }
            Err(_) => StreamEnd::Cut(None),
        };
        match end {
            StreamEnd::Done(_) => talked.turns += 1,
            StreamEnd::Cut(cursor) => {
                let cut = Instant::now();
                if let Err(wrong) = rejoin_until_ended(client, &conversation, cursor, cut, is_known).await {
                    talked.wrong.push(format!("{conversation}: {wrong:#}"));
                    break;
                }
                talked.longest = talked.longest.max(cut.elapsed());
                // At most one attempt per second.
                tokio::time::sleep(Duration::from_secs(1).saturating_sub(tried.elapsed())).await;
            }
        }
    }
    Ok(talked)
}

/// Rejoins after the last event until the run has ended. If no message was accepted yet, the
/// conversation may not exist.
async fn rejoin_until_ended(
    client: &Client,
    conversation: &str,
    mut cursor: Option<String>,
    cut: Instant,
    is_known: bool,
) -> Result<()> {
    while cut.elapsed() < MAX_TAKEOVER * 3 {
        match client.join(conversation, cursor.as_deref()).await {
            Ok(JoinOutcome::Stream(stream)) => match client.read(conversation, stream, None).await {
                StreamEnd::Done(_) => return Ok(()),
                StreamEnd::Cut(further) => cursor = further.or(cursor),
            },
            // The run has ended, or there was none.
            Ok(JoinOutcome::NotRunning) => return Ok(()),
            Ok(JoinOutcome::Refused(404)) if !is_known => return Ok(()),
            Ok(JoinOutcome::Refused(status @ 400..500)) => anyhow::bail!("rejoining failed with {status}"),
            // No server could be reached.
            Ok(JoinOutcome::Refused(_)) | Err(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    anyhow::bail!("I5 the run did not end for {:?}", cut.elapsed())
}

/// Returns the maximum number of gaps in one conversation.
fn max_gaps(ops: &[Op]) -> usize {
    let mut gaps: BTreeMap<&str, usize> = BTreeMap::new();
    for op in ops {
        if let Op::Gap { conversation, .. } = op {
            *gaps.entry(conversation).or_default() += 1;
        }
    }
    gaps.into_values().max().unwrap_or_default()
}
