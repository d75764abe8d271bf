//! F13 on PostgreSQL: every connection of the server is cut, again and again, while turns run.

use crate::provider::Script;
use crate::random::Random;
use crate::scenario::{Given, Outcome, Tier, World};
use crate::scenarios::kill::goes_on;
use anyhow::Result;
use std::time::Duration;

const USERS: u64 = 4;

/// All that are not the one who asks.
const CUT: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Cuts all connections at any moment. What was acknowledged is there, nothing ran twice, and it goes on by itself.
pub(crate) async fn cut(given: &Given) -> Result<Outcome> {
    let Some(url) = test_postgres::new_database().await else {
        return Ok(Outcome::skipped("PostgreSQL is not installed"));
    };
    let world = World::new(given, "postgres-cut").await?;
    let mut setup = world.setup.clone();
    setup.database = Some(url.clone());
    let (mut outcome, mut random) = (Outcome::default(), Random::of(given.seed));
    let server = setup.start(&world.history).await?;
    for round in 0..if given.tier == Tier::One { 10 } else { 60 } {
        let mut turns = Vec::new();
        for number in 0..USERS {
            let user = format!("u{number}");
            let client = world.client(&server, &user)?;
            let script =
                Script { tag: format!("{user}-{round}"), tools: 2, deltas: 20, pause: 10, ..Script::default() };
            turns.push(tokio::spawn(async move { client.turn(&format!("c-{user}"), &script, None).await }));
        }
        tokio::time::sleep(Duration::from_millis(random.below(600))).await;
        test_postgres::execute(&url, CUT).await;
        outcome.injected += 1;
        for turn in turns {
            // A refusal is an answer, too.
            let _ = turn.await?;
        }
    }
    // Answers whose end could not be stored are closed by the server itself.
    tokio::time::sleep(Duration::from_secs(22)).await;
    for number in 0..USERS {
        let user = format!("u{number}");
        let client = world.client(&server, &user)?;
        goes_on(&client, &user, &format!("c-{user}"), 999, &mut outcome).await?;
    }
    server.stop().await?;
    outcome.violations.extend(world.check_postgres(&url).await?);
    "it goes on by itself".clone_into(&mut outcome.worst);
    Ok(outcome)
}
