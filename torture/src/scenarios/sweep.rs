//! F2, F4, F39: a turn that dies at each of its points in turn, at the first time it comes there, at the second, and so on.

use crate::provider::Script;
use crate::scenario::{Given, Outcome, Tier, World};
use crate::scenarios::kill::{decide, goes_on};
use anyhow::Result;
use faults::Point;
use std::time::Duration;

/// Of a point at which a turn comes by often, the first so many times.
const TIMES: u64 = 60;
const TIMES_OF_A_MERGE: u64 = 12;

/// Kills at every point.
pub(crate) async fn kills(given: &Given) -> Result<Outcome> {
    let most = if given.tier == Tier::One { TIMES_OF_A_MERGE } else { TIMES };
    let (mut outcome, mut points) = (Outcome::default(), 0);
    for point in Point::ALL {
        let mut died = 0;
        for at in 1..=most {
            if !kill_at(given, *point, at, &mut outcome).await? {
                break;
            }
            died += 1;
        }
        outcome.expect(died > 0, || format!("no turn comes to {}", point.name()));
        (outcome.injected, points) = (outcome.injected + died, points + 1);
    }
    outcome.worst = format!("{points} points");
    Ok(outcome)
}

/// The turn whose way is swept: a tool, one that asks first, and text.
fn script(user: &str) -> Script {
    Script { tag: format!("{user}-0"), tools: 1, gated: 1, deltas: 8, pause: 15, ..Script::default() }
}

/// Whether the server died there.
async fn kill_at(given: &Given, point: Point, at: u64, outcome: &mut Outcome) -> Result<bool> {
    let world = World::new(given, &format!("kill-sweep-{}-{at}", point.name())).await?;
    if point == Point::RecoveryRebuilt {
        // There must be something to put together.
        turn(&world, &world.setup.with("CHATWRIGHT_FAULT", "tool.returned=kill@1")).await?;
    }
    let died = turn(&world, &world.setup.with("CHATWRIGHT_FAULT", &format!("{}=kill@{at}", point.name()))).await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    goes_on(&client, "u0", "c", 0, outcome).await?;
    client.view("c").await?;
    server.stop().await?;
    let wrong = world.check().await?.into_iter().map(|wrong| format!("{} at {at}: {wrong}", point.name()));
    outcome.violations.extend(wrong);
    Ok(died)
}

/// Starts a server and takes it through the turn; whether it died on the way.
async fn turn(world: &World, setup: &crate::server::Setup) -> Result<bool> {
    let Ok(mut server) = setup.start(&world.history).await else { return Ok(true) };
    let client = world.client(&server, "u0")?;
    let talked = async {
        client.turn("c", &script("u0"), None).await?;
        decide(&client, "c").await
    };
    let failed = talked.await.is_err();
    // The last point is behind the last event.
    let died = server.ended(Duration::from_millis(if failed { 5_000 } else { 300 })).await.is_some();
    server.kill(&world.history).await?;
    Ok(died)
}

/// Panics at every point: the server lives, others are not touched, and the conversation goes on.
pub(crate) async fn panics(given: &Given) -> Result<Outcome> {
    let mut outcome = Outcome::default();
    for point in Point::ALL {
        if matches!(point, Point::RecoveryRebuilt | Point::CommitBefore | Point::CommitAfter) {
            // Not in a request: the first is before there is a server, the others take the only writer along.
            continue;
        }
        let world = World::new(given, &format!("panic-{}", point.name())).await?;
        let setup = world.setup.with("CHATWRIGHT_FAULT", &format!("{}=panic@1", point.name()));
        let mut server = setup.start(&world.history).await?;
        let (client, beside) = (world.client(&server, "u0")?, world.client(&server, "u1")?);
        let _ = client.turn("c", &script("u0"), None).await;
        decide(&client, "c").await?;
        outcome.expect(!server.has_ended(), || format!("I13 a panic at {} ends the server", point.name()));
        goes_on(&client, "u0", "c", 0, &mut outcome).await?;
        goes_on(&beside, "u1", "beside", 0, &mut outcome).await?;
        server.stop().await?;
        outcome.injected += setup.log().matches("injected at").count() as u64;
        let wrong = world.check().await?.into_iter().map(|wrong| format!("panic at {}: {wrong}", point.name()));
        outcome.violations.extend(wrong);
    }
    "every server lives".clone_into(&mut outcome.worst);
    Ok(outcome)
}
