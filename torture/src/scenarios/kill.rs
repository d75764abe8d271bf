//! F1: the server is killed at any moment of many turns at once, starts again on what is left, and goes on.

use crate::client::Client;
use crate::provider::Script;
use crate::random::Random;
use crate::scenario::{Given, Outcome, Tier, World};
use crate::server::Server;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};

/// Users who talk at the same time.
const USERS: u64 = 4;

/// Kills on one database, before it is checked and another one begins.
const ON_ONE: u64 = 10;

/// The latest moment of a kill, in milliseconds after the turns began; they are over by then.
const LATEST: u64 = 900;

/// Kills at random.
pub(crate) async fn random(given: &Given) -> Result<Outcome> {
    let kills = if given.tier == Tier::One { 50 } else { 500 };
    let (mut outcome, mut slowest) = (Outcome::default(), Duration::ZERO);
    for part in 0..kills / ON_ONE {
        let world = World::new(given, &format!("kill-random-{part}")).await?;
        let mut random = Random::of(given.seed.wrapping_add(part));
        for round in 0..ON_ONE {
            let took = one(&world, &mut random, round).await?;
            slowest = slowest.max(took);
            outcome.injected += 1;
        }
        let server = world.setup.start(&world.history).await?;
        settle(&world, &server, ON_ONE, &mut outcome).await?;
        server.stop().await?;
        outcome.violations.extend(world.check().await?.into_iter().map(|wrong| format!("part {part}: {wrong}")));
    }
    outcome.worst = format!("ready again after {} ms", slowest.as_millis());
    Ok(outcome)
}

/// One kill, and how long the start before it took.
async fn one(world: &World, random: &mut Random, round: u64) -> Result<Duration> {
    let begun = Instant::now();
    let server = world.setup.start(&world.history).await?;
    let took = begun.elapsed();
    let turns: Vec<_> = (0..USERS)
        .map(|number| {
            let user = format!("u{number}");
            let client = world.client(&server, &user)?;
            let script = script(&user, round, random);
            let leave_after = (random.below(3) == 0).then(|| 1 + random.below(12) as usize);
            anyhow::Ok(tokio::spawn(async move { talk(&client, &user, &script, leave_after).await }))
        })
        .collect::<Result<_>>()?;
    tokio::time::sleep(Duration::from_millis(random.below(LATEST))).await;
    server.kill(&world.history).await?;
    for turn in turns {
        // What the dead do not answer is in the history as what was not answered.
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

/// A turn, with its decisions.
async fn talk(client: &Client, user: &str, script: &Script, leave_after: Option<usize>) -> Result<()> {
    let conversation = format!("c-{user}");
    client.turn(&conversation, script, leave_after).await?;
    decide(client, &conversation).await
}

/// Says yes to whatever waits, until nothing does.
pub(crate) async fn decide(client: &Client, conversation: &str) -> Result<()> {
    while let Some(stream) = client.approve(conversation).await? {
        client.read(conversation, stream, None).await;
    }
    Ok(())
}

/// Every conversation opens, what waits is decided, and it goes on.
async fn settle(world: &World, server: &Server, round: u64, outcome: &mut Outcome) -> Result<()> {
    for number in 0..USERS {
        let user = format!("u{number}");
        let client = world.client(server, &user)?;
        goes_on(&client, &user, &format!("c-{user}"), round, outcome).await?;
    }
    Ok(())
}

/// A conversation opens, what waits in it is decided, and it answers.
pub(crate) async fn goes_on(
    client: &Client,
    user: &str,
    conversation: &str,
    round: u64,
    outcome: &mut Outcome,
) -> Result<()> {
    if let Some(view) = client.view(conversation).await.context("a conversation does not open")? {
        outcome.expect(view["active"].is_null(), || {
            format!("I5 {conversation}: it is still being written: {}", view["active"])
        });
        decide(client, conversation).await?;
    }
    let script = Script { tag: format!("{user}-{round}-again"), deltas: 3, ..Script::default() };
    let end = client.turn(conversation, &script, None).await?;
    outcome.expect(end.is_finished(), || format!("{conversation} does not go on: {end:?}"));
    Ok(())
}
