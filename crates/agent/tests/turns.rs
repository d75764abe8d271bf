//! Complete turns with a scripted model: the events, their order, and the ending.

use agent::{
    Agent, Decision, Event, EventSink, ExposureState, PendingCall, Policy, PolicyQuery, Prune, PruneToolCalls, Ruling,
    RunSettings, SinkClosed, StepRule, StepSelector, Timeouts, TurnInput, TurnLimits, TurnUsage,
};
use contract::testing::{Cue, RecordingTool, ScriptedModel, finish_cue, model_error, text_reply, tool_call_reply};
use contract::{
    AssistantPart, Execution, FinishReason, Message, ModelErrorKind, Part, Price, RunScope, Sampling, Source,
    SourceTools, Tool, ToolCall, ToolChoice, ToolContext, ToolError, ToolOutput, ToolResult, ToolSource, ToolSpec,
    UserPart,
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
        // The test of usage is in `sub_agents`.
        if matches!(event, Event::ReplyComplete(_)) {
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
            id: "a".to_owned(),
            model: model.clone(),
            fallbacks: self.fallback.map(|replies| Arc::new(ScriptedModel::new(replies)) as _).into_iter().collect(),
            agents: Vec::new(),
            policy: self.policy,
            sources: self.sources,
            instructions: None,
            tools: tools().into_iter().chain(self.more).collect(),
            settings: self.settings,
        };
        let cancel = CancellationToken::new();
        let mut notes = Notes { stop_at: self.stop_at.map(|at| (at, cancel.clone())), ..Notes::default() };
        let turn = TurnInput {
            earlier: TurnUsage::default(),
            turn_start: self.messages.len(),
            messages: self.messages.into_iter().map(Arc::new).collect(),
            pending: self.pending,
            scope: RunScope {
                user_id: "u".to_owned(),
                conversation_id: "c".to_owned(),
                page_id: Some("p".to_owned()),
                ..RunScope::default()
            },
            grants: None,
            exposure: ExposureState::default(),
            cancel,
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

#[tokio::test(start_paused = true)]
async fn tools_of_sources_are_added_to_a_turn() {
    let mut case =
        Case::of(vec![tool_call_reply(&[("a", "far", "{}"), ("b", "slow", r#"{"n":1}"#)]), text_reply("ok")]);
    case.sources = vec![
        Arc::new(Elsewhere("one", Ok(vec!["far", "slow"]))),
        Arc::new(Elsewhere("down", Err("it is down"))),
        Arc::new(Elsewhere("two", Ok(vec!["far", "more"]))),
    ];
    let (notes, requests) = case.run().await;
    // The agent's own tool and that of the first source keep their names.
    let names: Vec<_> = requests[0].tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names[names.len() - 2..], ["far", "more"]);
    assert_eq!(names.iter().filter(|name| **name == "slow").count(), 1);
    assert_eq!(requests[0].system.as_deref(), Some("About one.\n\nAbout two."));
    assert_snapshot!(notes, @r#"
    without down: it is down
    step 1
      tool-input-start
      input a {}
      call a far {}
      tool-input-start
      input b {"n":1}
      call b slow {"n":1}
      started a
      started b
      finished a "one for u"
      finished b {"n":1}
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
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

#[tokio::test(start_paused = true)]
async fn a_tool_can_add_to_the_message_and_change_the_tools_of_the_next_step() {
    let replies = vec![
        tool_call_reply(&[("a", "install", "{}")]),
        tool_call_reply(&[("b", "installed", "{}")]),
        text_reply("ok"),
    ];
    let mut case = Case::of(replies);
    case.sources = vec![Arc::new(Installer::default())];
    let (notes, requests) = case.run().await;
    let offers = |request: &contract::Request| request.tools.iter().any(|tool| tool.name == "installed");
    assert_eq!(requests.iter().map(offers).collect::<Vec<_>>(), [false, true, true]);
    assert_snapshot!(notes, @r#"
    step 1
      tool-input-start
      input a {}
      call a install {}
      started a
      source
      data install {"tool":"installed"}
      finished a "p"
    step 1 ends: ToolCalls
    step 2
      tool-input-start
      input b {}
      call b installed {}
      started b
      finished b "it works"
    step 2 ends: ToolCalls
    step 3
      text-start
      text "ok"
      text-end
    step 3 ends: Stop
    Done
    "#);
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

#[tokio::test(start_paused = true)]
async fn a_policy_decides_before_tools_run() {
    let number = r#"{"n":1}"#;
    let mut case =
        Case::of(vec![tool_call_reply(&[("a", "slow", number), ("b", "fails", number), ("c", "slow", r#"{"n":9}"#)])]);
    case.policy = Some(Arc::new(House));
    assert_snapshot!(check(case).await, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a slow {"n":1}
      tool-input-start
      input b {"n":1}
      call b fails {"n":1}
      tool-input-start
      input c {"n":9}
      call c slow {"n":9}
      ruled a Deny("not for u.")
      failed a Not allowed: not for u.
      ruled b Ask
      ask b this once
      started c
      finished c {"n":9}
    step 1 ends: ToolCalls
    Waiting
    "#);

    // An approved call is not asked about again, but may still be denied: its arguments may have
    // changed.
    let call = |id: &str, name: &str| {
        let (id, name, input) = (id.to_owned(), name.to_owned(), json!({ "n": 1 }));
        ToolCall { id, name, input, provider_executed: false, metadata: None }
    };
    let approved = |call: ToolCall| PendingCall {
        call,
        decision: Decision::Approved,
        state: None,
        tool_fingerprint: None,
        grant: None,
        cut_off: false,
    };
    let mut case = Case::of(vec![text_reply("ok")]);
    case.policy = Some(Arc::new(House));
    let made = [call("a", "fails"), call("b", "slow")].map(AssistantPart::ToolCall).to_vec();
    case.messages.push(Message::Assistant(made));
    case.pending = vec![approved(call("a", "fails")), approved(call("b", "slow"))];
    assert_snapshot!(check(case).await, @r#"
      decided a
      decided b
      ruled b Deny("not for u.")
      failed b Not allowed: not for u.
      started a
      failed a out of paper
    step 1
      text-start
      text "ok"
      text-end
    step 1 ends: Stop
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_approval_is_valid_for_the_unchanged_tool_only() {
    let pending = |asked: &str| {
        let (id, name, input) = ("a".to_owned(), "asks".to_owned(), json!({ "n": 1 }));
        let call = ToolCall { id, name, input, provider_executed: false, metadata: None };
        PendingCall {
            call,
            decision: Decision::Approved,
            state: None,
            tool_fingerprint: Some(asked.to_owned()),
            grant: None,
            cut_off: false,
        }
    };
    let check = async |asked: &str| {
        let mut case = Case::of(vec![text_reply("ok")]);
        let pending = pending(asked);
        case.messages.push(Message::Assistant(vec![AssistantPart::ToolCall(pending.call.clone())]));
        case.pending = vec![pending];
        check(case).await
    };
    assert_snapshot!(check("another one").await, @"
      decided a
      ask a
    Waiting
    ");
    let same = tools().iter().find(|tool| tool.spec().name == "asks").unwrap().spec().fingerprint();
    assert!(check(&same).await.ends_with("Done"));
}

/// Asks about everything.
struct Timid;

impl Policy for Timid {
    fn decide<'a>(&'a self, _: PolicyQuery<'a>) -> BoxFuture<'a, Ruling> {
        Box::pin(std::future::ready(Ruling::Ask))
    }
}

#[tokio::test(start_paused = true)]
async fn client_tools_need_no_approval() {
    let mut case = Case::of(vec![tool_call_reply(&[("a", "browser", r#"{"n":1}"#)])]);
    case.policy = Some(Arc::new(Timid));
    let notes = check(case).await;
    assert!(notes.contains("ruled a Ask") && !notes.contains("ask a") && notes.ends_with("Waiting"), "{notes}");
}

/// Unlike a tool that the user controls, code of a page's developer may do anything.
#[tokio::test(start_paused = true)]
async fn page_tools_are_approved_and_then_handed_over() {
    let tool = || {
        let spec = ToolSpec::new("page", "", json!({ "type": "object" }));
        let never = |_, _| async { panic!("the browser runs it") };
        RecordingTool::new(ToolSpec { execution: Execution::Page, ..spec }, never)
    };
    let check = async |policy: Option<Arc<dyn Policy>>, decision: Option<Decision>, expected: &[&str]| {
        let mut case = Case::of(vec![tool_call_reply(&[("a", "page", r#"{"n":1}"#)]), text_reply("ok")]);
        if let Some(decision) = decision {
            let (id, name, input) = ("a".to_owned(), "page".to_owned(), json!({ "n": 1 }));
            let call = ToolCall { id, name, input, provider_executed: false, metadata: None };
            case.messages.push(Message::Assistant(vec![AssistantPart::ToolCall(call.clone())]));
            case.pending.push(PendingCall {
                call,
                decision,
                state: None,
                tool_fingerprint: None,
                grant: None,
                cut_off: false,
            });
        }
        case.policy = policy;
        case.more.push(Arc::new(tool()));
        let notes = check(case).await;
        for line in expected {
            assert!(notes.contains(line), "{line} is not in {notes}");
        }
    };
    let yes = || Some(Decision::Approved);
    check(None, None, &["call a", "Waiting"]).await;
    check(Some(Arc::new(Timid)), None, &["ruled a Ask", "ask a", "Waiting"]).await;
    check(None, yes(), &["decided a", r#"handed over a {"n":1}"#, "Waiting"]).await;
    check(Some(Arc::new(Timid)), yes(), &[r#"handed over a {"n":1}"#, "Waiting"]).await;
    check(None, Some(Decision::Denied(None)), &["denied a None", "step 1"]).await;
}

#[tokio::test(start_paused = true)]
async fn a_timed_out_tool_can_pass_the_cancellation_on() {
    let told = Arc::new(AtomicBool::new(false));
    let tells = told.clone();
    let spec = ToolSpec { timeout: Duration::from_secs(1), ..ToolSpec::new("far", "", json!({ "type": "object" })) };
    let far = RecordingTool::new(spec, move |_, context: ToolContext| {
        let told = tells.clone();
        async move {
            context.cancel.cancelled().await;
            tokio::time::sleep(Duration::from_millis(100)).await;
            told.store(true, Ordering::SeqCst);
            Err(ToolError::new("given up"))
        }
    });
    let mut case = Case::of(vec![tool_call_reply(&[("a", "far", "{}")]), text_reply("ok")]);
    case.more.push(Arc::new(far));
    let notes = check(case).await;
    assert!(notes.contains("failed a The tool did not finish within 1 s and was stopped."), "{notes}");
    assert!(told.load(Ordering::SeqCst));
}

#[tokio::test(start_paused = true)]
async fn a_tool_reports_its_progress() {
    assert_snapshot!(check(Case::of(vec![tool_call_reply(&[("a", "reports", r#"{"n":1}"#)]), text_reply("ok")])).await, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a reports {"n":1}
      started a
      progress a {"part":1}
      progress a {"part":2}
      progress a {"part":3}
      finished a "whole"
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn parallel_tools_finish_out_of_order_and_are_sent_in_order() {
    let case =
        Case::of(vec![tool_call_reply(&[("a", "slow", r#"{"n":1}"#), ("b", "slow", r#"{"n":9}"#)]), text_reply("ok")]);
    let (notes, requests) = case.run().await;
    assert_snapshot!(notes, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a slow {"n":1}
      tool-input-start
      input b {"n":9}
      call b slow {"n":9}
      started a
      started b
      finished b {"n":9}
      finished a {"n":1}
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
    assert_snapshot!(serde_json::to_string(&requests[1].messages[2..].iter().map(|m| &**m).collect::<Vec<_>>()).unwrap(), @r#"[{"role":"tool","content":[{"callId":"a","name":"slow","output":{"type":"json","value":{"n":1}}},{"callId":"b","name":"slow","output":{"type":"json","value":{"n":9}}}]}]"#);
}

#[tokio::test(start_paused = true)]
async fn the_model_reads_the_errors_of_failed_calls_and_continues() {
    let wrong = tool_call_reply(&[
        ("a", "nowhere", "{}"),
        ("b", "slow", "{n:"),
        ("c", "slow", r#"{"n":"one"}"#),
        ("d", "fails", r#"{"n":1}"#),
        ("e", "panics", r#"{"n":1}"#),
        ("f", "hangs", r#"{"n":1}"#),
        ("g", "slow", "[]"),
    ]);
    let notes = check(Case::of(vec![wrong, text_reply("ok")])).await;
    let told: Vec<_> = notes
        .lines()
        .filter(|line| line.contains("invalid") || line.contains("failed") || line.ends_with("Done"))
        .collect();
    assert_snapshot!(told.join("\n"), @r#"
      invalid a {} dynamic=true There is no tool `nowhere`. Available: asks, browser, fails, hangs, panics, reports, slow.
      invalid b "{n:" dynamic=false The arguments are not valid JSON: key must be a string at line 1 column 2.
      invalid c {"n":"one"} dynamic=false The arguments do not fit: /n: "one" is not of type "integer"
      invalid g [] dynamic=false The arguments must be a JSON object.
      failed a There is no tool `nowhere`. Available: asks, browser, fails, hangs, panics, reports, slow.
      failed b The arguments are not valid JSON: key must be a string at line 1 column 2.
      failed c The arguments do not fit: /n: "one" is not of type "integer"
      failed g The arguments must be a JSON object.
      failed d out of paper
      failed e The tool failed unexpectedly.
      failed f The tool did not finish within 5 s and was stopped.
    Done
    "#);
}

#[tokio::test(start_paused = true)]
async fn an_approval_request_ends_the_run_after_the_other_tools() {
    let case = Case::of(vec![tool_call_reply(&[
        ("a", "asks", r#"{"n":1}"#),
        ("b", "slow", r#"{"n":2}"#),
        ("c", "browser", r#"{"n":3}"#),
    ])]);
    let notes = check(case).await;
    assert_snapshot!(notes.lines().skip(10).collect::<Vec<_>>().join("\n"), @r#"
      ask a
      started b
      finished b {"n":2}
    step 1 ends: ToolCalls
    Waiting
    "#);
}

fn decided(decision: Decision) -> Case {
    let call = |id: &str, name: &str| ToolCall {
        id: id.to_owned(),
        name: name.to_owned(),
        input: json!({ "n": 1 }),
        provider_executed: false,
        metadata: None,
    };
    let mut case = Case::of(vec![text_reply("ok")]);
    case.messages.push(Message::Assistant(vec![
        AssistantPart::ToolCall(call("a", "asks")),
        AssistantPart::ToolCall(call("b", "slow")),
    ]));
    let known = ToolResult {
        call_id: "b".to_owned(),
        name: "slow".to_owned(),
        output: ToolOutput::Text("done".to_owned()),
        metadata: None,
    };
    case.messages.push(Message::Tool(vec![known]));
    case.pending.push(PendingCall {
        call: call("a", "asks"),
        decision,
        state: None,
        tool_fingerprint: None,
        grant: None,
        cut_off: false,
    });
    case
}

#[tokio::test(start_paused = true)]
async fn decisions_take_effect_before_the_first_step() {
    let (notes, requests) = decided(Decision::Approved).run().await;
    assert_snapshot!(notes.lines().take(3).collect::<Vec<_>>().join("\n"), @r#"
    decided a
    started a
    finished a {"n":1}
    "#);
    assert_snapshot!(serde_json::to_string(&*requests[0].messages[2]).unwrap(), @r#"{"role":"tool","content":[{"callId":"a","name":"asks","output":{"type":"json","value":{"n":1}}},{"callId":"b","name":"slow","output":{"type":"text","value":"done"}}]}"#);
    let (notes, requests) = decided(Decision::Denied(Some("no way".to_owned()))).run().await;
    assert_snapshot!(notes.lines().take(2).collect::<Vec<_>>().join("\n"), @r#"
    decided a
    denied a Some("no way")
    "#);
    assert_snapshot!(serde_json::to_string(&*requests[0].messages[2]).unwrap(), @r#"{"role":"tool","content":[{"callId":"a","name":"asks","output":{"type":"denied","value":"no way"}},{"callId":"b","name":"slow","output":{"type":"text","value":"done"}}]}"#);
}

#[tokio::test(start_paused = true)]
async fn max_steps_stop_tools_and_the_timeout_end_a_turn() {
    let again = || tool_call_reply(&[("a", "slow", r#"{"n":1}"#)]);
    let ending = |notes: String| notes.lines().last().unwrap().to_owned();
    let mut case = Case::of(vec![again(), again(), again()]);
    case.settings.max_steps = 2;
    assert_eq!(ending(check(case).await), "Limit(MaxSteps)");
    let mut case = Case::of(vec![again(), again()]);
    case.settings.stop_on_tool_call = vec!["slow".to_owned()];
    assert_eq!(ending(check(case).await), "Limit(StopOnToolCall)");
    let mut case = Case::of(vec![vec![Cue::Part(Part::TextStart { id: "t".to_owned() }), Cue::Silence]]);
    case.settings.timeouts = Timeouts { total: Duration::from_secs(3), ..Timeouts::default() };
    assert_eq!(ending(check(case).await), "Limit(Time)");
}

/// A provider that pauses continues after it has read its reply so far, as often as the agent has
/// steps.
#[tokio::test(start_paused = true)]
async fn a_paused_reply_continues_without_the_user() {
    let pauses = || {
        let item = Part::ProviderItem { provider: "p".to_owned(), item: json!({ "search": 1 }) };
        let (reason, usage) = (FinishReason::Pause, contract::Usage::default());
        let finish = Part::Finish { reason, raw_reason: None, usage, metadata: None };
        vec![Cue::Part(item), Cue::Part(finish)]
    };
    let (notes, requests) = Case::of(vec![pauses(), pauses(), text_reply("found")]).run().await;
    assert!(notes.ends_with("Done"), "{notes}");
    assert_eq!(requests.iter().map(|request| request.messages.len()).collect::<Vec<_>>(), [1, 2, 3]);
    let mut case = Case::of(vec![pauses(), pauses()]);
    case.settings.max_steps = 2;
    assert!(check(case).await.ends_with("Limit(MaxSteps)"));
}

/// A call that the provider runs waits for the user like any other, and the user's decision is its
/// result.
#[tokio::test(start_paused = true)]
async fn a_call_of_the_provider_waits_for_approval() {
    let call = ToolCall {
        id: "r".to_owned(),
        name: "mcp.add".to_owned(),
        input: json!({ "a": 1 }),
        provider_executed: false,
        metadata: serde_json::from_value(json!({ "p": { "approvalRequestId": "r" } })).unwrap(),
    };
    let ToolCall { id, name, input, metadata, .. } = call.clone();
    let asks = Part::ToolCall { id, name, input: input.to_string(), provider_executed: false, metadata };
    let finish = tool_call_reply(&[]).pop().unwrap();
    assert!(check(Case::of(vec![vec![Cue::Part(asks), finish]])).await.ends_with("Waiting"));
    for (decision, expected) in [
        (Decision::Approved, ToolOutput::Text("The user approved this call.".to_owned())),
        (Decision::Denied(None), ToolOutput::Denied(None)),
    ] {
        let mut case = Case::of(vec![text_reply("ok")]);
        case.messages.push(Message::Assistant(vec![AssistantPart::ToolCall(call.clone())]));
        case.pending = vec![PendingCall {
            call: call.clone(),
            decision,
            state: None,
            tool_fingerprint: None,
            grant: None,
            cut_off: false,
        }];
        let (notes, requests) = case.run().await;
        assert!(notes.ends_with("Done"), "{notes}");
        let Message::Tool(results) = &*requests[0].messages[2] else { panic!("{requests:?}") };
        assert_eq!(results[0].output, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn limits_end_a_turn() {
    let n = |n: u32| tool_call_reply(&[("a", "slow", &format!(r#"{{"n":{n}}}"#))]);
    let three = || vec![n(1), n(2), n(3)];
    let with = |limits: TurnLimits| {
        let mut case = Case::of(three());
        case.settings.limits = limits;
        case
    };
    let check = async |limits: TurnLimits, requests: usize, expected: &str| {
        let (notes, asked) = with(limits.clone()).run().await;
        assert_eq!((notes.lines().last().unwrap(), asked.len()), (expected, requests), "{limits:?}");
    };
    // A scripted reply takes 10 input and 5 output tokens.
    check(TurnLimits { requests: Some(2), ..TurnLimits::default() }, 2, "Limit(Requests)").await;
    check(TurnLimits { total_tokens: Some(16), ..TurnLimits::default() }, 2, "Limit(TotalTokens)").await;
    check(TurnLimits { tool_calls: Some(1), ..TurnLimits::default() }, 2, "Limit(ToolCalls)").await;
    let mut case = with(TurnLimits { cost_usd: Some(0.000_3), ..TurnLimits::default() });
    let price = Price { input: 10.0, cache_read: 1.0, cache_write: 12.5, output: 20.0 };
    case.settings.prices.insert("test".to_owned(), price);
    assert!(case.run().await.0.ends_with("Limit(Cost)"));
    // One of two concurrent calls runs; the model reads in the next turn why the other did not.
    let mut case = Case::of(vec![tool_call_reply(&[("a", "slow", r#"{"n":1}"#), ("b", "slow", r#"{"n":2}"#)])]);
    case.settings.limits.tool_calls = Some(1);
    assert_snapshot!(self::check(case).await, @r#"
    step 1
      tool-input-start
      input a {"n":1}
      call a slow {"n":1}
      tool-input-start
      input b {"n":2}
      call b slow {"n":2}
      failed b Not run: the limit of 1 tool calls in one turn is reached.
      started a
      finished a {"n":1}
    step 1 ends: ToolCalls
    Limit(ToolCalls)
    "#);
}

#[tokio::test(start_paused = true)]
async fn a_loop_is_warned_about_and_ended() {
    let again = || tool_call_reply(&[("a", "slow", r#"{"n":9}"#)]);
    let (notes, asked) = Case::of((0..7).map(|_| again()).collect()).run().await;
    assert_eq!((notes.lines().last().unwrap(), asked.len()), ("Limit(Loop)", 5));
    let told = |request: &contract::Request| {
        let last = request.messages.last().map(|last| &**last);
        matches!(last, Some(Message::User(parts)) if format!("{parts:?}").contains("the same calls"))
    };
    assert_eq!(asked.iter().map(told).collect::<Vec<_>>(), [false, false, false, true, false]);
    assert!(notes.contains("failed a4 Not run") || notes.contains("Not run: the same calls"), "{notes}");
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_truncated_reply_do_not_run() {
    let mut cut = tool_call_reply(&[("a", "slow", r#"{"n":1}"#)]);
    cut.pop();
    cut.push(finish_cue(FinishReason::Length));
    let notes = check(Case::of(vec![cut])).await;
    assert!(!notes.contains("started") && notes.ends_with("step 1 ends: Length\nDone"), "{notes}");
}

#[tokio::test(start_paused = true)]
async fn failures_are_retried_before_the_first_part_only() {
    let fail = |kind| vec![Cue::Fail(model_error(kind))];
    let notes =
        check(Case::of(vec![fail(ModelErrorKind::Unavailable), fail(ModelErrorKind::RateLimited), text_reply("ok")]))
            .await;
    assert!(notes.starts_with("retry 1\nretry 2\nstep 1\n") && notes.ends_with("Done"), "{notes}");
    let notes = check(Case::of(vec![fail(ModelErrorKind::Unauthorized), text_reply("ok")])).await;
    assert!(notes.starts_with("Failed(ModelError { kind: Unauthorized"), "{notes}");
    let mut half = text_reply("half of it");
    half.truncate(2);
    half.push(Cue::Fail(model_error(ModelErrorKind::BrokenStream)));
    let notes = check(Case::of(vec![half, text_reply("ok")])).await;
    assert!(
        notes.contains("text \"half \"")
            && notes.lines().last().unwrap().starts_with("Failed(ModelError { kind: BrokenStream"),
        "{notes}"
    );
    let silent = vec![Cue::Part(Part::TextStart { id: "t".to_owned() }), Cue::Silence];
    let notes = check(Case::of(vec![silent])).await;
    assert!(notes.contains("kind: Timeout, cause: \"no data for 60s (chunk)\""), "{notes}");
    let notes = check(Case::of(vec![vec![Cue::Silence], vec![Cue::Silence], vec![Cue::Silence]])).await;
    assert!(notes.starts_with("retry 1\nretry 2\nFailed") && notes.contains("(first byte)"), "{notes}");
}

/// A model that reasons silently sends only keep-alives. It is waited for and not asked twice, and
/// keep-alives do not count as an answer.
#[tokio::test(start_paused = true)]
async fn keep_alives_reset_the_timeout() {
    let alive = || [Cue::Pause(Duration::from_secs(50)), Cue::Part(Part::Alive)];
    let thinks = |end: Vec<Cue>| alive().into_iter().chain(alive()).chain(alive()).chain(end).collect::<Vec<_>>();
    let (notes, requests) = Case::of(vec![thinks(text_reply("ok"))]).run().await;
    assert!(notes.starts_with("step 1\n  text-start\n") && notes.ends_with("Done"), "{notes}");
    assert_eq!(requests.len(), 1);
    let mut words = text_reply("one two");
    let rest = words.split_off(2);
    let slow = words.into_iter().chain(alive()).chain(alive()).chain(rest).collect();
    let (notes, requests) = Case::of(vec![slow]).run().await;
    assert!(notes.ends_with("Done") && !notes.to_lowercase().contains("alive"), "{notes}");
    assert_eq!(requests.len(), 1);
    // Nothing was emitted yet, so a failure after keep-alives is retried, and so is silence.
    let fails = thinks(vec![Cue::Fail(model_error(ModelErrorKind::BrokenStream))]);
    let notes = check(Case::of(vec![fails, thinks(vec![Cue::Silence]), text_reply("ok")])).await;
    assert!(notes.starts_with("retry 1\nretry 2\nstep 1\n") && notes.ends_with("Done"), "{notes}");
}

#[tokio::test(start_paused = true)]
async fn the_first_byte_timeout_is_configurable() {
    let late = || std::iter::once(Cue::Pause(Duration::from_secs(90))).chain(text_reply("ok")).collect::<Vec<_>>();
    let mut case = Case::of(vec![late()]);
    case.settings.timeouts = Timeouts { first_byte: Duration::from_secs(120), ..Timeouts::default() };
    assert!(check(case).await.ends_with("Done"));
    let mut case = Case::of(vec![late(), text_reply("ok")]);
    case.settings.timeouts = Timeouts { first_byte: Duration::from_secs(5), ..Timeouts::default() };
    assert!(check(case).await.starts_with("retry 1\nstep 1\n"));
}

#[tokio::test(start_paused = true)]
async fn no_think_is_added_to_the_instructions() {
    for (no_think, expected) in [(true, Some("/no_think".to_owned())), (false, None)] {
        let mut case = Case::of(vec![text_reply("ok")]);
        case.settings.no_think = no_think;
        let (_, requests) = case.run().await;
        assert_eq!(requests[0].system, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fallback_is_asked_when_a_model_fails_before_its_reply() {
    let falls_back = |replies, others| Case { fallback: Some(others), ..Case::of(replies) };
    let fails = |kind| vec![Cue::Fail(model_error(kind))];
    // The run stays with the model that answered.
    let case = falls_back(
        vec![fails(ModelErrorKind::Unauthorized)],
        vec![tool_call_reply(&[("a", "slow", r#"{"n":9}"#)]), text_reply("ok")],
    );
    assert_snapshot!(check(case).await, @r#"
    falls back to test
    step 1
      tool-input-start
      input a {"n":9}
      call a slow {"n":9}
      started a
      finished a {"n":9}
    step 1 ends: ToolCalls
    step 2
      text-start
      text "ok"
      text-end
    step 2 ends: Stop
    Done
    "#);
    // If all fail, the request is sent again, starting with the first model.
    let case = falls_back(
        vec![fails(ModelErrorKind::Unavailable), text_reply("back")],
        vec![fails(ModelErrorKind::RateLimited)],
    );
    assert_snapshot!(check(case).await, @r#"
    falls back to test
    retry 1
    step 1
      text-start
      text "back"
      text-end
    step 1 ends: Stop
    Done
    "#);
    // After its first part a reply is not retried.
    let broken =
        text_reply("half").into_iter().take(2).chain([Cue::Fail(model_error(ModelErrorKind::BrokenStream))]).collect();
    assert_snapshot!(check(falls_back(vec![broken], vec![text_reply("never")])).await, @r#"
    step 1
      text-start
      text "half"
    Failed(ModelError { kind: BrokenStream, cause: "scripted", retry_after: None })
    "#);
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

#[tokio::test(start_paused = true)]
async fn call_ids_are_unique_in_the_conversation() {
    let case = Case::of(vec![
        tool_call_reply(&[("call_0", "slow", r#"{"n":1}"#)]),
        tool_call_reply(&[("call_0", "slow", r#"{"n":2}"#), ("", "slow", r#"{"n":3}"#)]),
        text_reply("ok"),
    ]);
    let notes = check(case).await;
    let seen: Vec<_> = notes.lines().filter_map(|line| line.strip_prefix("  call ")).collect();
    assert_eq!(seen, [r#"call_0 slow {"n":1}"#, r#"call_0-2 slow {"n":2}"#, r#"call-2 slow {"n":3}"#]);
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

/// A rule changes only the settings that it names, for the steps that it selects.
#[tokio::test(start_paused = true)]
async fn step_rules_change_the_settings_of_their_steps() {
    let one = || tool_call_reply(&[("", "slow", r#"{"n":1}"#)]);
    let first = StepRule {
        steps: StepSelector::Numbers(vec![1]),
        active_tools: Some(vec!["slow".to_owned()]),
        tool_choice: Some(ToolChoice::Required),
        max_output_tokens: Some(9),
        ..StepRule::default()
    };
    let later = StepRule { steps: StepSelector::Range(3, None), temperature: Some(0.0), ..StepRule::default() };
    let sampling = Sampling { temperature: Some(1.0), ..Sampling::default() };
    let settings = RunSettings { prepare_step: vec![first, later], sampling, ..RunSettings::default() };
    let (_, requests) = Case { settings, ..Case::of(vec![one(), one(), text_reply("done")]) }.run().await;
    let shown = requests.iter().map(|request| {
        let Sampling { temperature, max_output_tokens, .. } = &request.sampling;
        (request.tools.len(), request.tool_choice.clone(), *max_output_tokens, *temperature)
    });
    let expected = [
        (1, ToolChoice::Required, Some(9), Some(1.0)),
        (7, ToolChoice::Auto, None, Some(1.0)),
        (7, ToolChoice::Auto, None, Some(0.0)),
    ];
    assert_eq!(shown.collect::<Vec<_>>(), expected);
}

/// Messages from before the turn are pruned, and no empty message is sent; messages of the turn
/// stay.
#[tokio::test(start_paused = true)]
async fn the_history_is_pruned() {
    let call = ToolCall {
        id: "old".to_owned(),
        name: "slow".to_owned(),
        input: json!({ "n": 1 }),
        provider_executed: false,
        metadata: None,
    };
    let result = ToolResult {
        call_id: "old".to_owned(),
        name: "slow".to_owned(),
        output: ToolOutput::from_url(json!(1)),
        metadata: None,
    };
    let user = || Message::User(vec![UserPart::Text { text: "hi".to_owned() }]);
    let messages =
        vec![user(), Message::Assistant(vec![AssistantPart::ToolCall(call)]), Message::Tool(vec![result]), user()];
    let tool_calls = vec![PruneToolCalls { keep_last: 0, tools: None }];
    let settings = RunSettings { prune: Prune { tool_calls, ..Prune::default() }, ..RunSettings::default() };
    let replies = vec![tool_call_reply(&[("new", "slow", r#"{"n":1}"#)]), text_reply("done")];
    let (_, requests) = Case { settings, messages, ..Case::of(replies) }.run().await;
    let roles = |request: &contract::Request| {
        let role = |message: &Arc<Message>| serde_json::to_value(&**message).unwrap()["role"].clone();
        request.messages.iter().map(role).collect::<Vec<_>>()
    };
    assert_eq!(roles(&requests[0]), ["user", "user"]);
    assert_eq!(roles(&requests[1]), ["user", "user", "assistant", "tool"]);
}
