//! Attacks by a provider, a tool, a model or another user.

use crate::client::Client;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed};
use anyhow::{Context, Result};
use reqwest::Method;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

/// The content of a file that no agent may read.
const CANARY: &str = "canary-of-the-sibling";

/// I3: the effect of a tool happens, and its response is lost. The call must not be repeated.
pub(crate) async fn lost_answer(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "lost-answer").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
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
        super::kill::approve_all(&client, "c").await?;
    }
    client.view("c").await?;
    server.stop().await?;
    outcome.violations = testbed.check().await?;
    outcome.worst = format!("{} effects for as many calls", testbed.ledger.counts().len());
    Ok(outcome)
}

/// Rows A1 to A3, I7: another user sends a conversation's id to every endpoint that takes one.
pub(crate) async fn strangers(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "strangers").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let (ada, eve) = (testbed.client(&server, "ada")?, testbed.client(&server, "eve")?);
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
        let status_of = |path: String| {
            let request = eve.request(method.clone(), &path);
            async move {
                let response = request.send().await?;
                anyhow::Ok(response.status().as_u16())
            }
        };
        let (status, of_none) = (status_of(known).await?, status_of(unknown).await?);
        outcome.injected += 1;
        outcome.expect(status == 404 && of_none == 404, || {
            format!("I7 {method} {path}: {status} for another user's, {of_none} for an unknown one")
        });
    }
    let begun = eve.send("c", &Script { tag: "eve-0".to_owned(), ..Script::default() }).await?;
    outcome.expect(begun.is_err_and(|status| status == 404), || {
        "I7 eve sent a message to the conversation of ada".to_owned()
    });
    eve.view("c").await?;
    super::kill::approve_all(&ada, "c").await?;
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    "404, as for unknown ids".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// Row A19: the provider redirects a request that contains its key.
pub(crate) async fn redirect(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "redirect").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), redirect: true, ..Script::default() };
    client.turn("c", &script, None).await?;
    server.stop().await?;
    let mut outcome = Outcome { injected: 1, violations: testbed.check().await?, ..Outcome::default() };
    let sunk = testbed.provider.sinkhole_requests.load(Relaxed);
    outcome.expect(sunk == 0, || format!("I14 {sunk} requests followed the redirect of the provider"));
    outcome.worst = format!("{sunk} requests followed the redirect");
    Ok(outcome)
}

/// Row A32: files in a folder beside the base folder whose name starts with the base folder's name.
pub(crate) async fn sibling_path(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "sibling-path").await?;
    let sibling = testbed.setup.folder.join("files-of-others");
    std::fs::create_dir_all(&sibling)?;
    std::fs::write(sibling.join("secret"), CANARY)?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
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
    outcome.violations.extend(testbed.check().await?);
    "refused".clone_into(&mut outcome.worst);
    Ok(outcome)
}

/// Row A22: a tool changes between the approval request and the approval.
pub(crate) async fn changed_tool(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "changed-tool").await?;
    let server = testbed.setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), gated: 1, deltas: 3, ..Script::default() };
    client.turn("c", &script, None).await?;
    server.stop().await?;
    let mut setup = testbed.setup.clone();
    setup.gated = "Deletes everything after an approval.";
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    approve(&client).await?;
    let early = testbed.ledger.counts().len();
    outcome.expect(early == 0, || "I10 an approval of another tool let this one run".to_owned());
    // After a request for the current tool, the user may approve again.
    approve(&client).await?;
    outcome.expect(testbed.ledger.counts().len() == 1, || {
        "an approval of the current tool does not let it run".to_owned()
    });
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("{early} effects before the second approval");
    Ok(outcome)
}

async fn approve(client: &Client) -> Result<()> {
    if let Some(stream) = client.approve("c").await? {
        client.read("c", stream, None).await;
    }
    Ok(())
}

/// The time limit of a turn in this scenario, and how late it may end.
const TURN_LIMIT: Duration = Duration::from_secs(4);
const TOLERANCE: Duration = Duration::from_secs(5);

/// Row F9: a provider sends text very slowly. Each delta resets the idle timeout, but the time
/// limit of the turn ends it.
pub(crate) async fn drip(options: &RunOptions) -> Result<Outcome> {
    let testbed = Testbed::new(options, "drip").await?;
    let mut setup = testbed.setup.clone();
    setup.limits = ", turnMs: 4000, idleMs: 1000";
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, "u0")?;
    let script = Script { tag: "u0-0".to_owned(), deltas: 1_000, pause: 600, ..Script::default() };
    let begun = Instant::now();
    let end = client.turn("c", &script, None).await?;
    let took = begun.elapsed();
    let mut outcome = Outcome { injected: 1, ..Outcome::default() };
    outcome.expect(matches!(end, crate::client::StreamEnd::Done(_)), || format!("the stream is cut off: {end:?}"));
    outcome.expect(took >= TURN_LIMIT && took < TURN_LIMIT + TOLERANCE, || format!("it ends after {took:?}"));
    let view = client.view("c").await?.context("the conversation is gone")?;
    let kept = view["messages"][1].to_string();
    outcome.expect(kept.contains("0 1 2 3 "), || format!("the received text is not stored: {kept}"));
    server.stop().await?;
    outcome.violations.extend(testbed.check().await?);
    outcome.worst = format!("ended after {:.1} s (limit 4 s)", took.as_secs_f64());
    Ok(outcome)
}
