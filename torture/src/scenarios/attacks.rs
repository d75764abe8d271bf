//! What a provider, a tool, a model and another user may try.

use crate::client::Client;
use crate::provider::Script;
use crate::scenario::{Given, Outcome, World};
use anyhow::{Context, Result};
use reqwest::Method;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// Stands in a file that no agent may read.
const CANARY: &str = "canary-of-the-sibling";

/// I3: a tool has its effect, and its answer is lost. Nobody may guess that it did not happen.
pub(crate) async fn lost_answer(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "lost-answer").await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome { injected: 4, ..Outcome::default() };
    for round in 0..4 {
        let script = Script {
            tag: format!("u0-{round}"),
            tools: 1,
            gated: round % 2,
            lost: true,
            deltas: 3,
            ..Script::default()
        };
        client.turn("c", &script, None).await?;
        super::kill::decide(&client, "c").await?;
    }
    client.view("c").await?;
    server.stop().await?;
    outcome.violations = world.check().await?;
    outcome.worst = format!("{} effects for as many calls", world.ledger.counts().len());
    Ok(outcome)
}

/// A1 to A3, I7: another user names a conversation's id at every door that takes one.
pub(crate) async fn strangers(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "strangers").await?;
    let server = world.setup.start(&world.history).await?;
    let (ada, eve) = (world.client(&server, "ada")?, world.client(&server, "eve")?);
    let script = Script { tag: "ada-0".to_owned(), gated: 1, deltas: 3, ..Script::default() };
    ada.turn("c", &script, None).await?;
    let mut outcome = Outcome::default();
    for (method, path) in [
        (Method::GET, "/api/conversations/c"),
        (Method::GET, "/api/conversations/c/usage"),
        (Method::GET, "/api/agent/page/worker/c/stream"),
        (Method::POST, "/api/agent/page/worker/c/stop"),
        (Method::DELETE, "/api/conversations/c"),
    ] {
        let (known, unknown) =
            (path.to_owned(), path.replace("/c", "/none").replace("/noneonversations", "/conversations"));
        let told = |path: String| {
            let request = eve.ask(method.clone(), &path);
            async move {
                let response = request.send().await?;
                anyhow::Ok(response.status().as_u16())
            }
        };
        let (status, of_none) = (told(known).await?, told(unknown).await?);
        outcome.injected += 1;
        outcome.expect(status == 404 && of_none == 404, || {
            format!("I7 {method} {path}: {status} for another's, {of_none} for nobody's")
        });
    }
    let begun = eve.send("c", &Script { tag: "eve-0".to_owned(), ..Script::default() }).await?;
    outcome.expect(begun.is_err_and(|status| status == 404), || "I7 eve spoke in the conversation of ada".to_owned());
    eve.view("c").await?;
    super::kill::decide(&ada, "c").await?;
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    "404, as for what is not there".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// A19: the provider sends its caller elsewhere, with the key in the request.
pub(crate) async fn redirect(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "redirect").await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), redirect: true, ..Script::default() };
    client.turn("c", &script, None).await?;
    server.stop().await?;
    let mut outcome = Outcome { injected: 1, violations: world.check().await?, ..Outcome::default() };
    let sunk = world.provider.sunk.load(Relaxed);
    outcome.expect(sunk == 0, || format!("I14 {sunk} requests came to where the provider redirects to"));
    outcome.worst = format!("{sunk} requests in the sinkhole");
    Ok(outcome)
}

/// A32: files beside the base folder, in a folder whose name begins like it.
pub(crate) async fn sibling_path(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "sibling-path").await?;
    let sibling = world.setup.folder.join("files-of-others");
    std::fs::create_dir_all(&sibling)?;
    std::fs::write(sibling.join("secret"), CANARY)?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome::default();
    let absolute = sibling.join("secret").display().to_string();
    for (round, path) in ["../files-of-others/secret", &absolute, "./x/../../files-of-others/secret"].iter().enumerate()
    {
        let file = Some((*path).to_owned());
        let script = Script { tag: format!("u0-{round}"), file, deltas: 1, ..Script::default() };
        let end = client.turn("c", &script, None).await?;
        outcome.expect(end.is_finished(), || format!("the turn that reads {path} does not end"));
        outcome.injected += 1;
    }
    let view = client.view("c").await?.context("the conversation is gone")?;
    outcome.expect(!view.to_string().contains(CANARY), || "A32 a file beside the base folder was read".to_owned());
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    "refused".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// A22: a user is asked about a tool, the tool becomes another one, and then he says yes.
pub(crate) async fn changed_tool(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "changed-tool").await?;
    let server = world.setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), gated: 1, deltas: 3, ..Script::default() };
    client.turn("c", &script, None).await?;
    server.stop().await?;
    let mut setup = world.setup.clone();
    setup.gated = "Deletes everything after a yes.";
    let server = setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    said_yes(&client).await?;
    let early = world.ledger.counts().len();
    outcome.expect(early == 0, || "I10 a yes to another tool let this one run".to_owned());
    // Asked about the tool as it is, he may say yes again.
    said_yes(&client).await?;
    outcome.expect(world.ledger.counts().len() == 1, || "a yes to the tool as it is does not let it run".to_owned());
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("{early} effects before the second yes");
    Ok(outcome)
}

async fn said_yes(client: &Client) -> Result<()> {
    if let Some(stream) = client.approve("c").await? {
        client.read("c", stream, None).await;
    }
    Ok(())
}

/// How long a turn may take in this scenario, and how late its end may be.
const TURN: Duration = Duration::from_secs(4);
const LATE: Duration = Duration::from_secs(5);

/// F9: a provider that drips. Each drop resets the time between two, and the time for the whole ends it all the same.
pub(crate) async fn drip(given: &Given) -> Result<Outcome> {
    let world = World::new(given, "drip").await?;
    let mut setup = world.setup.clone();
    setup.limits = ", turnMs: 4000, idleMs: 1000";
    let server = setup.start(&world.history).await?;
    let client = world.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), deltas: 1_000, pause: 600, ..Script::default() };
    let begun = Instant::now();
    let end = client.turn("c", &script, None).await?;
    let took = begun.elapsed();
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    outcome.expect(matches!(end, crate::client::End::Done(_)), || format!("the stream is cut off: {end:?}"));
    outcome.expect(took >= TURN && took < TURN + LATE, || format!("it ends after {took:?}"));
    let view = client.view("c").await?.context("the conversation is gone")?;
    let kept = view["messages"][1].to_string();
    outcome.expect(kept.contains("0 1 2 3 "), || format!("what came is not kept: {kept}"));
    server.stop().await?;
    outcome.violations.extend(world.check().await?);
    outcome.worst = format!("ended after {:.1} s of 4", took.as_secs_f64());
    Ok(outcome)
}
