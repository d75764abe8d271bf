//! Turns of several runs: the usage from before the turn waited for the user or the page continues
//! to count.

use crate::support;
use agent::{
    Agent, Decision, EmptyMessages, Ending, Event, EventSink, Limit, PendingCall, Prune, PruneReasoning,
    PruneToolCalls, PrunedCalls, RunOutcome, RunSettings, SinkClosed, TurnInput, TurnLimits, TurnUsage,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ModelId, Price, ReplyUsage, Tool, ToolCall, ToolContext,
    ToolError, ToolOutput, ToolResult, ToolSpec, Usage, UserPart,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Records the usage of the requests of tools.
#[derive(Default)]
struct Notes {
    nested: Vec<(String, String, u64)>,
    failures: Vec<String>,
}

impl EventSink for Notes {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        match event {
            Event::Nested { call_id, agent_id, event } => {
                if let Event::ReplyComplete(replied) = *event {
                    self.nested.push((call_id, agent_id, replied.usage.input_tokens));
                }
            }
            Event::ToolFinished { result: Err(error), .. } => self.failures.push(error.message),
            _ => {}
        }
        Ok(())
    }
}

fn tool(name: &str, change: impl FnOnce(ToolSpec) -> ToolSpec) -> Arc<dyn Tool> {
    let spec = change(ToolSpec::new(name, "", json!({ "type": "object" })));
    Arc::new(RecordingTool::new(spec, |input: Value, _| async move { Ok(input) }))
}

fn asking(name: &str) -> Arc<dyn Tool> {
    tool(name, |spec| ToolSpec { needs_approval: true, ..spec })
}

fn on_page(name: &str) -> Arc<dyn Tool> {
    tool(name, |spec| ToolSpec { execution: Execution::Client, ..spec })
}

fn agent(replies: Vec<Vec<Cue>>, tool: Arc<dyn Tool>, settings: RunSettings) -> (Agent, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(replies));
    let agent = Agent { tools: vec![tool], settings, ..Agent::new("a", model.clone()) };
    (agent, model)
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::User(vec![UserPart::Text { text: text.to_owned() }]))
}

fn turn(messages: Vec<Arc<Message>>, pending: Vec<PendingCall>, own_from: usize, earlier: TurnUsage) -> TurnInput {
    TurnInput { pending, turn_start: own_from, earlier, ..support::turn(messages) }
}

fn approved(call: ToolCall) -> PendingCall {
    PendingCall { call, decision: Decision::Approved, state: None, tool_fingerprint: None, grant: None, cut_off: false }
}

/// Returns the history with a result of its last call, as a page answers it.
fn answered(mut messages: Vec<Arc<Message>>) -> Vec<Arc<Message>> {
    let Some(Message::Assistant(parts)) = messages.last().map(|last| &**last) else { panic!("{messages:?}") };
    let Some(AssistantPart::ToolCall(call)) = parts.last() else { panic!("{parts:?}") };
    let (call_id, name) = (call.id.clone(), call.name.clone());
    let result = ToolResult { call_id, name, output: ToolOutput::Text("done".to_owned()), metadata: None };
    messages.push(Arc::new(Message::Tool(vec![result])));
    messages
}

/// Runs the turn until it no longer waits: every call is approved, and every call of the page is
/// answered. The state is stored and read between the runs.
async fn to_the_end(agent: &Agent, notes: &mut Notes) -> (RunOutcome, u32) {
    let mut next = turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default());
    for runs in 1..50 {
        let outcome = agent::run(agent, next, notes).await;
        if !matches!(outcome.ending, Ending::Waiting) {
            return (outcome, runs);
        }
        let stored = serde_json::to_string(&outcome.turn_usage).unwrap();
        let pending: Vec<_> = outcome.waiting.into_iter().map(|waiting| approved(waiting.call)).collect();
        let messages = if pending.is_empty() { answered(outcome.messages) } else { outcome.messages };
        next = turn(messages, pending, 1, serde_json::from_str(&stored).unwrap());
    }
    panic!("the turn goes on for ever")
}

#[tokio::test(start_paused = true)]
async fn max_steps_counts_across_approvals() {
    let another = |n: usize| tool_call_reply(&[("a", "asks", &format!(r#"{{"n":{n}}}"#))]);
    let settings = RunSettings { max_steps: 4, ..RunSettings::default() };
    let (agent, model) = agent((0..20).map(another).collect(), asking("asks"), settings);
    let (outcome, runs) = to_the_end(&agent, &mut Notes::default()).await;
    assert!(matches!(outcome.ending, Ending::Limit(Limit::MaxSteps)), "{:?}", outcome.ending);
    // The last call was approved and has run; the model is not asked again.
    assert_eq!((model.requests().len(), runs), (4, 5));
    assert!(matches!(outcome.messages.last().map(|last| &**last), Some(Message::Tool(_))));
}

#[tokio::test(start_paused = true)]
async fn a_loop_over_page_calls_is_warned_about_and_ended() {
    let again = || tool_call_reply(&[("a", "browser", r#"{"n":1}"#)]);
    let settings = RunSettings { max_steps: 100, ..RunSettings::default() };
    let (agent, model) = agent((0..20).map(|_| again()).collect(), on_page("browser"), settings);
    let mut notes = Notes::default();
    let (outcome, runs) = to_the_end(&agent, &mut notes).await;
    assert!(matches!(outcome.ending, Ending::Limit(Limit::Loop)), "{:?}", outcome.ending);
    let warned = |request: &contract::Request| matches!(&**request.messages.last().unwrap(), Message::User(parts) if format!("{parts:?}").contains("the same calls"));
    let requests = model.requests();
    assert_eq!(requests.iter().map(warned).collect::<Vec<_>>(), [false, false, false, true, false]);
    assert_eq!((runs, notes.failures), (5, vec!["Not run: the same calls were made too often.".to_owned()]));
}

#[tokio::test(start_paused = true)]
async fn limits_count_across_approvals() {
    let another = |n: usize| tool_call_reply(&[("a", "asks", &format!(r#"{{"n":{n}}}"#))]);
    let limits = TurnLimits { requests: Some(3), ..TurnLimits::default() };
    let (agent, model) =
        agent((0..20).map(another).collect(), asking("asks"), RunSettings { limits, ..RunSettings::default() });
    let (outcome, _) = to_the_end(&agent, &mut Notes::default()).await;
    assert!(matches!(outcome.ending, Ending::Limit(Limit::Requests)), "{:?}", outcome.ending);
    assert_eq!(model.requests().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_stop_tool_ends_the_turn_also_after_its_approval() {
    for tool in [asking("submit"), on_page("submit")] {
        let settings = RunSettings { stop_on_tool_call: vec!["submit".to_owned()], ..RunSettings::default() };
        let (agent, model) = agent(vec![tool_call_reply(&[("a", "submit", "{}")]), text_reply("more")], tool, settings);
        let (outcome, runs) = to_the_end(&agent, &mut Notes::default()).await;
        assert!(matches!(outcome.ending, Ending::Limit(Limit::StopOnToolCall)), "{:?}", outcome.ending);
        assert_eq!((model.requests().len(), runs), (1, 2));
    }
}

#[tokio::test(start_paused = true)]
async fn the_model_answers_a_denied_stop_tool() {
    let settings = RunSettings { stop_on_tool_call: vec!["submit".to_owned()], ..RunSettings::default() };
    let (agent, model) =
        agent(vec![tool_call_reply(&[("a", "submit", "{}")]), text_reply("As you like.")], asking("submit"), settings);
    let mut notes = Notes::default();
    let asked = agent::run(&agent, turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default()), &mut notes).await;
    let mut pending: Vec<_> = asked.waiting.into_iter().map(|waiting| approved(waiting.call)).collect();
    pending[0].decision = Decision::Denied(None);
    let outcome = agent::run(&agent, turn(asked.messages, pending, 1, asked.turn_usage), &mut notes).await;
    assert!(matches!(outcome.ending, Ending::Done), "{:?}", outcome.ending);
    assert_eq!(model.requests().len(), 2);
}

/// A call of a stop tool ends the turn only if it has run; what happens to other calls of the reply
/// does not matter.
#[tokio::test(start_paused = true)]
async fn only_a_stop_tool_that_has_run_ends_the_turn() {
    let settings = RunSettings { stop_on_tool_call: vec!["submit".to_owned()], ..RunSettings::default() };
    let strict = |name: &str| {
        tool(name, |spec| {
            let schema = json!({ "type": "object", "required": ["reason"] });
            ToolSpec { input_schema: schema, needs_approval: true, ..spec }
        })
    };
    let check = async |tools: [Arc<dyn Tool>; 2], now: [Arc<dyn Tool>; 2], denied: &[&str], expected: (&str, usize)| {
        let reply = tool_call_reply(&[("a", "submit", "{}"), ("b", "other", "{}")]);
        let model = Arc::new(ScriptedModel::new(vec![reply, text_reply("As you like.")]));
        let before = Agent { tools: tools.into(), settings: settings.clone(), ..Agent::new("a", model.clone()) };
        let mut notes = Notes::default();
        let asked = agent::run(&before, turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default()), &mut notes).await;
        let decide = |call: ToolCall| {
            if denied.contains(&call.name.as_str()) {
                PendingCall { decision: Decision::Denied(None), ..approved(call) }
            } else {
                approved(call)
            }
        };
        let pending = asked.waiting.into_iter().map(|waiting| decide(waiting.call)).collect();
        let stored = serde_json::to_string(&asked.turn_usage).unwrap();
        let usage = serde_json::from_str(&stored).unwrap();
        let after = Agent { tools: now.into(), ..before };
        let outcome = agent::run(&after, turn(asked.messages, pending, 1, usage), &mut notes).await;
        assert_eq!((format!("{:?}", outcome.ending).as_str(), model.requests().len()), expected, "{denied:?}");
    };
    let plain = |name: &str| tool(name, |spec| spec);
    let (ended, answered) = (("Limit(StopOnToolCall)", 1), ("Done", 2));
    let both = || [asking("submit"), asking("other")];
    check(both(), both(), &[], ended).await;
    check(both(), both(), &["submit"], answered).await;
    check(both(), both(), &["other"], ended).await;
    check(both(), both(), &["submit", "other"], answered).await;
    // The stop tool has run before the other call was asked about.
    let runs_at_once = || [plain("submit"), asking("other")];
    check(runs_at_once(), runs_at_once(), &["other"], ended).await;
    // The approved call does not fit the tool as it is now.
    check(both(), [strict("submit"), asking("other")], &[], answered).await;
    check(both(), [plain("new"), asking("other")], &[], answered).await;
    check(both(), [asking("submit"), strict("other")], &[], ended).await;
}

/// Everything is pruned except the turn itself: the calls that were approved or answered, and the
/// reasoning before them.
#[tokio::test(start_paused = true)]
async fn results_of_the_turn_are_not_pruned() {
    let call = |id: &str| ToolCall {
        id: id.to_owned(),
        name: "asks".to_owned(),
        input: json!({}),
        provider_executed: false,
        metadata: None,
    };
    let thought = || AssistantPart::Reasoning { text: "hm".to_owned(), metadata: None };
    let says = |id: &str| Arc::new(Message::Assistant(vec![thought(), AssistantPart::ToolCall(call(id))]));
    let result = |id: &str| {
        let output = ToolOutput::Text("old".to_owned());
        let result = ToolResult { call_id: id.to_owned(), name: "asks".to_owned(), output, metadata: None };
        Arc::new(Message::Tool(vec![result]))
    };
    let check = async |pending: Vec<PendingCall>, mut own: Vec<Arc<Message>>| {
        let tool_calls = vec![PruneToolCalls { which: PrunedCalls::BeforeLast(0), tools: None }];
        let prune = Prune { reasoning: PruneReasoning::All, tool_calls, empty_messages: EmptyMessages::Remove };
        let settings = RunSettings { prune, ..RunSettings::default() };
        let (agent, model) = agent(vec![text_reply("ok")], asking("asks"), settings);
        let mut messages = vec![user("before"), says("old"), result("old"), user("now")];
        messages.append(&mut own);
        agent::run(&agent, turn(messages, pending, 4, TurnUsage::default()), &mut Notes::default()).await;
        let requests = model.requests();
        let seen = requests[0].messages.iter().map(|message| match &**message {
            Message::Assistant(parts) => format!("assistant with {}", parts.len()),
            Message::Tool(results) => format!("result of {}", results[0].call_id),
            Message::User(_) | Message::System(_) => "user".to_owned(),
        });
        assert_eq!(seen.collect::<Vec<_>>(), ["user", "user", "assistant with 2", "result of new"]);
    };
    check(vec![approved(call("new"))], vec![says("new")]).await;
    check(Vec::new(), vec![says("new"), result("new")]).await;
}

#[tokio::test(start_paused = true)]
async fn an_invalid_call_ends_the_turn_without_repair() {
    let both = || tool_call_reply(&[("a", "nothing", "{}"), ("b", "browser", "{}")]);
    for (repair_tool_call, requests) in [(true, 1), (false, 1)] {
        let settings = RunSettings { repair_tool_call, ..RunSettings::default() };
        let (agent, model) = agent(vec![both(), text_reply("sorry")], on_page("browser"), settings);
        let mut notes = Notes::default();
        let outcome = agent::run(&agent, turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default()), &mut notes).await;
        assert_eq!(model.requests().len(), requests);
        if repair_tool_call {
            assert!(matches!(outcome.ending, Ending::Waiting), "{:?}", outcome.ending)
        } else {
            assert!(matches!(&outcome.ending, Ending::InvalidCall { tool } if tool == "nothing"));
            assert_eq!(notes.failures.len(), 2, "{:?}", notes.failures);
        }
    }
}

fn price() -> Price {
    Price { input: 1.0, output: 1.0, cache_read: None, cache_write: None }
}

#[tokio::test(start_paused = true)]
async fn a_cost_limit_refuses_models_without_a_price() {
    let check = async |limit: Option<f64>, priced: &[&str], asked: usize, expected: &str| {
        let limits = TurnLimits { cost_usd: limit, ..TurnLimits::default() };
        let prices = priced.iter().map(|name| ((*name).to_owned(), price())).collect();
        let settings = RunSettings { limits, prices, ..RunSettings::default() };
        let (agent, model) = agent(vec![text_reply("ok")], on_page("browser"), settings);
        let first = turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default());
        let outcome = agent::run(&agent, first, &mut Notes::default()).await;
        assert_eq!((format!("{:?}", outcome.ending).as_str(), model.requests().len()), (expected, asked));
    };
    check(None, &[], 1, "Done").await;
    check(Some(1.0), &["test"], 1, "Done").await;
    check(Some(1.0), &["another"], 0, r#"UnknownPrice { model: "test" }"#).await;
}

/// A tool that asks a model of this name until it is refused.
fn modelling(name: &'static str, is_priced: bool) -> Arc<dyn Tool> {
    let ask = move |_: Value, context: ToolContext| async move {
        let model = ModelId { provider: "p".to_owned(), model: name.to_owned() };
        for number in 1..=3 {
            context.models.admit(&model, is_priced).await.map_err(ToolError::new)?;
            let usage = Usage { input_tokens: 100, ..Usage::default() };
            let (first_part, whole) = (Duration::ZERO, Duration::ZERO);
            let (finish_reason, cost_usd) = (FinishReason::Stop, is_priced.then_some(0.5));
            let model = model.clone();
            let replied =
                ReplyUsage { step: number, model, finish_reason, usage, cost_usd, saved_usd: None, first_part, whole };
            context.models.record_reply(replied).await;
        }
        Ok(json!("written"))
    };
    Arc::new(RecordingTool::new(ToolSpec::new("writes", "", json!({ "type": "object" })), ask))
}

#[tokio::test(start_paused = true)]
async fn model_requests_of_tools_count_for_the_limits() {
    let check = async |limits: TurnLimits, is_priced: bool| {
        let settings = RunSettings { limits, prices: [("test".to_owned(), price())].into(), ..RunSettings::default() };
        let (agent, _) = agent(
            vec![tool_call_reply(&[("a", "writes", "{}")]), text_reply("ok")],
            modelling("m", is_priced),
            settings,
        );
        let mut notes = Notes::default();
        let first = turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default());
        let outcome = agent::run(&agent, first, &mut notes).await;
        let ending = format!("{:?}", outcome.ending);
        (ending, outcome.usage.input_tokens, notes.nested.len(), notes.failures.join("; "))
    };
    let (ending, input, nested, failures) = check(TurnLimits::default(), false).await;
    // A scripted reply takes 10 input tokens.
    assert_eq!((ending.as_str(), input, nested, failures.as_str()), ("Done", 320, 3, ""));
    let (ending, _, nested, failures) = check(TurnLimits { requests: Some(2), ..TurnLimits::default() }, false).await;
    let reached = "the turn has reached its limit of requests";
    assert_eq!((ending.as_str(), nested, failures.as_str()), ("Limit(Requests)", 1, reached));
    let (ending, _, nested, _) = check(TurnLimits { cost_usd: Some(0.9), ..TurnLimits::default() }, true).await;
    assert_eq!((ending.as_str(), nested), ("Limit(Cost)", 2));
    let (ending, _, nested, failures) = check(TurnLimits { cost_usd: Some(0.9), ..TurnLimits::default() }, false).await;
    let unknown = "the price of the model m is not known, so the cost limit cannot be kept";
    assert_eq!((ending.as_str(), nested, failures.as_str()), ("Done", 0, unknown));
}

#[tokio::test(start_paused = true)]
async fn usage_of_a_tools_requests_names_its_call_and_its_agent() {
    let (agent, _) = agent(
        vec![tool_call_reply(&[("a", "writes", "{}")]), text_reply("ok")],
        modelling("m", true),
        RunSettings::default(),
    );
    let mut notes = Notes::default();
    agent::run(&agent, turn(vec![user("hi")], Vec::new(), 1, TurnUsage::default()), &mut notes).await;
    assert_eq!(notes.nested[0], ("a".to_owned(), "a".to_owned(), 100));
}
