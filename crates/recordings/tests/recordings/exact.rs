//! With the recorded config a replay is the recorded run, byte for byte.

use crate::agents::{Step, TOOLS, agent, dead, dead_tools, script, scripted, tools};
use crate::world::{Input, World};
use agent::{Decision, PendingCall, SubAgent};
use contract::testing::{text_reply, tool_call_reply};
use contract::tool::{NoteQuery, SourceTools};
use contract::{Model, RunScope, ToolError, ToolSource, ToolSpec};
use futures::future::BoxFuture;
use proptest::prelude::*;
use providers::demo::Demo;
use recordings::format::{Entry, Recording, read, write};
use recordings::replay::{Options, Replies, replay};
use recordings::report::compare;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The options of a replay in which only the recording answers.
pub(crate) fn exact() -> Options {
    Options { same_config: true, replies: Replies::Recorded, ..Options::default() }
}

/// Returns the lines of a recording without times. The calls of a step end in any order, so theirs
/// are last.
fn lines(recording: &Recording) -> Vec<String> {
    let mut entries: Vec<Value> = recording.entries.iter().map(|entry| serde_json::to_value(entry).unwrap()).collect();
    for entry in &mut entries {
        for key in ["ms", "firstPartMs", "wholeMs"] {
            if entry.get(key).is_some() {
                entry[key] = 0.into();
            }
        }
    }
    let (mut calls, others): (Vec<_>, Vec<_>) = entries.into_iter().partition(|entry| entry["type"] == "tool");
    calls.sort_by_key(|entry| entry["callId"].to_string());
    let entries = others.iter().chain(&calls).map(Value::to_string);
    entries.chain(recording.blobs.iter().map(|(id, value)| format!("{id} {value}"))).collect()
}

/// Asserts that the replay with this agent is the recorded run.
async fn assert_exact(recording: &Recording, agent: &agent::Agent) {
    let replayed = replay(recording, agent, &exact(), CancellationToken::new()).await.unwrap();
    assert_eq!(replayed.misses, []);
    assert_eq!(lines(&replayed.recording), lines(recording));
    let comparison = compare(recording, &replayed.recording, &replayed.misses, 1);
    assert_eq!(comparison.findings().count(), 0, "{comparison:?}");
    assert_eq!(replayed.live_requests, 0);
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let calls = proptest::collection::vec((0..TOOLS.len(), any::<u8>()), 1..5).prop_map(Step::Calls);
    let step = prop_oneof![6 => calls, 1 => Just(Step::Failure), 1 => Just(Step::Invalid)];
    proptest::collection::vec(step, 0..6)
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(cases(12))]

    /// Runs with parallel calls, failures of tools and models, invalid calls, and decisions of the
    /// user.
    #[test]
    fn the_unchanged_config_replays_each_run(steps in steps(), text in "[a-z ]{0,30}", approves in any::<bool>()) {
        replay_each_run(&steps, &text, approves);
    }

    /// Any reply of the demo model, which reads the request.
    #[test]
    fn the_demo_model_is_replayed(words in proptest::collection::vec("[a-z]{1,8}", 1..6)) {
        replay_the_demo_model(&words);
    }
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    #[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
    fn the_unchanged_config_replays_each_run_thoroughly(
        steps in steps(),
        text in "[a-z ]{0,30}",
        approves in any::<bool>()
    ) {
        replay_each_run(&steps, &text, approves);
    }

    #[test]
    #[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
    fn the_demo_model_is_replayed_thoroughly(words in proptest::collection::vec("[a-z]{1,8}", 1..6)) {
        replay_the_demo_model(&words);
    }
}

fn replay_each_run(steps: &[Step], text: &str, approves: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::in_memory().await;
        let recorded = scripted(script(steps, text), tools());
        let mut input = Input::message("hello");
        // Each approval starts a run.
        for number in 0..30 {
            let (outcome, recording) = world.record(&recorded, &format!("run-{number}"), input).await;
            assert_exact(&recording, &dead()).await;
            if outcome.waiting.is_empty() {
                return;
            }
            let decision = if approves { Decision::Approved } else { Decision::Denied(Some("no".to_owned())) };
            let pending = outcome.waiting.into_iter().map(|waiting| PendingCall {
                call: waiting.call,
                decision: decision.clone(),
                state: waiting.state,
                tool_fingerprint: waiting.tool_fingerprint,
                grant: None,
                cut_off: false,
            });
            input = Input { messages: outcome.messages, pending: pending.collect(), earlier: outcome.turn_usage };
        }
    });
}

fn replay_the_demo_model(words: &[String]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::in_memory().await;
        let demo = || -> Arc<dyn Model> { Arc::new(Demo::new("demo", Some(Duration::ZERO))) };
        let text = format!("start echo: {}", words.join(" "));
        let (_, recording) = world.record(&agent(demo(), tools()), "run", Input::message(&text)).await;
        assert_exact(&recording, &agent(demo(), dead_tools())).await;
    });
}

#[tokio::test]
async fn a_file_has_the_whole_recording_and_no_secret() {
    let world = World::in_memory().await;
    let recorded = scripted(script(&[Step::Calls(vec![(0, 1), (2, 2)])], "done"), tools());
    let (_, recording) = world.record(&recorded, "run", Input::message("hello")).await;
    let mut file = Vec::new();
    write(&recording, &mut file).unwrap();
    assert_eq!(read(&*file).unwrap(), std::slice::from_ref(&recording));
    let text = String::from_utf8(file).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    assert!(text.contains("[masked]"));

    let check = |text: String, expected: &str| {
        let error = read(text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(String::new(), "the file has no recording");
    check("{}\n".to_owned(), "1:2: not a line of a recording");
    check(text.replacen("\"version\":1", "\"version\":2", 1), "1:1: the recording has the version 2");
    check(text.replacen("Help, and", "Help, or", 1), "the value does not have this hash");
    let without = |kind: &str| {
        text.lines().filter(|line| !line.contains(kind)).fold(String::new(), |all, line| all + line + "\n")
    };
    check(without("\"type\":\"blob\""), "lacks the blob");
    check(without("\"type\":\"turn\""), "has no turn");
    check(without("\"type\":\"recording\""), "1:1: the first line must be a `recording`");
}

/// Returns an agent that hands a task to another one.
fn with_sub_agent(mut root: agent::Agent, below: agent::Agent) -> agent::Agent {
    let spec = ToolSpec::new("research", "Does research.", SubAgent::default_schema());
    root.agents.push(Arc::new(SubAgent::new(spec, below)));
    root
}

#[tokio::test]
async fn sub_agents_and_sources_are_replayed() {
    let world = World::in_memory().await;
    let below = scripted(script(&[Step::Calls(vec![(0, 7)])], "found"), tools());
    let replies = vec![tool_call_reply(&[("call", "research", "{\"task\": \"look\"}")]), text_reply("It is found.")];
    let mut recorded = with_sub_agent(scripted(replies, Vec::new()), below);
    recorded.sources.push(Arc::new(Weather { is_live: true }));
    let (_, recording) = world.record(&recorded, "run", Input::message("hello")).await;
    let agents = recording.entries.iter().filter_map(|entry| match entry {
        Entry::Request { agent, .. } => Some(agent.as_str()),
        _ => None,
    });
    assert_eq!(agents.collect::<Vec<_>>(), ["helper", "helper/research", "helper/research", "helper"]);
    let mut agent = with_sub_agent(scripted(Vec::new(), Vec::new()), dead());
    agent.sources.push(Arc::new(Weather { is_live: false }));
    assert_exact(&recording, &agent).await;
}

/// A source that says something else when it is asked in a replay.
struct Weather {
    is_live: bool,
}

impl ToolSource for Weather {
    fn name(&self) -> &str {
        "weather"
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let context = if self.is_live { "It rains." } else { "It snows." };
        let tools = if self.is_live { tools() } else { Vec::new() };
        Box::pin(async move { Ok(SourceTools { tools, context: Some(context.to_owned()), ..SourceTools::default() }) })
    }

    fn note<'a>(&'a self, asked: NoteQuery<'a>) -> BoxFuture<'a, Option<String>> {
        let text =
            (asked.messages.len() == 1).then(|| format!("The wind is {}.", if self.is_live { "low" } else { "high" }));
        Box::pin(async move { text })
    }
}
