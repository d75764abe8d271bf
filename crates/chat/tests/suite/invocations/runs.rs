//! Runs with tools and no conversation: questions, answers, stops, and servers that die.

use super::{TestChat, caller, open, open_in};
use agent::RunSettings;
use chat::{Chat, LifecycleEvent, LifecycleObserver, RunResponse};
use contract::testing::{Cue, text_reply, tool_call_reply};
use futures::StreamExt;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::block_in_place;
use wire::invoke::{Invocation, InvocationStatus, InvokeRequest, RunAnswer, RunRequest};
use wire::{EndReason, ErrorCode, UserError};

fn request(more: Value) -> RunRequest {
    let mut request = json!({ "agent_name": "extractor", "input": { "prompt": "Pay." } });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    serde_json::from_value(request).unwrap()
}

async fn run(test: &TestChat, more: Value) -> Result<Invocation, UserError> {
    match test.chat.run_agent(&caller("ada"), request(more), false).await? {
        RunResponse::Ended(run) | RunResponse::Queued(run) => Ok(run),
        RunResponse::Stream(_) => panic!("it is no stream"),
    }
}

/// Waits until the run has this status.
async fn until(chat: &Chat, id: &str, status: InvocationStatus) -> Invocation {
    for _ in 0..4_000 {
        let run = chat.invocation(&caller("ada"), id).await.unwrap();
        if run.status == status {
            return run;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", chat.invocation(&caller("ada"), id).await);
}

async fn answer(chat: &Chat, who: &str, id: &str, call_id: &str, approved: bool) -> Result<Invocation, UserError> {
    let answer =
        RunAnswer { call_id: call_id.to_owned(), approved, reason: (!approved).then(|| "too much".to_owned()) };
    chat.answer_run(&caller(who), id, answer).await
}

fn pay(id: &str) -> Vec<Cue> {
    tool_call_reply(&[(id, "pay", r#"{"amount":5}"#)])
}

#[tokio::test]
async fn run_uses_the_tools_of_its_agent() {
    let check = async |mode: &str| {
        let test = open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("Done.")]).await;
        let run = run(&test, json!({ "mode": mode })).await.unwrap();
        let run = until(&test.chat, &run.run_id, InvocationStatus::Succeeded).await;
        assert_eq!((run.output, run.reason), (json!("Done."), Some(EndReason::Done)), "{mode}");
        assert_eq!(test.log().await, "ada a act ok []", "{mode}");
        // The browser's tool is not offered.
        let names: Vec<_> = test.model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
        assert_eq!(names, ["act", "pay", "wait"], "{mode}");
    };
    check("sync").await;
    check("queued").await;
}

/// The runs that were reported as waiting.
#[derive(Default)]
struct Reported(Mutex<Vec<String>>);

impl LifecycleObserver for Reported {
    fn observe(&self, event: &LifecycleEvent) {
        if let LifecycleEvent::AgentRunWaiting { run_id } = event {
            self.0.lock().unwrap().push(run_id.clone());
        }
    }
}

#[tokio::test]
async fn call_that_needs_an_approval_waits_for_the_answer() {
    let check = async |mode: &str, approved: bool, paid: usize| {
        let test = open(vec![pay("p"), text_reply("Finished.")]).await;
        let reported = Arc::new(Reported::default());
        test.chat.set_observer(reported.clone());
        let begun = run(&test, json!({ "mode": mode })).await.unwrap();
        let waits = until(&test.chat, &begun.run_id, InvocationStatus::Waiting).await;
        let question = &waits.questions[0];
        assert_eq!((question.call_id.as_str(), question.tool_name.as_str(), question.cut_off), ("p", "pay", false));
        assert_eq!((question.input.clone(), waits.output.clone()), (json!({ "amount": 5 }), Value::Null));
        let waiting_for = async |name: &str| test.chat.undecided_runs(&caller(name), None).await.unwrap().items;
        assert_eq!(waiting_for("ada").await.iter().map(|run| &run.run_id).collect::<Vec<_>>(), [&begun.run_id]);
        assert!(waiting_for("bob").await.is_empty());
        let stranger = answer(&test.chat, "bob", &begun.run_id, "p", true).await;
        assert_eq!(stranger.unwrap_err(), UserError::not_found());
        let unknown = answer(&test.chat, "ada", &begun.run_id, "q", true).await;
        assert_eq!(unknown.unwrap_err().code, ErrorCode::Busy);
        answer(&test.chat, "ada", &begun.run_id, "p", approved).await.unwrap();
        let ended = until(&test.chat, &begun.run_id, InvocationStatus::Succeeded).await;
        assert_eq!((ended.output, ended.questions), (json!("Finished."), Vec::new()), "{mode}");
        assert_eq!(test.paid.lock().unwrap().len(), paid, "{mode}");
        let again = answer(&test.chat, "ada", &begun.run_id, "p", true).await;
        assert_eq!(again.unwrap_err().code, ErrorCode::Busy, "the answer counts once");
        assert_eq!(*reported.0.lock().unwrap(), [begun.run_id], "{mode}");
    };
    check("sync", true, 1).await;
    check("queued", true, 1).await;
    check("queued", false, 0).await;
}

/// A model may ask for several calls at once; each has its own answer.
#[tokio::test]
async fn run_goes_on_when_all_its_questions_are_answered() {
    let both = tool_call_reply(&[("p", "pay", "{}"), ("q", "pay", r#"{"n":2}"#)]);
    let test = open(vec![both, text_reply("Finished.")]).await;
    let id = run(&test, json!({ "mode": "queued" })).await.unwrap().run_id;
    until(&test.chat, &id, InvocationStatus::Waiting).await;
    let left = answer(&test.chat, "ada", &id, "q", true).await.unwrap();
    assert_eq!((left.status, left.questions.len()), (InvocationStatus::Waiting, 1));
    assert!(test.paid.lock().unwrap().is_empty());
    answer(&test.chat, "ada", &id, "p", false).await.unwrap();
    until(&test.chat, &id, InvocationStatus::Succeeded).await;
    assert_eq!(*test.paid.lock().unwrap(), [json!({ "n": 2 })]);
}

#[tokio::test]
async fn run_is_stopped_while_it_works_and_while_it_waits() {
    let check = async |first: Vec<Cue>, status: InvocationStatus, log: &str| {
        let test = open(vec![first]).await;
        let id = run(&test, json!({ "mode": "queued" })).await.unwrap().run_id;
        until(&test.chat, &id, status).await;
        if status == InvocationStatus::Running {
            while test.waiting.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        assert_eq!(test.chat.stop_run(&caller("bob"), &id).await.unwrap_err(), UserError::not_found());
        test.chat.stop_run(&caller("ada"), &id).await.unwrap();
        let ended = until(&test.chat, &id, InvocationStatus::Stopped).await;
        assert_eq!(
            (ended.reason, ended.error.as_deref()),
            (Some(EndReason::StoppedByUser), Some("The run was stopped."))
        );
        assert_eq!(test.log().await, log);
        test.chat.stop_run(&caller("ada"), &id).await.unwrap();
    };
    check(tool_call_reply(&[("w", "wait", "{}")]), InvocationStatus::Running, "ada w wait interrupted []").await;
    check(pay("p"), InvocationStatus::Waiting, "").await;
}

#[tokio::test]
async fn stream_has_the_chunks_and_the_end() {
    let test = open(vec![pay("p")]).await;
    let RunResponse::Stream(frames) =
        test.chat.run_agent(&caller("ada"), request(json!({ "mode": "stream" })), false).await.unwrap()
    else {
        panic!("it is a stream")
    };
    let bytes = frames.map(|frame| String::from_utf8(frame.to_vec()).unwrap()).collect::<Vec<_>>().await;
    let text = bytes.concat();
    let kinds: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|data| {
            serde_json::from_str::<Value>(data)
                .map_or("done".to_owned(), |chunk| chunk["type"].as_str().unwrap().to_owned())
        })
        .collect();
    let expected =
        ["start", "start-step", "tool-input-start", "tool-input-delta", "tool-input-available", "finish-step"];
    assert_eq!(kinds[..6], expected);
    assert_eq!(kinds[6..], ["tool-approval-request", "finish", "done"]);
    assert!(text.contains(r#""status":"waiting""#), "{text}");
}

#[tokio::test]
async fn limits_of_a_request_are_wider_only_for_administrators() {
    let check = async |is_admin: bool, status: InvocationStatus| {
        let settings = RunSettings {
            limits: agent::TurnLimits { requests: Some(1), ..agent::TurnLimits::default() },
            ..RunSettings::default()
        };
        let test = super::open_with(vec![tool_call_reply(&[("a", "act", "{}")]), text_reply("Done.")], settings).await;
        let request = request(json!({ "limits": { "request_limit": 2 } }));
        let RunResponse::Ended(run) = test.chat.run_agent(&caller("ada"), request, is_admin).await.unwrap() else {
            panic!("it is no stream")
        };
        assert_eq!(run.status, status);
    };
    check(false, InvocationStatus::Failed).await;
    check(true, InvocationStatus::Succeeded).await;
}

/// The server is killed while a call runs whose outcome is then unknown: the call is asked about, and
/// runs again only if the user says so.
#[tokio::test(flavor = "multi_thread")]
async fn interrupted_call_is_asked_about_by_the_next_server() {
    let check = async |is_killed: bool, approved: bool, calls: usize| {
        let runtime = Runtime::new().unwrap();
        let replies = vec![tool_call_reply(&[("a", "act", "{}"), ("w", "wait", "{}")])];
        let test = block_in_place(|| runtime.block_on(open(replies)));
        let id = run(&test, json!({ "mode": "queued" })).await.unwrap().run_id;
        let has_begun = async |test: &TestChat| {
            while test.waiting.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        has_begun(&test).await;
        while !test.log().await.contains("act ok") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if is_killed {
            runtime.shutdown_background()
        } else {
            test.chat.shutdown(Duration::ZERO).await;
            runtime.shutdown_background();
        }
        let settings = RunSettings { max_retries: 0, ..RunSettings::default() };
        let next = open_in(test.folder.clone(), vec![text_reply("Continued.")], settings, None).await;
        let waits = until(&next.chat, &id, InvocationStatus::Waiting).await;
        let question = &waits.questions[0];
        assert_eq!((question.call_id.as_str(), question.cut_off, waits.questions.len()), ("w", true, 1));
        answer(&next.chat, "ada", &id, "w", approved).await.unwrap();
        if approved {
            has_begun(&next).await;
        } else {
            let ended = until(&next.chat, &id, InvocationStatus::Succeeded).await;
            assert_eq!(ended.output, json!("Continued."));
            // The model reads what became of both calls.
            let read = format!("{:?}", next.model.requests()[0].messages);
            assert!(read.contains("did") && read.contains("It may or may not have had an effect"), "{read}");
        }
        assert_eq!(next.waiting.lock().unwrap().len(), calls);
        let log = next.log().await;
        assert_eq!(log.lines().filter(|line| line.contains("wait interrupted")).count(), 1, "{log}");
        assert_eq!(log.lines().filter(|line| line.contains("act ok")).count(), 1, "{log}");
    };
    check(true, true, 1).await;
    check(true, false, 0).await;
    check(false, false, 0).await;
}

#[tokio::test]
async fn users_with_a_role_decide_instead_of_the_owner() {
    let has_role = |name: &str| caller(name).with_roles(vec!["treasurer".to_owned()]);
    let check = async |mode: &str, configured: &[&str], named: Value| {
        let approvers = configured.iter().map(|role| (*role).to_owned()).collect();
        let settings = RunSettings { max_retries: 0, approvers, ..RunSettings::default() };
        let test = super::open_with(vec![pay("p"), text_reply("Finished.")], settings).await;
        let id = run(&test, json!({ "mode": mode, "approvers": named })).await.unwrap().run_id;
        until(&test.chat, &id, InvocationStatus::Waiting).await;
        assert_eq!(answer(&test.chat, "ada", &id, "p", true).await.unwrap_err().code, ErrorCode::Forbidden);
        assert_eq!(answer(&test.chat, "bob", &id, "p", true).await.unwrap_err(), UserError::not_found());
        // A visitor's roles count for nothing.
        let visitor = chat::Caller::visitor("eve").with_roles(vec!["treasurer".to_owned()]);
        assert!(test.chat.undecided_runs(&visitor, None).await.unwrap().items.is_empty());
        assert!(test.chat.undecided_runs(&caller("ada"), None).await.unwrap().items.is_empty());

        let bob = has_role("bob");
        let waiting = test.chat.undecided_runs(&bob, None).await.unwrap().items;
        let [found] = &waiting[..] else { panic!("{waiting:?}") };
        assert_eq!((found.run_id.as_str(), found.started_by.as_str()), (id.as_str(), "ada"));
        assert_eq!((found.questions[0].call_id.as_str(), &found.questions[0].input), ("p", &json!({ "amount": 5 })));
        let decided = RunAnswer { call_id: "p".to_owned(), approved: true, reason: None };
        test.chat.answer_run(&bob, &id, decided.clone()).await.unwrap();
        until(&test.chat, &id, InvocationStatus::Succeeded).await;
        assert_eq!(test.paid.lock().unwrap().len(), 1, "{mode}");
        let again = test.chat.answer_run(&bob, &id, decided).await;
        assert_eq!(again.unwrap_err(), UserError::not_found(), "the run is the owner's again");
        assert!(test.chat.undecided_runs(&bob, None).await.unwrap().items.is_empty());
        let log = test.log().await;
        assert!(log.lines().any(|line| line.starts_with("bob ") && line.contains(" run:answer ok")), "{log}");
        assert!(log.lines().any(|line| line.starts_with("ada p pay ok")), "it runs as its owner: {log}");
    };
    check("sync", &[], json!(["treasurer"])).await;
    check("queued", &["clerk", "treasurer"], json!([])).await;
    check("queued", &["clerk", "treasurer"], json!(["treasurer"])).await;
}

/// Whoever is to be controlled would decide.
#[tokio::test]
async fn only_approvers_of_the_config_approve_in_advance() {
    let boss = caller("bob").with_roles(vec!["treasurer".to_owned()]);
    let check = async |who: &chat::Caller, is_allowed: bool| {
        let settings = RunSettings { approvers: vec!["treasurer".to_owned()], ..RunSettings::default() };
        let cues = vec![pay("p"), text_reply("Finished."), pay("q"), text_reply("Finished.")];
        let test = super::open_with(cues, settings).await;
        let body = json!({ "tools": true, "approved_tools": ["pay"] });
        let run = test.chat.run_agent(who, request(body.clone()), false).await.map(drop);
        let invocation: InvokeRequest = serde_json::from_value(super::with_tools(body)).unwrap();
        let invocation = test.chat.invoke(who, invocation).await.map(drop);
        for outcome in [run, invocation] {
            let expected = (ErrorCode::Invalid, Some("/approved_tools".to_owned()));
            let seen = outcome.map_err(|error| (error.code, error.path));
            assert_eq!(seen, if is_allowed { Ok(()) } else { Err(expected) });
        }
        assert_eq!(test.paid.lock().unwrap().len(), if is_allowed { 2 } else { 0 });
    };
    check(&caller("ada"), false).await;
    check(&boss, true).await;
}
