//! Rows F2, F4 and F39: a turn dies at each of its fault points, at its first occurrence, its
//! second, and so on.

use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::scenarios::kill::{approve_all, check_conversation_continues};
use anyhow::Result;
use faults::Point;
use std::time::Duration;

/// The maximum number of occurrences per point, at tier 2 and tier 1.
const NIGHT_OCCURRENCES: u64 = 60;
const MERGE_OCCURRENCES: u64 = 12;

/// How long a server may take to die after a turn: every turn reaches the first occurrence of a point, but
/// perhaps not a later one.
const SURE_DEATH: Duration = Duration::from_secs(5);
const POSSIBLE_DEATH: Duration = Duration::from_millis(300);

/// Kills the server at every point.
pub(crate) async fn kill_at_every_point(options: &RunOptions) -> Result<Outcome> {
    let most = if options.tier == Tier::One { MERGE_OCCURRENCES } else { NIGHT_OCCURRENCES };
    let (mut outcome, mut points) = (Outcome::default(), 0);
    for point in Point::ALL {
        let mut died = 0;
        for at in 1..=most {
            if !kill_at(options, *point, at, &mut outcome).await? {
                break;
            }
            died += 1;
        }
        outcome.expect(died > 0, || format!("no turn reaches {}", point.name()));
        (outcome.injected, points) = (outcome.injected + died, points + 1);
    }
    outcome.worst = format!("{points} points");
    Ok(outcome)
}

/// The turn with all points: a tool, a tool that needs approval, and text.
fn script(user: &str) -> Script {
    Script { tag: format!("{user}-0"), tools: 1, gated: 1, deltas: 8, pause: 15, ..Script::default() }
}

/// Returns whether the server died at this occurrence of the point.
async fn kill_at(options: &RunOptions, point: Point, at: u64, outcome: &mut Outcome) -> Result<bool> {
    let mut testbed = Testbed::new(options, &format!("kill-sweep-{}-{at}", point.name())).await?;
    testbed.setup.has_titles = true;
    let before = match point {
        // Recovery needs an interrupted run, and a takeover an interrupted job: one whose handler has
        // returned may have stored its end.
        Point::RecoveryRebuilt => Some("tool.returned=kill@1"),
        Point::JobTakenOver => Some("job.claimed=kill@1"),
        _ => None,
    };
    if let Some(fault) = before {
        run_turn(&testbed, &testbed.setup.with_variable("CHATWRIGHT_FAULT", fault), SURE_DEATH).await?;
    }
    let fault = testbed.setup.with_variable("CHATWRIGHT_FAULT", &format!("{}=kill@{at}", point.name()));
    let died = run_turn(&testbed, &fault, if at == 1 { SURE_DEATH } else { POSSIBLE_DEATH }).await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    check_conversation_continues(&client, "u0", "c", 0, outcome).await?;
    client.view("c").await?;
    server.stop().await?;
    let wrong = testbed.check().await?.into_iter().map(|wrong| format!("{} at {at}: {wrong}", point.name()));
    outcome.violations.extend(wrong);
    Ok(died)
}

/// Starts a server and runs the turn; returns whether the server died, at the latest after `patience`.
async fn run_turn(testbed: &Testbed, setup: &crate::server::Setup, patience: Duration) -> Result<bool> {
    let Ok(mut server) = setup.start(&testbed.history).await else { return Ok(true) };
    let client = testbed.client(&server, "u0")?;
    let talked = async {
        client.turn("c", &script("u0"), None).await?;
        approve_all(&client, "c").await
    };
    let failed = talked.await.is_err();
    // The last points come after the last event.
    let died = server.wait_for_exit(if failed { SURE_DEATH } else { patience }).await.is_some();
    server.kill(&testbed.history).await?;
    Ok(died)
}

/// Panics at every point: the server keeps running, other users are not affected, and the
/// conversation continues.
pub(crate) async fn panic_at_every_point(options: &RunOptions) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for point in Point::ALL {
        if matches!(point, Point::RecoveryRebuilt | Point::JobTakenOver | Point::CommitBefore | Point::CommitAfter) {
            // These are not in requests: the first two occur at the start of a server, the others
            // stop the only database writer.
            continue;
        }
        let mut testbed = Testbed::new(options, &format!("panic-{}", point.name())).await?;
        testbed.setup.has_titles = true;
        let setup = testbed.setup.with_variable("CHATWRIGHT_FAULT", &format!("{}=panic@1", point.name()));
        let mut server = setup.start(&testbed.history).await?;
        let (client, beside) = (testbed.client(&server, "u0")?, testbed.client(&server, "u1")?);
        let _ = client.turn("c", &script("u0"), None).await;
        approve_all(&client, "c").await?;
        outcome.expect(!server.has_ended(), || format!("I13 a panic at {} ends the server", point.name()));
        check_conversation_continues(&client, "u0", "c", 0, &mut outcome).await?;
        check_conversation_continues(&beside, "u1", "beside", 0, &mut outcome).await?;
        server.stop().await?;
        outcome.injected += setup.log().matches("injected at").count() as u64;
        let wrong = testbed.check().await?.into_iter().map(|wrong| format!("panic at {}: {wrong}", point.name()));
        outcome.violations.extend(wrong);
    }
    "no server ended".clone_into(&mut outcome.worst);
    Ok(outcome)
}
