//! Complete turns with a scripted model: the events, their order, and the ending.

mod approvals;
mod limits;
mod requests;
mod tool_calls;

use crate::support;
use agent::{
    Agent, Decision, Event, EventSink, PendingCall, Policy, PolicyQuery, Prune, PruneToolCalls, PrunedCalls, Ruling,
    RunSettings, SinkClosed, StepRule, Timeouts, TurnInput, TurnLimits,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, finish_cue, model_error, text_reply, tool_call_reply};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ModelErrorKind, Part, Price, RunScope, Sampling, Source,
    SourceTools, Tool, ToolCall, ToolChoice, ToolContext, ToolError, ToolOutput, ToolResult, ToolSource, ToolSpec,
    Usage, UserPart,
};
use futures::future::BoxFuture;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// Writes one line per event, and stops the run at a given line.
#[derive(Default)]
struct Notes {
    text: String,
    stop_at: Option<(&'static str, CancellationToken)>,
}

impl EventSink for Notes {
    async fn emit(&mut self, event: Event) -> Result<(), SinkClosed> {
        // The tests of usage are in `sub_agents`, those of the context in `context`.
        if matches!(event, Event::ReplyComplete(_) | Event::ContextSize(_)) {
            return Ok(());
        }
        let line = note(&event);
        if let Some((at, stop)) = &self.stop_at
            && line.starts_with(at)
        {
            stop.cancel();
        }
        let _ = writeln!(self.text, "{line}");
        Ok(())
    }
}

fn note(event: &Event) -> String {
    match event {
        Event::StepStart { number } => format!("step {number}"),
        Event::Part(Part::TextDelta { delta, .. }) => format!("  text {delta:?}"),
        Event::Part(Part::ToolInputDelta { id, delta }) => format!("  input {id} {delta}"),
        Event::Part(part) => format!("  {}", serde_json::to_value(part).unwrap()["type"].as_str().unwrap()),
        Event::ToolCall { call, .. } => format!("  call {} {} {}", call.id, call.name, call.input),
        Event::ToolCallInvalid { id, input, error, dynamic, .. } => {
            format!("  invalid {id} {input} dynamic={dynamic} {error}")
        }
        Event::PromptNote { text } => format!("  note {text:?}"),
        Event::PageContext { text } => format!("  page {text:?}"),
        Event::ApprovalRequest { call_id, terms, .. } => {
            format!("  ask {call_id}{}", if terms.may_remember { "" } else { " this once" })
        }
        Event::Data { name, data, .. } => format!("  data {name} {data}"),
        Event::ToolStarted { call_id, .. } => format!("  started {call_id}"),
        Event::ToolFinished { call_id, result: Ok(value), .. } => format!("  finished {call_id} {value}"),
        Event::ToolFinished { call_id, result: Err(error), .. } => format!("  failed {call_id} {error}"),
        Event::ToolDenied { call_id, reason } => format!("  denied {call_id} {reason:?}"),
        Event::StepFinish { number, finish_reason, .. } => format!("step {number} ends: {finish_reason:?}"),
        Event::Fallback { to, .. } => format!("falls back to {}", to.model),
        Event::Retry { attempt, .. } => format!("retry {attempt}"),
        Event::ToolProgress { call_id, output } => format!("  progress {call_id} {output}"),
        Event::ToolSuspended { call_id, .. } => format!("  suspended {call_id}"),
        Event::CallDecided { call, .. } => format!("  decided {}", call.id),
        Event::PageCallReady { call_id, .. } => format!("  for the page {call_id}"),
        Event::CallHandedOver { call } => format!("  handed over {} {}", call.id, call.input),
        Event::CallGranted { call_id, grant, .. } => format!("  granted {call_id} by {}", grant.id),
        Event::CallRuled { call_id, ruling } => format!("  ruled {call_id} {ruling:?}"),
        Event::Nested { call_id, event, .. } => format!("  of {call_id}: {}", note(event).trim()),
        Event::SourceUnavailable { name, error } => format!("without {name}: {error}"),
        Event::ReplyComplete(_) => "  took".to_owned(),
        Event::Exposed { exposure } => format!("  exposed {exposure:?}"),
        other => format!("{other:?}"),
    }
}

fn tools() -> Vec<Arc<dyn Tool>> {
    let number = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let spec = |name: &str| ToolSpec::new(name, "", number.clone());
    let slow = |input: Value, _| async move {
        // The larger the number, the sooner the call finishes.
        tokio::time::sleep(Duration::from_millis(100 - input["n"].as_u64().unwrap())).await;
        Ok(json!({ "n": input["n"] }))
    };
    let fails = |_, _| async { Err(ToolError::new("out of paper")) };
    let reports = |_, context: ToolContext| async move {
        for part in 1..=3 {
            context.reports.progress(json!({ "part": part }));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        Ok(json!("whole"))
    };
    let panics = |_, _| async { panic!("a bug") };
    let hangs = |_, _| async { std::future::pending().await };
    vec![
        Arc::new(RecordingTool::new(spec("slow"), slow)),
        Arc::new(RecordingTool::new(spec("fails"), fails)),
        Arc::new(RecordingTool::new(spec("reports"), reports)),
        Arc::new(RecordingTool::new(spec("panics"), panics)),
        Arc::new(RecordingTool::new(ToolSpec { timeout: Duration::from_secs(5), ..spec("hangs") }, hangs)),
        Arc::new(RecordingTool::new(ToolSpec { needs_approval: true, ..spec("asks") }, slow)),
        Arc::new(RecordingTool::new(ToolSpec { execution: Execution::Client, ..spec("browser") }, slow)),
    ]
}

struct Case {
    replies: Vec<Vec<Cue>>,
    fallback: Option<Vec<Vec<Cue>>>,
    sources: Vec<Arc<dyn ToolSource>>,
    policy: Option<Arc<dyn Policy>>,
    /// Tools in addition to those of every case.
    more: Vec<Arc<dyn Tool>>,
    settings: RunSettings,
    messages: Vec<Message>,
    pending: Vec<PendingCall>,
    stop_at: Option<&'static str>,
}

impl Case {
    fn of(replies: Vec<Vec<Cue>>) -> Self {
        let messages = vec![Message::User(vec![UserPart::Text { text: "hi".to_owned() }])];
        let (settings, sources) = (RunSettings::default(), Vec::new());
        Self {
            replies,
            fallback: None,
            sources,
            policy: None,
            more: Vec::new(),
            settings,
            messages,
            pending: Vec::new(),
            stop_at: None,
        }
    }

    async fn run(self) -> (String, Vec<contract::Request>) {
        let model = Arc::new(ScriptedModel::new(self.replies));
        let agent = Agent {
            fallbacks: self.fallback.map(|replies| Arc::new(ScriptedModel::new(replies)) as _).into_iter().collect(),
            policy: self.policy,
            sources: self.sources,
            tools: tools().into_iter().chain(self.more).collect(),
            settings: self.settings,
            ..Agent::new("a", model.clone())
        };
        let cancel = CancellationToken::new();
        let mut notes = Notes { stop_at: self.stop_at.map(|at| (at, cancel.clone())), ..Notes::default() };
        let turn = TurnInput {
            turn_start: self.messages.len(),
            pending: self.pending,
            scope: RunScope {
                user_id: "u".to_owned(),
                conversation_id: "c".to_owned(),
                page_id: Some("p".to_owned()),
                ..RunScope::default()
            },
            cancel,
            ..support::turn(self.messages.into_iter().map(Arc::new).collect())
        };
        let outcome = agent::run(&agent, turn, &mut notes).await;
        let _ = write!(notes.text, "{:?}", outcome.ending);
        (notes.text, model.requests())
    }
}

async fn check(case: Case) -> String {
    case.run().await.0
}

#[tokio::test(start_paused = true)]
async fn a_text_reply_ends_the_turn() {
    assert_snapshot!(check(Case::of(vec![text_reply("Hello there")])).await, @r#"
    step 1
      text-start
      text "Hello "
      text "there"
      text-end
    step 1 ends: Stop
    Done
    "#);
}

/// A source of tools, or the reason why it has none.
struct Elsewhere(&'static str, Result<Vec<&'static str>, &'static str>);

impl ToolSource for Elsewhere {
    fn name(&self) -> &str {
        self.0
    }

    fn tools<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let tool = |name: &&str| {
            let said = json!(format!("{} for {}", self.0, scope.user_id));
            let spec = ToolSpec::new(*name, "", json!({ "type": "object" }));
            Arc::new(RecordingTool::new(spec, move |_, _| std::future::ready(Ok(said.clone())))) as Arc<dyn Tool>
        };
        let context = Some(format!("About {}.", self.0));
        let sourced = self.1.as_ref().map(|names| SourceTools {
            tools: names.iter().map(tool).collect(),
            context,
            ..SourceTools::default()
        });
        Box::pin(std::future::ready(sourced.map_err(|&error| ToolError::new(error))))
    }
}

/// A source whose tool `install` adds the tool `installed`, a source and a data part.
#[derive(Clone, Default)]
struct Installer {
    is_installed: Arc<AtomicBool>,
}

impl ToolSource for Installer {
    fn name(&self) -> &str {
        "installer"
    }

    fn tools<'a>(&'a self, _: &'a RunScope) -> BoxFuture<'a, Result<SourceTools, ToolError>> {
        let is_installed = self.is_installed.clone();
        let install = move |_, context: ToolContext| {
            is_installed.store(true, Ordering::Relaxed);
            async move {
                let (id, url) = ("s".to_owned(), "https://example.com".to_owned());
                context.reports.add_source(Source::Url { id, url, title: None, metadata: None }).await;
                context.reports.add_data("install", None, json!({ "tool": "installed" })).await;
                context.reports.tools_changed().await;
                Ok(json!(context.scope.page_id))
            }
        };
        let spec = |name: &str| ToolSpec::new(name, "", json!({ "type": "object" }));
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(RecordingTool::new(spec("install"), install))];
        if self.is_installed.load(Ordering::Relaxed) {
            let installed = |_, _| std::future::ready(Ok(json!("it works")));
            tools.push(Arc::new(RecordingTool::new(spec("installed"), installed)));
        }
        Box::pin(std::future::ready(Ok(SourceTools { tools, ..SourceTools::default() })))
    }
}

/// Denies `slow`, asks about `fails`, and allows everything else.
struct House;

impl Policy for House {
    fn decide<'a>(&'a self, asked: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(match asked.call.name.as_str() {
            "slow" if asked.call.input["n"] != 9 => Ruling::Deny(format!("not for {}.", asked.user_id)),
            "fails" => Ruling::Ask,
            _ => Ruling::Allow,
        }))
    }
}

/// Asks about everything.
struct Timid;

impl Policy for Timid {
    fn decide<'a>(&'a self, _: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(Ruling::Ask))
    }
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_run_and_keeps_the_reply_so_far() {
    let mut case = Case::of(vec![vec![
        Cue::Part(Part::TextStart { id: "t".to_owned() }),
        Cue::Part(Part::TextDelta { id: "t".to_owned(), delta: "begun".to_owned() }),
        Cue::Silence,
    ]]);
    case.stop_at = Some("  text \"begun\"");
    assert_eq!(check(case).await, "step 1\n  text-start\n  text \"begun\"\nStopped");
    let mut case = Case::of(vec![tool_call_reply(&[("a", "hangs", r#"{"n":1}"#)])]);
    case.stop_at = Some("  started a");
    let notes = check(case).await;
    assert!(notes.contains("failed a Stopped before it finished.") && notes.ends_with("Stopped"), "{notes}");
}

/// Each call of an assistant message has exactly one result in the message after it.
fn is_valid(messages: &[Arc<Message>]) -> bool {
    messages.iter().enumerate().all(|(at, message)| {
        let Message::Assistant(parts) = &**message else { return true };
        let called: Vec<_> = parts
            .iter()
            .filter_map(|part| if let AssistantPart::ToolCall(call) = part { Some(&call.id) } else { None })
            .collect();
        let answered: Vec<_> = match messages.get(at + 1).map(|next| &**next) {
            Some(Message::Tool(results)) => results.iter().map(|result| &result.call_id).collect(),
            _ => Vec::new(),
        };
        called == answered
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_history_that_is_sent_is_valid(script in prop::collection::vec(prop::collection::vec((0..3_usize, 0..5_usize, prop::bool::ANY), 0..4), 1..5)) {
        let names = ["slow", "fails", "panics", "nowhere", "slow"];
        let replies = script.iter().map(|reply| {
            let made: Vec<_> = reply.iter().map(|(id, name, good)| (format!("c{id}"), names[*name], if *good { r#"{"n":1}"# } else { "{" })).collect();
            tool_call_reply(&made.iter().map(|(id, name, input)| (id.as_str(), *name, *input)).collect::<Vec<_>>())
        });
        let case = Case::of(replies.collect());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (_, requests) = runtime.block_on(case.run());
        for request in requests {
            prop_assert!(is_valid(&request.messages), "{:?}", request.messages);
        }
    }
}
