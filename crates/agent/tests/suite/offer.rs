//! Which calls a step accepts, and which of them end the turn.

use crate::support::{agent, asked, doing, run_turn};
use agent::StepRule;
use agent::{
    Agent, Decision, Ending, Event, EventSink, ExposureState, Limit, PendingCall, Policy, PolicyQuery, Ruling,
    SinkClosed,
};
use contract::testing::{Cue, ScriptedModel, text_reply, tool_call_reply};
use contract::{Message, Tool, ToolOutput, ToolSpec};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

struct Nobody;

impl EventSink for Nobody {
    async fn emit(&mut self, _: Event) -> Result<(), SinkClosed> {
        Ok(())
    }
}

fn tool(name: &str) -> (Arc<dyn Tool>, impl Fn() -> Vec<Value>) {
    let number = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    doing(ToolSpec::new(name, "", number))
}

async fn run(agent: &Agent) -> Ending {
    run_turn(agent, asked(), Vec::new(), (ExposureState::default(), CancellationToken::new()), &mut Nobody).await.ending
}

/// Denies calls with the number 7.
struct NotSeven;

impl Policy for NotSeven {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        let is_denied = asked.call.input["n"] == 7;
        Box::pin(std::future::ready(if is_denied { Ruling::Deny("not 7.".to_owned()) } else { Ruling::Allow }))
    }
}

#[tokio::test(start_paused = true)]
async fn only_a_call_that_ran_ends_the_turn() {
    let check = async |first: &str, requests: usize| {
        let (finish, finished) = tool("finish");
        let replies = vec![
            tool_call_reply(&[("a", "finish", first)]),
            tool_call_reply(&[("b", "finish", r#"{"n":1}"#)]),
            text_reply("never"),
        ];
        let (mut agent, model) = agent("a", replies, vec![finish]);
        agent.policy = Some(Arc::new(NotSeven));
        agent.settings.stop_on_tool_call = vec!["finish".to_owned()];
        let ending = run(&agent).await;
        assert!(matches!(ending, Ending::Limit(Limit::StopOnToolCall)), "{first}: {ending:?}");
        assert_eq!((model.requests().len(), finished().len()), (requests, 1), "{first}");
    };
    check(r#"{"n":2}"#, 1).await;
    check(r#"{"n":"two"}"#, 2).await;
    check("{broken", 2).await;
    check(r#"{"n":7}"#, 2).await;
}

/// Returns what the model read about the calls of its first reply.
fn outputs(model: &ScriptedModel) -> Vec<ToolOutput> {
    match &**model.requests()[1].messages.last().unwrap() {
        Message::Tool(results) => results.iter().map(|result| result.output.clone()).collect(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_step_accepts_only_the_tools_that_it_offers() {
    let check = async |of_agent: Option<&[&str]>, of_step: Option<&[&str]>, offered: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let names = ["one", "two", "three"];
        let made: Vec<_> = names.iter().map(|&name| tool(name)).collect();
        let all: Vec<_> = names.iter().map(|&name| (name, name, r#"{"n":1}"#)).collect();
        let tools = made.iter().map(|(tool, _)| tool.clone()).collect();
        let (mut agent, model) = agent("a", vec![tool_call_reply(&all), text_reply("ok")], tools);
        agent.settings.active_tools = of_agent.map(owned);
        let active_tools = of_step.map(owned);
        agent.settings.prepare_step = vec![StepRule { steps: Some(vec![1]), active_tools, ..StepRule::default() }];
        run(&agent).await;
        let told: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(told, offered, "{of_agent:?} {of_step:?}");
        for ((name, (_, called)), output) in names.iter().zip(&made).zip(outputs(&model)) {
            assert_eq!(called().len(), usize::from(offered.contains(name)), "{name} of {of_agent:?} {of_step:?}");
            if !offered.contains(name) {
                let mut listed = offered.to_vec();
                listed.sort_unstable();
                let available = if listed.is_empty() {
                    format!("There is no tool `{name}`. No tools are available.")
                } else {
                    format!("There is no tool `{name}`. Available: {}.", listed.join(", "))
                };
                assert_eq!(output, ToolOutput::ErrorText(available));
            }
        }
    };
    check(None, None, &["one", "two", "three"]).await;
    check(Some(&["one"]), None, &["one"]).await;
    check(None, Some(&["two"]), &["two"]).await;
    check(Some(&["one"]), Some(&["two", "three"]), &["two", "three"]).await;
    check(Some(&["one", "two"]), Some(&[]), &[]).await;
}

/// The step after the user's decision does not offer the tool.
#[tokio::test(start_paused = true)]
async fn a_decided_call_runs_whichever_step_offered_its_tool() {
    let number = json!({ "type": "object" });
    let (asks, called) = doing(ToolSpec { needs_approval: true, ..ToolSpec::new("asks", "", number) });
    let replies: Vec<Vec<Cue>> = vec![tool_call_reply(&[("a", "asks", "{}")]), text_reply("ok")];
    let (mut agent, _) = agent("a", replies, vec![asks, tool("other").0]);
    agent.settings.active_tools = Some(vec!["other".to_owned()]);
    let active_tools = Some(vec!["asks".to_owned()]);
    agent.settings.prepare_step = vec![StepRule { steps: Some(vec![1]), active_tools, ..StepRule::default() }];
    let waits = (ExposureState::default(), CancellationToken::new());
    let outcome = run_turn(&agent, asked(), Vec::new(), waits.clone(), &mut Nobody).await;
    assert!(matches!(outcome.ending, Ending::Waiting), "{:?}", outcome.ending);
    let (call, decision) = (outcome.waiting[0].call.clone(), Decision::Approved);
    let pending =
        vec![PendingCall { call, decision, state: None, tool_fingerprint: None, grant: None, cut_off: false }];
    let outcome = run_turn(&agent, outcome.messages, pending, waits, &mut Nobody).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(called().len(), 1);
}
