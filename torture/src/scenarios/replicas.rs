//! L9: three servers on one PostgreSQL behind a proxy that takes them in turn. One is killed now and then; users come again, and what they
//! were told stays true.

use crate::client::{Client, End, Joined};
use crate::history::Op;
use crate::provider::Script;
use crate::proxy::Proxy;
use crate::scenario::{Given, Outcome, World};
use crate::server::Setup;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const SERVERS: usize = 3;
const STREAMS: usize = 300;

/// Between two kills, and how long the place of the dead one is empty.
const KILLS: Duration = Duration::from_secs(30);
const EMPTY: Duration = Duration::from_secs(5);

/// How long it may take until the answer of a dead server is closed: the lease of 15 s and the time between two looks.
const TAKEN_OVER: Duration = Duration::from_secs(20);

/// All of it.
pub(crate) async fn replicas(given: &Given) -> Result<Outcome> {
    let Some(url) = test_postgres::new_database().await else {
        return Ok(Outcome::skipped("PostgreSQL is not installed"));
    };
    let world = World::new(given, "replicas").await?;
    let setups: Vec<_> = (0..SERVERS)
        .map(|number| Setup {
            folder: world.setup.folder.join(format!("server-{number}")),
            database: Some(url.clone()),
            ..world.setup.clone()
        })
        .collect();
    let (proxy, mut servers) = (Proxy::start().await?, Vec::new());
    for setup in &setups {
        servers.push(Some(setup.start(&world.history).await?));
    }
    proxy.lead_to(servers.iter().flatten())?;
    let (begun, hold) = (Instant::now(), given.hold(100, 600));
    let streams = STREAMS / given.slowness() as usize;
    let users: Vec<_> = (0..streams)
        .map(|number| {
            let user = format!("u{number}");
            let client = Client::new(&proxy.origin, &user, &world.history)?;
            anyhow::Ok(tokio::spawn(async move { talk(&client, &user, begun, hold).await }))
        })
        .collect::<Result<_>>()?;
    let mut kills = 0;
    while begun.elapsed() + KILLS < hold {
        tokio::time::sleep(KILLS).await;
        let place = kills % SERVERS;
        servers[place].take().context("it is there")?.kill(&world.history).await?;
        proxy.lead_to(servers.iter().flatten())?;
        tokio::time::sleep(EMPTY).await;
        servers[place] = Some(setups[place].start(&world.history).await?);
        proxy.lead_to(servers.iter().flatten())?;
        kills += 1;
    }
    let (mut outcome, mut longest, mut turns) =
        (Outcome { injected: kills as u64, ..Outcome::default() }, Duration::ZERO, 0);
    for user in users {
        let talked = user.await??;
        outcome.violations.extend(talked.wrong);
        (longest, turns) = (longest.max(talked.longest), turns + talked.turns);
    }
    let slack = Duration::from_secs(if given.is_debug() { 15 } else { 2 });
    outcome.expect(longest <= TAKEN_OVER + slack, || format!("I5 an answer is closed after {longest:?}"));
    outcome.expect(kills > 0 && turns >= streams, || format!("{kills} kills, {turns} turns"));
    let gaps = most_gaps(&world.history.read()?);
    outcome.expect(gaps <= kills, || format!("a client was told of {gaps} gaps for {kills} kills"));
    for server in servers.into_iter().flatten() {
        server.stop().await?;
    }
    outcome.violations.extend(world.check_postgres(&url).await?);
    outcome.worst = format!(
        "{turns} turns, {kills} kills; an answer is closed after {:.1} s, {gaps} gaps of a client, {} s",
        longest.as_secs_f64(),
        begun.elapsed().as_secs()
    );
    Ok(outcome)
}

/// What came of one user.
#[derive(Default)]
struct Talked {
    turns: usize,
    wrong: Vec<String>,
    /// The longest time from a cut until the answer had ended.
    longest: Duration,
}

/// One turn after the other, until the time is over; whoever is cut off comes again.
async fn talk(client: &Client, user: &str, begun: Instant, hold: Duration) -> Result<Talked> {
    let (conversation, mut talked, mut is_known) = (format!("c-{user}"), Talked::default(), false);
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
            // Busy with what is being closed, or cut off before it was answered.
            Ok(Err(409 | 503)) => End::Cut(None),
            Ok(Err(status)) => {
                talked.wrong.push(format!("a message of {user} was answered with {status}"));
                End::Cut(None)
            }
            Err(_) => End::Cut(None),
        };
        match end {
            End::Done(_) => talked.turns += 1,
            End::Cut(cursor) => {
                let cut = Instant::now();
                if let Err(wrong) = follow(client, &conversation, cursor, cut, is_known).await {
                    talked.wrong.push(format!("{conversation}: {wrong:#}"));
                    break;
                }
                talked.longest = talked.longest.max(cut.elapsed());
                // Not at once, whatever the answer was.
                tokio::time::sleep(Duration::from_secs(1).saturating_sub(tried.elapsed())).await;
            }
        }
    }
    Ok(talked)
}

/// Comes again behind the last event until the answer has ended. A conversation that is not known yet may not be there.
async fn follow(
    client: &Client,
    conversation: &str,
    mut cursor: Option<String>,
    cut: Instant,
    is_known: bool,
) -> Result<()> {
    while cut.elapsed() < TAKEN_OVER * 3 {
        match client.join(conversation, cursor.as_deref()).await {
            Ok(Joined::Stream(stream)) => match client.read(conversation, stream, None).await {
                End::Done(_) => return Ok(()),
                End::Cut(further) => cursor = further.or(cursor),
            },
            // Nothing is being written any more, or nothing ever was.
            Ok(Joined::Nothing) => return Ok(()),
            Ok(Joined::Refused(404)) if !is_known => return Ok(()),
            Ok(Joined::Refused(status @ 400..500)) => anyhow::bail!("coming again was answered with {status}"),
            // Nobody was there who could say so.
            Ok(Joined::Refused(_)) | Err(_) => {}
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    anyhow::bail!("I5 the answer did not end for {:?}", cut.elapsed())
}

/// Of one conversation.
fn most_gaps(ops: &[Op]) -> usize {
    let mut gaps: BTreeMap<&str, usize> = BTreeMap::new();
    for op in ops {
        if let Op::Gap { conversation, .. } = op {
            *gaps.entry(conversation).or_default() += 1;
        }
    }
    gaps.into_values().max().unwrap_or_default()
}
