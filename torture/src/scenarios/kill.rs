//! Row F1: the server is killed at random moments of concurrent turns, restarts with the same data,
//! and the conversations continue.

use crate::client::Client;
use crate::provider::Script;
use crate::random::Random;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::server::Server;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

/// The number of concurrent users.
const USERS: u64 = 4;

/// The number of kills before a database is checked and replaced.
const KILLS_PER_DATABASE: u64 = 10;

/// The maximum delay of a kill in milliseconds after the start of the turns, which end before that.
const MAX_DELAY_MS: u64 = 900;

/// Kills the server at random moments.
pub(crate) async fn kill_at_random(options: &RunOptions) -> Result<Outcome> {
    let kills = if options.tier == Tier::One { 50 } else { 500 };
    let (mut outcome, mut slowest) = (Outcome::default(), Duration::ZERO);
    for part in 0..kills / KILLS_PER_DATABASE {
        let testbed = Testbed::new(options, &format!("kill-random-{part}")).await?;
        let mut random = Random::from_seed(options.seed.wrapping_add(part));
        for round in 0..KILLS_PER_DATABASE {
            let took = kill_once(&testbed, &mut random, round).await?;
            slowest = slowest.max(took);
            outcome.injected += 1;
        }
        let server = testbed.setup.start(&testbed.history).await?;
        check_all_conversations(&testbed, &server, KILLS_PER_DATABASE, &mut outcome).await?;
        server.stop().await?;
        outcome.violations.extend(testbed.check().await?.into_iter().map(|wrong| format!("part {part}: {wrong}")));
    }
    outcome.worst = format!("ready again after {} ms", slowest.as_millis());
    Ok(outcome)
}

/// Kills the server once; returns how long its start took.
async fn kill_once(testbed: &Testbed, random: &mut Random, round: u64) -> Result<Duration> {
    let begun = Instant::now();
    let server = testbed.setup.start(&testbed.history).await?;
    let took = begun.elapsed();
    let turns: Vec<_> = (0..USERS)
        .map(|number| {
            let user = format!("u{number}");
            let client = testbed.client(&server, &user)?;
            let script = script(&user, round, random);
            let leave_after = (random.below(3) == 0).then(|| 1 + random.below(12) as usize);
            anyhow::Ok(tokio::spawn(async move { run_turn(&client, &user, &script, leave_after).await }))
        })
        .collect::<Result<_>>()?;
    tokio::time::sleep(Duration::from_millis(random.below(MAX_DELAY_MS))).await;
    server.kill(&testbed.history).await?;
    for turn in turns {
        // The history shows which requests the killed server did not answer.
        let _ = turn.await?;
    }
    Ok(took)
}

fn script(user: &str, round: u64, random: &mut Random) -> Script {
    Script {
        tag: format!("{user}-{round}"),
        tools: random.below(3) as usize,
        gated: random.below(2) as usize,
        deltas: 5 + random.below(40) as usize,
        pause: random.below(12),
        ..Script::default()
    }
}

/// Runs a turn and approves its calls.
async fn run_turn(client: &Client, user: &str, script: &Script, leave_after: Option<usize>) -> Result<()> {
    let conversation = format!("c-{user}");
    client.turn(&conversation, script, leave_after).await?;
    approve_all(client, &conversation).await
}

/// Approves pending calls until there are none.
pub(crate) async fn approve_all(client: &Client, conversation: &str) -> Result<()> {
    while let Some(stream) = client.approve(conversation).await? {
        client.read(conversation, stream, None).await;
    }
    Ok(())
}

/// Checks that every conversation continues.
async fn check_all_conversations(testbed: &Testbed, server: &Server, round: u64, outcome: &mut Outcome) -> Result<()> {
    for number in 0..USERS {
        let user = format!("u{number}");
        let client = testbed.client(server, &user)?;
        check_conversation_continues(&client, &user, &format!("c-{user}"), round, outcome).await?;
    }
    Ok(())
}

/// Checks that a conversation can be opened, approves its pending calls, and sends a message.
pub(crate) async fn check_conversation_continues(
    client: &Client,
    user: &str,
    conversation: &str,
    round: u64,
    outcome: &mut Outcome,
) -> Result<()> {
    if let Some(view) = client.view(conversation).await.context("a conversation cannot be opened")? {
        outcome.expect(view["active"].is_null(), || {
            format!("I5 {conversation}: a run is still active: {}", view["active"])
        });
        approve_all(client, conversation).await?;
    }
    let script = Script { tag: format!("{user}-{round}-again"), deltas: 3, ..Script::default() };
    let end = client.turn(conversation, &script, None).await?;
    outcome.expect(end.is_finished(), || format!("{conversation} does not continue: {end:?}"));
    Ok(())
}
