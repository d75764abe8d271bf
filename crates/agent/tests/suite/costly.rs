//! Schemas that are too costly: they are refused, or checks end with their budget or with the run.

use crate::support;
use agent::{
    Agent, AnswerForm, Ending, Event, EventSink, InvocationInput, InvocationRequest, InvokeError, RunOutcome,
    SinkClosed, TurnInput,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{Message, ModelUse, ResponseFormat, Tool, ToolSpec, UserPart};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// A schema that takes 2^40 steps: each level applies the next one twice.
fn doubled() -> Value {
    let mut definitions = json!({ "l0": { "type": "object" } });
    for level in 1..=40 {
        let below = json!({ "$ref": format!("#/$defs/l{}", level - 1) });
        definitions[format!("l{level}")] = json!({ "allOf": [below, below] });
    }
    json!({ "$defs": definitions, "$ref": "#/$defs/l40" })
}

fn tool(name: &str, schema: Value) -> Arc<dyn Tool> {
    Arc::new(RecordingTool::new(ToolSpec::new(name, "", schema), |_, _| async { Ok(json!("done")) }))
}

fn agent(replies: Vec<Vec<Cue>>, tools: Vec<Arc<dyn Tool>>) -> (Agent, Arc<ScriptedModel>) {
    support::agent("a", replies, tools)
}

/// Collects the errors of invalid calls.
#[derive(Default)]
struct Invalid(Vec<String>);

impl EventSink for Invalid {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        if let Event::ToolCallInvalid { error, .. } = event {
            self.0.push(error);
        }
        Ok(())
    }
}

async fn run(agent: &Agent, cancel: CancellationToken) -> (RunOutcome, Vec<String>) {
    let turn = TurnInput {
        scope: contract::RunScope {
            user_id: "ada".to_owned(),
            conversation_id: "c".to_owned(),
            ..contract::RunScope::default()
        },
        cancel,
        ..support::turn(vec![Arc::new(Message::User(vec![UserPart::Text { text: "Hi".to_owned() }]))])
    };
    let mut invalid = Invalid::default();
    let outcome = agent::run(agent, turn, &mut invalid).await;
    (outcome, invalid.0)
}

/// Cancels after the model was asked and the other tasks had some turns. A costly check takes
/// thousands of turns.
async fn stop_soon(model: &ScriptedModel, cancel: &CancellationToken) {
    while model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
    cancel.cancel();
}

#[tokio::test]
async fn a_tool_with_a_refused_schema_is_not_offered() {
    let tools = vec![
        tool("works", json!({ "type": "object" })),
        tool("looks", json!({ "properties": { "a": { "pattern": "(?=x)" } } })),
        tool("broken", json!({ "properties": 7 })),
    ];
    let (agent, model) =
        agent(vec![tool_call_reply(&[("c1", "looks", "{}"), ("c2", "works", "{}")]), text_reply("ok")], tools);
    let (outcome, invalid) = run(&agent, CancellationToken::new()).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    let offered: Vec<_> = model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["works"]);
    assert_eq!(invalid, ["There is no tool `looks`. Available: works."]);
}

#[tokio::test]
async fn the_model_reads_that_a_check_was_too_costly() {
    let tools = vec![tool("costly", doubled()), tool("works", json!({ "type": "object" }))];
    let (agent, model) =
        agent(vec![tool_call_reply(&[("c1", "costly", "{}"), ("c2", "works", "{}")]), text_reply("ok")], tools);
    let (outcome, invalid) = run(&agent, CancellationToken::new()).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(invalid, ["Checking these arguments takes too much work. Use smaller or simpler ones."]);
    assert_eq!(model.requests().len(), 2);
}

#[tokio::test]
async fn a_costly_check_ends_when_the_run_is_stopped() {
    let (agent, model) =
        agent(vec![tool_call_reply(&[("c1", "costly", "{}")]), text_reply("never")], vec![tool("costly", doubled())]);
    let cancel = CancellationToken::new();
    let ((outcome, invalid), ()) = tokio::join!(run(&agent, cancel.clone()), stop_soon(&model, &cancel));
    assert!(matches!(outcome.ending, Ending::Stopped), "{:?}", outcome.ending);
    assert_eq!((invalid.len(), model.requests().len()), (0, 1));
}

fn question(form: AnswerForm, cancel: CancellationToken) -> InvocationRequest {
    InvocationRequest {
        replaces_limits: false,
        asks: false,
        from: None,
        input: InvocationInput::prompt("Hi"),
        form: Some(form),
        tools: None,
        observer: None,
        limits: agent::TurnLimits::default(),
        time: Duration::from_secs(600),
        scope: contract::RunScope { user_id: "ada".to_owned(), ..contract::RunScope::default() },
        models: ModelUse::default(),
        cancel,
    }
}

async fn form(schema: Value) -> AnswerForm {
    AnswerForm::new(ResponseFormat { name: "answer".to_owned(), strict: false, schema }).await.unwrap()
}

#[tokio::test]
async fn an_answer_that_is_too_costly_to_check_is_an_error() {
    let (agent, model) = agent(vec![text_reply("{}"), text_reply("{}")], Vec::new());
    let answer = agent::invoke(&agent, question(form(doubled()).await, CancellationToken::new())).await;
    assert!(matches!(answer.output, Err(InvokeError::Unchecked(_))), "{:?}", answer.output);
    // A retry would not help.
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn checking_an_answer_ends_when_the_request_is_cancelled() {
    let (agent, model) = agent(vec![text_reply("{}")], Vec::new());
    let cancel = CancellationToken::new();
    let asked = agent::invoke(&agent, question(form(doubled()).await, cancel.clone()));
    let (answer, ()) = tokio::join!(asked, stop_soon(&model, &cancel));
    assert!(matches!(answer.output, Err(InvokeError::Stopped)), "{:?}", answer.output);
}
