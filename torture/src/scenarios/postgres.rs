//! Row F13 on PostgreSQL: all connections of the server are terminated repeatedly while turns run.

use crate::provider::Script;
use crate::random::Random;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::scenarios::kill::check_conversation_continues;
use anyhow::Result;
use std::time::Duration;

const USERS: u64 = 4;

/// Terminates all connections to the database but its own.
const TERMINATE_CONNECTIONS: &str = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()";

/// Terminates all connections at random moments. Acknowledged data is stored, nothing runs twice,
/// and the server recovers without a restart.
pub(crate) async fn cut_connections(options: &RunOptions) -> Result<Outcome> {
    let Some(url) = test_postgres::new_database().await else {
        return Ok(Outcome::skipped("PostgreSQL is not installed"));
    };
    let testbed = Testbed::new(options, "postgres-cut").await?;
    let mut setup = testbed.setup.clone();
    setup.database = Some(url.clone());
    let (mut outcome, mut random) = (Outcome::default(), Random::from_seed(options.seed));
    let server = setup.start(&testbed.history).await?;
    for round in 0..if options.tier == Tier::One { 10 } else { 60 } {
        let mut turns = Vec::new();
        for number in 0..USERS {
            let user = format!("u{number}");
            let client = testbed.client(&server, &user)?;
            let script =
                Script { tag: format!("{user}-{round}"), tools: 2, deltas: 20, pause: 10, ..Script::default() };
            turns.push(tokio::spawn(async move { client.turn(&format!("c-{user}"), &script, None).await }));
        }
        tokio::time::sleep(Duration::from_millis(random.below(600))).await;
        test_postgres::execute(&url, TERMINATE_CONNECTIONS).await;
        outcome.injected += 1;
        for turn in turns {
            // A refusal is a valid response.
            let _ = turn.await?;
        }
    }
    // The server itself closes runs whose end could not be stored.
    tokio::time::sleep(Duration::from_secs(22)).await;
    for number in 0..USERS {
        let user = format!("u{number}");
        let client = testbed.client(&server, &user)?;
        check_conversation_continues(&client, &user, &format!("c-{user}"), 999, &mut outcome).await?;
    }
    server.stop().await?;
    outcome.violations.extend(testbed.check_postgres(&url).await?);
    "recovered without a restart".clone_into(&mut outcome.worst);
    Ok(outcome)
}
