//! Row F47: the server dies before and after each commit of a run, on SQLite and on PostgreSQL.

use super::{Tags, VERSIONS, check, run as run_detail, start_run, wait_for_ends};
use crate::client::Client;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::scenarios::swept::SweptDatabase;
use crate::server::Setup;
use anyhow::{Result, ensure};
use faults::Point;
use reqwest::Method;
use serde_json::Value;
use std::collections::btree_map::Entry;
use std::time::Duration;

/// Where the server dies. The last three are between two commits.
const POINTS: [Point; 5] =
    [Point::CommitBefore, Point::CommitAfter, Point::JobClaimed, Point::JobReturned, Point::JobEnded];
const USER: &str = "u0";
/// A bound above the number of commits of a start and a run.
const MAX_COMMITS: u64 = 200;
/// How long a server may take to die after a request to it has failed.
const DEATH: Duration = Duration::from_secs(5);

/// Kills the server at every commit at tier 2, and at some of them at tier 1. After a kill on PostgreSQL
/// the next server waits for the lease, so fewer are tried there.
pub(crate) async fn kill_at_every_commit(options: &RunOptions) -> Result<Outcome> {
    let steps = if options.tier == Tier::One { [4, 12] } else { [1, 3] };
    let (mut outcome, mut kills) = (Outcome::default(), Vec::new());
    for database in SweptDatabase::all(steps).await {
        let count = sweep(options, &database, &mut outcome).await?;
        kills.push(database.kills(count));
    }
    outcome.worst = kills.join(", ");
    Ok(outcome)
}

/// Kills the server at occurrences of each point, with one database. Returns the number of kills.
async fn sweep(options: &RunOptions, database: &SweptDatabase, outcome: &mut Outcome) -> Result<u64> {
    let name = if database.url.is_some() { "workflow-sweep-postgres" } else { "workflow-sweep" };
    let testbed = Testbed::new(options, name).await?;
    let setup = Setup { workflows: VERSIONS[0], database: database.url.clone(), ..testbed.setup.clone() };
    let (mut tags, mut kills) = (Tags::new(), 0);
    for point in POINTS {
        let mut at = 1;
        while kill_at(&testbed, &setup, point, at, &mut tags).await? {
            (kills, at) = (kills + 1, at + database.step);
            ensure!(at <= MAX_COMMITS, "a run has more commits than expected");
        }
        outcome.expect(at > 1, || format!("no run reaches {}", point.name()));
    }
    check(&testbed, &tags, outcome);
    outcome.injected += kills;
    Ok(kills)
}

/// Runs a workflow with a server that dies at this occurrence of the point, and lets another one go on.
/// Returns whether the first one died.
async fn kill_at(testbed: &Testbed, setup: &Setup, point: Point, at: u64, tags: &mut Tags) -> Result<bool> {
    let fault = format!("{}=kill@{at}", point.name());
    // It may die while it starts.
    if let Ok(mut server) = setup.with_variable("CHATWRIGHT_FAULT", &fault).start(&testbed.history).await {
        let client = testbed.client(&server, USER)?;
        let tag = format!("{}-{at}", point.name());
        let ran = async {
            start_run(&client, tag, tags).await?;
            wait_for_ends(&client, testbed, tags).await
        };
        let failed = ran.await.err();
        let patience = if failed.is_some() { DEATH } else { Duration::from_millis(300) };
        let died = server.wait_for_exit(patience).await.is_some();
        server.kill(&testbed.history).await?;
        match failed {
            Some(error) if !died => return Err(error.context(format!("a request failed before {fault}"))),
            None if !died => return Ok(false),
            _ => {}
        }
    }
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, USER)?;
    add_unacknowledged(&client, tags).await?;
    wait_for_ends(&client, testbed, tags).await?;
    server.stop().await?;
    Ok(true)
}

/// Adds runs that were stored, but not acknowledged. Of the newest, because at most one is added.
async fn add_unacknowledged(client: &Client, tags: &mut Tags) -> Result<()> {
    let sent = client.request(Method::GET, "/api/workflows/runs").send().await?;
    let runs: Value = sent.error_for_status()?.json().await?;
    for run in runs["items"].as_array().into_iter().flatten() {
        let id = run["id"].as_str().unwrap_or_default().to_owned();
        if let Entry::Vacant(tag) = tags.entry(id) {
            let detail = run_detail(client, tag.key()).await?;
            tag.insert(detail["input"]["tag"].as_str().unwrap_or_default().to_owned());
        }
    }
    Ok(())
}
