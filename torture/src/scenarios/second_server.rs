//! Row F45: a second server on the database file of a running one must not start, and the first
//! one's replies must finish.

use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use anyhow::Result;
use std::time::Duration;

/// The number of concurrent users.
const USERS: u64 = 4;

/// The second server waits for this time plus 7 s.
const SHORT_DRAIN: &str = ", drainMs: 100";

/// Starts a second server repeatedly while replies are streamed.
pub(crate) async fn second_server(options: &RunOptions) -> Result<Outcome> {
    let rounds = if options.tier == Tier::One { 2 } else { 20 };
    let testbed = Testbed::new(options, "second-server").await?;
    let mut setup = testbed.setup.clone();
    setup.limits = SHORT_DRAIN;
    let mut outcome = Outcome::default();
    for round in 0..rounds {
        let server = setup.start(&testbed.history).await?;
        let turns: Vec<_> = (0..USERS)
            .map(|number| {
                let user = format!("u{number}");
                let client = testbed.client(&server, &user)?;
                let script =
                    Script { tag: format!("{user}-{round}"), tools: 1, deltas: 400, pause: 30, ..Script::default() };
                anyhow::Ok(tokio::spawn(async move { client.turn(&format!("c-{user}"), &script, None).await }))
            })
            .collect::<Result<_>>()?;
        tokio::time::sleep(Duration::from_millis(200)).await;
        let second = setup.start(&testbed.history).await;
        outcome.injected += 1;
        outcome.expect(second.is_err(), || format!("round {round}: a second server starts on the same file"));
        let server_log = setup.log();
        outcome.expect(server_log.contains("another server has it open"), || {
            format!("round {round}: the log does not say why")
        });
        for turn in turns {
            let end = turn.await??;
            outcome.expect(end.is_finished(), || {
                format!("round {round}: a reply of the first server was cut off: {end:?}")
            });
        }
        drop(second);
        server.kill(&testbed.history).await?;
    }
    let server = setup.start(&testbed.history).await?;
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    "refused, and every reply finished".clone_into(&mut outcome.worst);
    Ok(outcome)
}
