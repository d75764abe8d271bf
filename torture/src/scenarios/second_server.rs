//! A second server on the database file of one that works: it must not start, and the first one's answers must go on to their end.

use crate::provider::Script;
use crate::scenario::{Given, Outcome, Tier, World};
use anyhow::Result;
use std::time::Duration;

/// Users who talk meanwhile.
const USERS: u64 = 4;

/// So that the second one does not wait for long: it waits for this and 7 s.
const HASTY: &str = ", drainMs: 100";

/// Starts one while answers are being written, again and again.
pub(crate) async fn second_server(given: &Given) -> Result<Outcome> {
    let rounds = if given.tier == Tier::One { 2 } else { 20 };
    let world = World::new(given, "second-server").await?;
    let mut setup = world.setup.clone();
    setup.limits = HASTY;
    let mut outcome = Outcome::default();
    for round in 0..rounds {
        let server = setup.start(&world.history).await?;
        let turns: Vec<_> = (0..USERS)
            .map(|number| {
                let user = format!("u{number}");
                let client = world.client(&server, &user)?;
                let script =
                    Script { tag: format!("{user}-{round}"), tools: 1, deltas: 400, pause: 30, ..Script::default() };
                anyhow::Ok(tokio::spawn(async move { client.turn(&format!("c-{user}"), &script, None).await }))
            })
            .collect::<Result<_>>()?;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let second = setup.start(&world.history).await;
        outcome.injected += 1;
        outcome.expect(second.is_err(), || format!("round {round}: a second server starts on the same file"));
        let said = setup.log();
        outcome.expect(said.contains("another server has it open"), || format!("round {round}: nobody is told why"));
        for turn in turns {
            let end = turn.await??;
            outcome.expect(end.is_finished(), || {
                format!("round {round}: an answer of the first server broke off: {end:?}")
            });
        }
        drop(second);
        server.kill(&world.history).await?;
    }
    let server = setup.start(&world.history).await?;
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    "refused, and every answer ended".clone_into(&mut outcome.worst);
    Ok(outcome)
}
