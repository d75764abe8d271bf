//! The end reasons of runs, in the message and in the run's row. Also that turns end: their usage
//! counts on over approvals, page calls and restarts.

use crate::gates::house::{TestChat, ada, agent, helper, message, yes};
use crate::gates::paid;
use chat::{LifecycleEvent, LifecycleObserver, RunFacts, Telemetry, ToolEnd};
use contract::testing::{Cue, RecordingTool, finish_cue, model_error, text_reply, tool_call_reply};
use contract::{
    ApprovalTerms, Execution, FinishReason, Model, ModelError, ModelErrorKind, ModelId, Part, PartStream, Request,
    ToolSpec,
};
use futures::StreamExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use store::StepRecord;
use tokio_util::sync::CancellationToken;
use wire::EndReason;
use wire::api::{Answer, Submission};

/// A model that panics.
struct Panics(ModelId);

impl Model for Panics {
    fn id(&self) -> &ModelId {
        &self.0
    }

    fn stream(&self, _: Request, _: CancellationToken) -> BoxFuture<'_, Result<PartStream, ModelError>> {
        panic!("a secret prompt")
    }
}

impl TestChat {
    /// Returns the end of the newest run, as in its message and in its row.
    async fn end(&self, conversation: &str) -> (String, String, String, String) {
        let message = self.chat.conversation(&ada(), conversation).await.unwrap().messages.pop().unwrap();
        let metadata = message.metadata.unwrap_or_default();
        let text = |key: &str| metadata[key].as_str().unwrap_or_default().to_owned();
        let run = self.store.recent_runs("helper").await.unwrap().swap_remove(0);
        let row = format!("{} {}", run.status, run.reason.unwrap_or_default());
        (text("outcome"), text("reason"), row, run.error.unwrap_or_default())
    }
}

fn endless() -> Vec<Cue> {
    vec![Cue::Part(Part::TextStart { id: "t".to_owned() }), Cue::Silence]
}

#[tokio::test]
async fn every_end_has_a_reason() {
    let check = async |test: &TestChat, outcome: &str, reason: &str, cause: &str| {
        let (said, why, row, error) = test.end("c1").await;
        assert_eq!((said.as_str(), why.as_str(), row), (outcome, reason, format!("{outcome} {reason}")));
        assert!(error.starts_with(cause) && (error.is_empty() == cause.is_empty()), "{reason}: {error}");
    };
    let asked = async |replies: Vec<Vec<Cue>>| {
        let test = TestChat::open(helper(replies, ApprovalTerms::default()).0).await;
        test.ask("c1", message("m1")).await;
        test
    };
    check(&asked(vec![text_reply("ok")]).await, "done", "done", "").await;
    check(&asked(vec![tool_call_reply(&[("a", "pay", "{}")])]).await, "waiting", "waiting", "").await;
    let broken =
        vec![Cue::Part(Part::TextStart { id: "t".to_owned() }), Cue::Fail(model_error(ModelErrorKind::BrokenStream))];
    let cause = model_error(ModelErrorKind::BrokenStream).to_string();
    check(&asked(vec![broken]).await, "failed", "streamBroken", &cause).await;
    let refused = vec![Cue::Fail(model_error(ModelErrorKind::Unauthorized))];
    let cause = model_error(ModelErrorKind::Unauthorized).to_string();
    check(&asked(vec![refused]).await, "failed", "modelCredentials", &cause).await;
    let cut = |reason| {
        let mut reply = text_reply("half an");
        reply.pop();
        reply.push(finish_cue(reason));
        vec![reply]
    };
    check(&asked(cut(FinishReason::Length)).await, "limit", "maxOutputTokens", "the output limit of the model").await;
    let filtered = asked(cut(FinishReason::ContentFilter)).await;
    check(&filtered, "limit", "contentFilter", "the provider reported a refusal").await;
    let broken = asked(cut(FinishReason::Error)).await;
    check(&broken, "failed", "streamBroken", "the provider's stream is broken: the provider ended the reply").await;

    let (mut panics, _) = agent("helper", Vec::new(), Vec::new());
    panics.model = Arc::new(Panics(ModelId { provider: "p".to_owned(), model: "m".to_owned() }));
    let test = TestChat::open(panics).await;
    test.ask("c1", message("m1")).await;
    check(&test, "failed", "panic", "the server panicked").await;

    let (mut limited, _) = helper(vec![tool_call_reply(&[("a", "nothing", "{}")])], ApprovalTerms::default());
    limited.settings.max_steps = 1;
    let test = TestChat::open(limited).await;
    test.ask("c1", message("m1")).await;
    check(&test, "limit", "maxSteps", "maxSteps: 1").await;

    let (mut limited, _) = helper(vec![text_reply("never")], ApprovalTerms::default());
    limited.settings.limits.cost_usd = Some(1.0);
    let test = TestChat::open(limited).await;
    test.ask("c1", message("m1")).await;
    check(&test, "failed", "unknownPrice", "the price of the model test is not known").await;

    let (mut strict, _) = helper(vec![tool_call_reply(&[("a", "nothing", "{}")])], ApprovalTerms::default());
    strict.settings.repair_tool_call = false;
    let test = TestChat::open(strict).await;
    test.ask("c1", message("m1")).await;
    check(&test, "failed", "invalidCall", "a call of `nothing` cannot be run").await;
}

#[tokio::test]
async fn every_stop_has_a_reason() {
    let check = async |stop: fn(&TestChat), reason: &str| {
        let test = TestChat::open(helper(vec![endless()], ApprovalTerms::default()).0).await;
        let sent = test.send("c1", message("m1")).await.unwrap();
        stop(&test);
        if reason == "stoppedByUser" {
            test.chat.stop(&ada(), "c1").await.unwrap();
        }
        if reason == "shutdown" {
            test.chat.drain(Duration::from_millis(10)).await;
        }
        tokio::time::timeout(Duration::from_secs(60), sent.frames.collect::<Vec<_>>()).await.expect("it ends");
        assert_eq!(test.end("c1").await.1, reason);
    };
    check(|_| {}, "stoppedByUser").await;
    check(|_| {}, "shutdown").await;
    check(|test| test.chat.stop_user_runs("ada"), "stoppedByAdmin").await;
}

#[tokio::test]
async fn superseded_approval_request_ends_its_run() {
    let test = TestChat::open(
        helper(vec![tool_call_reply(&[("a", "pay", "{}")]), text_reply("ok")], ApprovalTerms::default()).0,
    )
    .await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", message("m2")).await;
    let messages = test.chat.conversation(&ada(), "c1").await.unwrap().messages;
    assert_eq!(messages[1].metadata.as_ref().unwrap()["reason"], "replaced");
    let runs = test.store.recent_runs("helper").await.unwrap();
    let mut rows: Vec<_> = runs.iter().map(|run| (run.status.as_str(), run.reason.as_deref())).collect();
    rows.sort_unstable();
    assert_eq!(rows, [("done", Some("done")), ("stopped", Some("replaced"))]);
}

#[derive(Default)]
struct Ends(Mutex<Vec<String>>);

impl Ends {
    fn push(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl LifecycleObserver for Ends {
    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::RunEnded { conversation_id, user_id, agent_id, outcome, reason, .. } = event {
            self.push(format!("told {conversation_id} {user_id} {agent_id} {} {}", outcome.name(), reason.name()));
        }
    }
}

impl Telemetry for Ends {
    fn run_began(&self, _: &RunFacts) {}
    fn model_replied(&self, _: &RunFacts, _: &StepRecord) {}
    fn tool_ended(&self, _: &RunFacts, _: ToolEnd<'_>) {}
    fn run_ended(&self, _: &RunFacts, _: &'static str, _: EndReason, _: Duration) {}
    fn run_recovered(&self, run: &RunFacts, outcome: &'static str, reason: EndReason) {
        self.push(format!("counted {} {outcome} {}", run.agent_id, reason.name()));
    }
}

/// A question that expires ends its run, so that nothing shows it as waiting any more.
#[tokio::test]
async fn expired_question_ends_its_run() {
    let terms = ApprovalTerms { expires_after: Some(Duration::from_secs(60)), ..ApprovalTerms::default() };
    let test = TestChat::open(helper(vec![tool_call_reply(&[("a", "pay", "{}")])], terms).0).await;
    test.ask("c1", message("m1")).await;
    let ends = Arc::new(Ends::default());
    test.chat.set_observer(ends.clone());
    test.pass(60_000);
    let (outcome, reason, row, _) = test.end("c1").await;
    assert_eq!((outcome.as_str(), reason.as_str(), row.as_str()), ("interrupted", "expired", "interrupted expired"));
    assert_eq!(ends.take(), ["told c1 ada helper interrupted expired"]);
}

/// An answer that waits for the user can be ended without the agent.
#[tokio::test]
async fn withdrawn_question_ends_its_run() {
    let test = TestChat::open(helper(vec![tool_call_reply(&[("a", "pay", "{}")])], ApprovalTerms::default()).0).await;
    test.ask("c1", message("m1")).await;
    let ends = Arc::new(Ends::default());
    test.chat.set_observer(ends.clone());
    let id = test.chat.conversation(&ada(), "c1").await.unwrap().messages.pop().unwrap().id;
    let stranger = chat::Caller::signed_in("eve");
    assert_eq!(test.chat.withdraw(&stranger, "c1", &id).await.unwrap_err().code, wire::ErrorCode::NotFound);
    assert!(!test.chat.withdraw(&ada(), "c1", "m1").await.unwrap());
    assert!(test.chat.withdraw(&ada(), "c1", &id).await.unwrap());
    assert!(!test.chat.withdraw(&ada(), "c1", &id).await.unwrap());
    let (outcome, reason, row, _) = test.end("c1").await;
    assert_eq!(
        (outcome.as_str(), reason.as_str(), row.as_str()),
        ("stopped", "stoppedByUser", "stopped stoppedByUser")
    );
    assert_eq!(ends.take(), ["told c1 ada helper stopped stoppedByUser"]);
    assert!(test.send("c1", yes("a", None, None)).await.is_err());
}

/// A run that a dead server left open is closed before anybody listens, and reported once to each
/// listener.
#[tokio::test]
async fn recovered_run_is_reported() {
    let test = TestChat::open(helper(vec![endless()], ApprovalTerms::default()).0).await;
    let mut frames = test.send("c1", message("m1")).await.unwrap().frames;
    frames.next().await.unwrap();
    let test = test.reopen(helper(Vec::new(), ApprovalTerms::default()).0).await;
    let ends = Arc::new(Ends::default());
    test.chat.set_observer(ends.clone());
    assert_eq!(ends.take(), ["told c1 ada helper interrupted serverGone"]);
    test.chat.set_telemetry(ends.clone());
    assert_eq!(ends.take(), ["counted helper interrupted serverGone"]);
    test.chat.set_observer(ends.clone());
    test.chat.set_telemetry(ends.clone());
    assert_eq!(ends.take(), Vec::<String>::new());
}

/// Approving every call does not make an agent run forever, not even across restarts.
#[tokio::test]
async fn steps_accumulate_over_approvals() {
    let another = |n: u32| {
        let (id, input) = (format!("a{n}"), format!(r#"{{"n":{n}}}"#));
        tool_call_reply(&[(&id, "pay", &input)])
    };
    let limited = |replies: Vec<Vec<Cue>>| {
        let (mut agent, effects) = helper(replies, ApprovalTerms::default());
        agent.settings.max_steps = 3;
        (agent, effects)
    };
    let (agent, effects) = limited((0..9).map(another).collect());
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", yes("a0", None, None)).await;
    let (agent, more) = limited((2..9).map(another).collect());
    let test = test.reopen(agent).await;
    test.ask("c1", yes("a1", None, None)).await;
    assert_eq!(test.end("c1").await.1, "waiting");
    test.ask("c1", yes("a2", None, None)).await;
    assert_eq!(test.end("c1").await.1, "maxSteps");
    assert_eq!(paid(&effects).len() + paid(&more).len(), 3);
}

/// A page that answers every call does not keep the agent looping, not even across restarts.
#[tokio::test]
async fn loop_of_page_calls_ends() {
    let looping = |from: usize| {
        let again = |n: usize| tool_call_reply(&[(&format!("a{n}"), "page", r#"{"same":1}"#)]);
        let spec = ToolSpec { execution: Execution::Client, ..ToolSpec::new("page", "", json!({ "type": "object" })) };
        let page = RecordingTool::new(spec, |input: Value, _| async move { Ok(input) });
        let (mut agent, model) = agent("helper", (from..12).map(again).collect(), vec![Arc::new(page)]);
        agent.settings.max_steps = 100;
        (agent, model)
    };
    let output = |n: usize| Submission::Answers {
        answers: vec![Answer::Output { tool_call_id: format!("a{n}"), output: json!("done") }],
    };
    let (agent, first) = looping(0);
    let test = TestChat::open(agent).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", output(0)).await;
    let (agent, second) = looping(2);
    let test = test.reopen(agent).await;
    for n in 1..4 {
        assert_eq!(test.end("c1").await.1, "waiting", "before answer {n}");
        test.ask("c1", output(n)).await;
    }
    assert_eq!(test.end("c1").await.1, "loop");
    assert_eq!((first.requests().len(), second.requests().len()), (2, 3));
    let warned = format!("{:?}", second.requests()[1].messages.last().unwrap());
    assert!(warned.contains("the same calls several times"), "{warned}");
}
