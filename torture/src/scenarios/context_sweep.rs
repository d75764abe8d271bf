//! Row F2 for what a conversation keeps beside its messages: the server dies before and after each commit,
//! and at each step of a job, while a plan is written and changed, facts are saved and found, the
//! conversation is summarised, and a skill is installed. Nothing acknowledged is lost, nothing is there
//! twice, and the conversation goes on.

use crate::client::Client;
use crate::provider::Script;
use crate::scenario::{Outcome, RunOptions, Testbed, Tier};
use crate::scenarios::kill::check_conversation_continues;
use crate::scenarios::swept::SweptDatabase;
use crate::server::Setup;
use anyhow::{Context, Result, bail, ensure};
use faults::Point;
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::io::{Cursor, Write};
use std::time::{Duration, Instant};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Where the server dies. The last three are between two commits.
const POINTS: [Point; 6] = [
    Point::CommitBefore,
    Point::CommitAfter,
    Point::ToolReturned,
    Point::JobClaimed,
    Point::JobReturned,
    Point::JobEnded,
];
const USER: &str = "u0";
/// A bound above the number of commits of the work.
const MAX_COMMITS: u64 = 200;
/// How long a server may take to die after a request to it has failed.
const DEATH: Duration = Duration::from_secs(5);
/// How often it is looked whether the conversation was read, and the pause in between. On PostgreSQL, the job of the server
/// that died is tried again half a minute after its lease has ended.
const LOOKS: u32 = 1_200;
const PAUSE: Duration = Duration::from_millis(100);
/// How long the run of a server that died may stay open: its lease of 15 s, and the polling.
const RECOVERY: Duration = Duration::from_secs(60);

/// The keys of the agent.
const AGENT_KEYS: &str = "    planMode: true\n    memory: { tools: true }\n    skills: all\n";
/// The sections of the config. The demo model finds the facts.
const SECTIONS: &str = "memory: { restSeconds: 1, maxFacts: 1000, model: { connectionId: demo, model: demo } }\n";

/// The acknowledged steps.
#[derive(Default)]
struct Progress {
    turn: bool,
    plan: bool,
    compacted: bool,
    installed: bool,
    enabled: bool,
    found: bool,
}

/// Kills the server at every point at tier 2, and at some of them at tier 1. After a kill on PostgreSQL the
/// next server waits for the lease, so fewer are tried there.
pub(crate) async fn kill_at_every_commit(options: &RunOptions) -> Result<Outcome> {
    let steps = if options.tier == Tier::One { [5, 15] } else { [1, 4] };
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
    let name = if database.url.is_some() { "context-sweep-postgres" } else { "context-sweep" };
    let testbed = Testbed::new(options, name).await?;
    let setup =
        Setup { agent_keys: AGENT_KEYS, workflows: SECTIONS, database: database.url.clone(), ..testbed.setup.clone() };
    let mut kills = 0;
    for point in POINTS {
        let mut at = 1;
        while kill_at(&testbed, &setup, point, at, outcome).await? {
            (kills, at) = (kills + 1, at + database.step);
            ensure!(at <= MAX_COMMITS, "the work has more commits than expected");
        }
        outcome.expect(at > 1, || format!("the work does not reach {}", point.name()));
    }
    outcome.expect(!setup.log().contains("panicked"), || "I13 a server panicked".to_owned());
    outcome.injected += kills;
    Ok(kills)
}

/// Does the work with a server that dies at this occurrence of the point, and lets another one go on. Returns
/// whether the first one died.
async fn kill_at(testbed: &Testbed, setup: &Setup, point: Point, at: u64, outcome: &mut Outcome) -> Result<bool> {
    let fault = format!("{}=kill@{at}", point.name());
    let work = Work { tag: format!("{}-{at}", point.name().replace(['.', '_'], "-")) };
    let (mut progress, mut died) = (Progress::default(), true);
    // It may die while it starts.
    if let Ok(mut server) = setup.with_variable("CHATWRIGHT_FAULT", &fault).start(&testbed.history).await {
        let client = testbed.client(&server, USER)?;
        let failed = work.run(&client, &mut progress).await.err();
        let patience = if failed.is_some() { DEATH } else { Duration::from_millis(300) };
        died = server.wait_for_exit(patience).await.is_some();
        server.kill(&testbed.history).await?;
        if let (Some(error), false) = (failed, died) {
            return Err(error.context(format!("a request failed before {fault}")));
        }
    }
    let server = setup.start(&testbed.history).await?;
    let client = testbed.client(&server, USER)?;
    let mut checked = Outcome::default();
    work.check(&client, &progress, &mut checked).await.with_context(|| format!("after {fault}"))?;
    outcome.violations.extend(checked.violations.into_iter().map(|wrong| format!("{fault}: {wrong}")));
    server.stop().await?;
    Ok(died)
}

/// The work of one kill. Everything in it is named after the kill.
struct Work {
    tag: String,
}

impl Work {
    fn conversation(&self) -> String {
        format!("c-{}", self.tag)
    }

    /// Returns the user's statement, of which a tool and a job make a fact each.
    fn statement(&self) -> String {
        format!("I like dish-{}", self.tag)
    }

    fn skill(&self) -> String {
        format!("skill-{}", self.tag)
    }

    /// Does everything in order, and notes what was acknowledged.
    async fn run(&self, client: &Client, progress: &mut Progress) -> Result<()> {
        let save = json!({ "quote": self.statement(), "category": "preference" });
        let script = Script {
            tag: self.tag.clone(),
            states: Some(format!("{}.", self.statement())),
            calls: vec![("write_todos".to_owned(), json!({ "todos": todos(false) })), ("memory_save".to_owned(), save)],
            deltas: 2,
            ..Script::default()
        };
        let end = client.turn(&self.conversation(), &script, None).await?;
        ensure!(end.is_finished(), "the turn ended with {end:?}");
        progress.turn = true;
        let path = format!("/api/conversations/{}/plan", self.conversation());
        let plan: Value = json_of(client.request(Method::GET, &path)).await?;
        let changed = json!({ "revision": plan["plan"]["revision"], "todos": todos(true) });
        json_of(client.request(Method::PUT, &path).json(&changed)).await?;
        progress.plan = true;
        progress.compacted = self.compact(client).await?;
        let installed = json_of(admin(client, Method::POST, "").body(self.archive()?)).await?;
        progress.installed = true;
        let enable = json!({ "enabled": true, "digest": installed["digest"] });
        json_of(admin(client, Method::PUT, &self.skill()).json(&enable)).await?;
        progress.enabled = true;
        progress.found = self.wait_for_fact(client).await?;
        ensure!(progress.found, "the conversation was not read");
        Ok(())
    }

    /// Summarises the conversation. Returns whether that was acknowledged.
    async fn compact(&self, client: &Client) -> Result<bool> {
        let path = format!("/api/agent/page/worker/{}/compact", self.conversation());
        let sent = client.request(Method::POST, &path).json(&json!({})).send().await?.error_for_status()?;
        let stream = sent.text().await?;
        ensure!(stream.contains("[DONE]"), "the summary ended early");
        Ok(stream.contains("data-context-summary\""))
    }

    /// Waits until the job has found the fact. Returns false if it does not.
    async fn wait_for_fact(&self, client: &Client) -> Result<bool> {
        for _ in 0..LOOKS {
            if self.facts(client).await?.1 > 0 {
                return Ok(true);
            }
            tokio::time::sleep(PAUSE).await;
        }
        Ok(false)
    }

    /// Returns how often the fact is known that the tool keeps, and the one that the job finds.
    async fn facts(&self, client: &Client) -> Result<(usize, usize)> {
        let memory: Value = json_of(client.request(Method::GET, "/api/memory")).await?;
        let facts = memory["facts"].as_array().context("there are no facts")?;
        let count = |content: String| facts.iter().filter(|fact| fact["content"] == content).count();
        Ok((count(self.statement()), count(format!("The user likes dish-{}.", self.tag))))
    }

    /// An archive with a skill.
    fn archive(&self) -> Result<Vec<u8>> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        writer.start_file("SKILL.md", SimpleFileOptions::default())?;
        write!(writer, "---\nname: {}\ndescription: Looks after dishes.\n---\nWash them.\n", self.skill())?;
        Ok(writer.finish()?.into_inner())
    }

    /// Returns the conversation when no run of the server that died is left in it. On PostgreSQL, another server closes
    /// it after its lease has ended. `None` if there is no conversation.
    async fn idle_conversation(&self, client: &Client) -> Result<Option<Value>> {
        let begun = Instant::now();
        loop {
            let view = client.view(&self.conversation()).await?;
            if view.as_ref().is_none_or(|view| view["running"] == false) {
                return Ok(view);
            }
            ensure!(begun.elapsed() < RECOVERY, "I5 {} is still running", self.conversation());
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Checks that what was acknowledged is there, that nothing is there twice, and that everything goes on.
    async fn check(&self, client: &Client, progress: &Progress, outcome: &mut Outcome) -> Result<()> {
        self.check_skill(client, progress, outcome).await?;
        let Some(view) = self.idle_conversation(client).await? else {
            outcome.expect(!progress.turn, || "I1 the conversation is lost".to_owned());
            return Ok(());
        };
        let path = format!("/api/conversations/{}/plan", self.conversation());
        let plan: Value = json_of(client.request(Method::GET, &path)).await?;
        let (written, changed) = (todos(false), todos(true));
        let shown = &plan["plan"]["todos"];
        let is_right = *shown == changed || !progress.plan && (*shown == written || !progress.turn && shown.is_null());
        outcome.expect(is_right, || format!("I1 the plan is {plan}"));
        let summaries = view.to_string().matches("data-context-summary\"").count();
        let is_right = summaries == 1 || !progress.compacted && summaries == 0;
        outcome.expect(is_right, || format!("I1 there are {summaries} summaries"));
        check_conversation_continues(client, &self.tag, &self.conversation(), 0, outcome).await?;
        self.compact(client).await?;
        // The message is stored, so it is read, by this server if the last one did not.
        outcome.expect(self.wait_for_fact(client).await?, || "I1 the conversation was not read".to_owned());
        let (saved, found) = self.facts(client).await?;
        outcome.expect(found == 1, || format!("I3 a fact was found {found} times"));
        outcome.expect(saved == 1 || !progress.turn && saved == 0, || format!("I3 a fact was saved {saved} times"));
        Ok(())
    }

    async fn check_skill(&self, client: &Client, progress: &Progress, outcome: &mut Outcome) -> Result<()> {
        let list: Value = json_of(admin(client, Method::GET, "")).await?;
        let skills = list["items"].as_array().context("there is no list of skills")?;
        let skill = skills.iter().find(|skill| skill["name"] == self.skill());
        outcome.expect(skill.is_some() || !progress.installed, || "I1 the skill is lost".to_owned());
        let is_enabled = skill.is_some_and(|skill| skill["enabled"] == true);
        outcome.expect(is_enabled || !progress.enabled, || "I1 the skill is not enabled".to_owned());
        if skill.is_none() {
            json_of(admin(client, Method::POST, "").body(self.archive()?)).await?;
        }
        admin(client, Method::DELETE, &self.skill()).send().await?.error_for_status()?;
        Ok(())
    }
}

/// The steps of the plan, as the agent writes them, or as the user changes them.
fn todos(is_changed: bool) -> Value {
    let state = if is_changed { "completed" } else { "in_progress" };
    json!([{ "content": "Read", "status": state }, { "content": "Write", "status": "pending" }])
}

/// Returns a request of an administrator about skills.
fn admin(client: &Client, method: Method, skill: &str) -> RequestBuilder {
    let path = if skill.is_empty() { "/api/admin/skills".to_owned() } else { format!("/api/admin/skills/{skill}") };
    client.request(method, &path).header("x-forwarded-groups", "admin").header("content-type", "application/json")
}

/// Sends a request and returns its response.
async fn json_of(request: RequestBuilder) -> Result<Value> {
    let response: Response = request.timeout(Duration::from_secs(30)).send().await?;
    let (status, text) = (response.status(), response.text().await?);
    if !status.is_success() {
        bail!("{status}: {text}");
    }
    Ok(serde_json::from_str(&text)?)
}
