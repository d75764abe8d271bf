//! How often an agent goes on by itself, and in which way it uses its tools.

use crate::support;
use agent::{
    Agent, Ending, Event, EventSink, ExecutionMode, RunSettings, SinkClosed, SubAgent, ToolStrategy, TurnInput,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{RunScope, Tool, ToolChoice, ToolError, ToolSpec};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Records when calls begin and how they end.
#[derive(Default)]
struct Calls(Vec<String>);

impl EventSink for Calls {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        let event = match event {
            Event::Nested { event, .. } => *event,
            event => event,
        };
        match event {
            Event::ToolStarted { call_id, .. } => self.0.push(format!("+{call_id}")),
            Event::ToolFinished { call_id, result: Ok(_), .. } => self.0.push(format!("-{call_id}")),
            Event::ToolFinished { call_id, result: Err(_), .. } => self.0.push(format!("!{call_id}")),
            _ => {}
        }
        Ok(())
    }
}

/// A tool that takes 10 ms and fails when its input says so.
fn tool(name: &str) -> Arc<dyn Tool> {
    Arc::new(RecordingTool::new(ToolSpec::new(name, "", json!({ "type": "object" })), |input: Value, _| async move {
        tokio::time::sleep(Duration::from_millis(10)).await;
        if input["fail"] == json!(true) { Err(ToolError::new("no")) } else { Ok(json!("ok")) }
    }))
}

fn call(id: &str, name: &str, input: &str) -> Vec<Cue> {
    tool_call_reply(&[(id, name, input)])
}

/// An agent with the tools `find` and `post`.
fn agent(replies: Vec<Vec<Cue>>, mode: ExecutionMode, strategy: ToolStrategy) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    let settings = RunSettings { execution_mode: mode, tool_strategy: strategy, ..RunSettings::default() };
    let tools = vec![tool("find"), tool("post")];
    (Agent { tools, settings, ..Agent::new("worker", model.clone()) }, model)
}

async fn run(agent: &Agent) -> (Ending, Vec<String>) {
    let mut calls = Calls::default();
    let turn = TurnInput {
        scope: RunScope { user_id: "u".to_owned(), ..RunScope::default() },
        ..support::turn(support::asked())
    };
    let outcome = agent::run(agent, turn, &mut calls).await;
    (outcome.ending, calls.0)
}

fn choices(model: &ScriptedModel) -> String {
    let choice = |choice: &ToolChoice| match choice {
        ToolChoice::Auto => "auto".to_owned(),
        ToolChoice::Required => "required".to_owned(),
        ToolChoice::None => "none".to_owned(),
        ToolChoice::Tool(name) => name.clone(),
    };
    model.requests().iter().map(|request| choice(&request.tool_choice)).collect::<Vec<_>>().join(" ")
}

#[tokio::test(start_paused = true)]
async fn after_the_last_step_with_calls_the_model_answers() {
    let again = |n: usize| call("a", "find", &format!(r#"{{"n":{n}}}"#));
    let check = async |mode: ExecutionMode, calls: usize, expected: &str| {
        let replies = (0..calls).map(again).chain([text_reply("Done.")]).collect();
        let (agent, model) = agent(replies, mode, ToolStrategy::Model);
        let (ending, _) = run(&agent).await;
        assert!(matches!(ending, Ending::Done), "{mode:?} {ending:?}");
        assert_eq!(choices(&model), expected, "{mode:?}");
        // The history has calls, so the tools are named in every request.
        assert!(model.requests().iter().all(|request| request.tools.len() == 2));
    };
    check(ExecutionMode::UntilDone, 3, "auto auto auto auto").await;
    check(ExecutionMode::AtMost(1), 1, "auto none").await;
    check(ExecutionMode::AtMost(3), 3, "auto auto auto none").await;
    check(ExecutionMode::AtMost(3), 0, "auto").await;
}

#[tokio::test(start_paused = true)]
async fn a_model_that_goes_on_calling_is_ended() {
    let replies = (0..5).map(|n| call("a", "find", &format!(r#"{{"n":{n}}}"#))).collect();
    let (agent, model) = agent(replies, ExecutionMode::AtMost(2), ToolStrategy::Model);
    let (ending, calls) = run(&agent).await;
    assert!(matches!(ending, Ending::Limit(agent::Limit::MaxSteps)), "{ending:?}");
    // The last call is not offered, so it does not run.
    assert_eq!((model.requests().len(), calls.join(" ").as_str()), (3, "+a -a +a-2 -a-2 !a-3"));
}

#[tokio::test(start_paused = true)]
async fn calls_run_together_or_one_after_the_other() {
    let check = async |strategy: ToolStrategy, calls: &[(&str, &str, &str)], expected: &str, told: Option<&str>| {
        let (agent, model) =
            agent(vec![tool_call_reply(calls), text_reply("Done.")], ExecutionMode::UntilDone, strategy.clone());
        let (ending, calls) = run(&agent).await;
        assert!(matches!(ending, Ending::Done), "{ending:?}");
        assert_eq!(calls.join(" "), expected, "{strategy:?}");
        let system = model.requests()[0].system.clone();
        assert_eq!(system.as_deref().map(|text| &text[..11]), told, "{strategy:?}");
    };
    let both = [("a", "find", "{}"), ("b", "post", "{}")];
    let first_fails = [("a", "find", r#"{"fail":true}"#), ("b", "post", "{}"), ("c", "post", "{}")];
    check(ToolStrategy::Model, &both, "+a +b -a -b", None).await;
    check(ToolStrategy::Parallel, &both, "+a +b -a -b", Some("When severa")).await;
    check(ToolStrategy::Sequential, &both, "+a -a +b -b", Some("Make one to")).await;
    check(ToolStrategy::Model, &first_fails, "+a +b +c !a -b -c", None).await;
    check(ToolStrategy::Sequential, &first_fails, "+a !a !b !c", Some("Make one to")).await;
}

#[tokio::test(start_paused = true)]
async fn a_pipeline_has_its_order_whatever_the_model_wants() {
    let pipeline = || ToolStrategy::Pipeline(vec!["find".to_owned(), "post".to_owned()]);
    let check = async |replies: Vec<Vec<Cue>>, choices_: &str, calls_: &str| {
        let (agent, model) = agent(replies, ExecutionMode::UntilDone, pipeline());
        let (ending, calls) = run(&agent).await;
        assert!(matches!(ending, Ending::Done), "{ending:?}");
        assert_eq!((choices(&model).as_str(), calls.join(" ").as_str()), (choices_, calls_));
    };
    let done = || text_reply("Done.");
    check(vec![call("a", "find", "{}"), call("b", "post", "{}"), done()], "find post none", "+a -a +b -b").await;
    // Another tool than the next one is not offered.
    let wrong = vec![call("a", "post", "{}"), call("b", "find", "{}"), call("c", "post", "{}"), done()];
    check(wrong, "find find post none", "!a +b -b +c -c").await;
    let failing = vec![call("a", "find", r#"{"fail":true}"#), call("b", "find", "{}"), call("c", "post", "{}"), done()];
    check(failing, "find find post none", "+a !a +b -b +c -c").await;
}

#[tokio::test(start_paused = true)]
async fn a_sub_agent_has_its_own_mode_and_strategy() {
    let pipeline = ToolStrategy::Pipeline(vec!["find".to_owned()]);
    let (clerk, below_model) =
        agent(vec![call("b", "find", "{}"), text_reply("Found.")], ExecutionMode::UntilDone, pipeline);
    let (mut boss, model) = agent(
        vec![call("a", "worker", r#"{"task":"Find it."}"#), text_reply("Done.")],
        ExecutionMode::AtMost(1),
        ToolStrategy::Model,
    );
    let spec = ToolSpec { timeout: SubAgent::TIMEOUT, ..ToolSpec::new("worker", "", SubAgent::default_schema()) };
    boss.agents = vec![Arc::new(SubAgent::new(spec, clerk))];
    let (ending, _) = run(&boss).await;
    assert!(matches!(ending, Ending::Done), "{ending:?}");
    assert_eq!((choices(&model).as_str(), choices(&below_model).as_str()), ("auto none", "find none"));
}
