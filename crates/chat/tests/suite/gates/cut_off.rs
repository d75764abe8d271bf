//! Calls that were running when the server died: repeated if their tool is idempotent, otherwise if
//! the user approves it.

use crate::gates::house::{Effects, TestChat, ada, agent, bob, message, yes};
use agent::Agent;
use contract::testing::{Cue, RecordingTool, ScriptedModel, text_reply, tool_call_reply};
use contract::{Annotations, Tool, ToolSpec};
use insta::assert_snapshot;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use wire::ErrorCode;
use wire::api::{Answer, ApprovalScope, SendRequest, Submission};
use wire::change::MessageChange;

/// The properties of a tool in one lifetime of the server.
#[derive(Clone, Copy, Default)]
struct Like {
    idempotent: bool,
    asks: bool,
    hangs: bool,
    is_another: bool,
}

const PLAIN: Like = Like { idempotent: false, asks: false, hangs: false, is_another: false };
const IDEMPOTENT: Like = Like { idempotent: true, ..PLAIN };

impl Like {
    fn hanging(self) -> Self {
        Self { hangs: true, ..self }
    }

    fn tool(self, name: &str) -> (Arc<dyn Tool>, Effects) {
        let description = if self.is_another { "Pays twice." } else { "Pays." };
        let spec = ToolSpec {
            needs_approval: self.asks,
            annotations: Annotations { idempotent: self.idempotent, ..Annotations::default() },
            ..ToolSpec::new(name, description, json!({ "type": "object" }))
        };
        let tool = RecordingTool::new(spec, move |input: Value, _| async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            Ok(input)
        });
        let effects = tool.inputs();
        (Arc::new(tool), effects)
    }

    fn agent(self, replies: Vec<Vec<Cue>>) -> (Agent, Arc<ScriptedModel>, Effects) {
        let (pay, effects) = self.tool("pay");
        let (agent, model) = agent("helper", replies, vec![pay]);
        (agent, model, effects)
    }
}

/// One lifetime of the server, with the requests to its model and its payments.
struct Life {
    test: TestChat,
    model: Arc<ScriptedModel>,
    effects: Effects,
}

impl Life {
    fn paid(&self) -> Vec<Value> {
        self.effects.lock().unwrap().clone()
    }

    /// Starts the next lifetime.
    async fn after(&self, like: Like, replies: Vec<Vec<Cue>>) -> Self {
        let (agent, model, effects) = like.agent(replies);
        Self { test: self.test.reopen(agent).await, model, effects }
    }

    /// Sends a submission and waits until the call runs, which never ends.
    async fn until_it_runs(&self, submission: Submission) {
        let _sent = self.test.send("c1", submission).await.unwrap();
        let runs = async {
            while self.paid().is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), runs).await.expect("the call runs");
    }

    async fn last(&self) -> String {
        self.test.last("c1").await
    }

    /// Returns the last request to the model.
    fn told(&self) -> String {
        serde_json::to_string(&self.model.requests().last().unwrap().messages).unwrap()
    }

    /// Returns the audit log without run ids.
    async fn log(&self) -> String {
        let log = self.test.log().await;
        let line = |line: &str| {
            let (call, rest) = line.split_once(" helper ").unwrap();
            let (id, rest) = rest.split_once(' ').unwrap();
            let id = id.split_once(':').map_or(id.to_owned(), |(id, run)| format!("{id}:{}", run.len()));
            format!("{call} {id} {rest}\n")
        };
        log.lines().map(line).collect()
    }
}

const PAY: (&str, &str, &str) = ("a", "pay", r#"{"n":1}"#);

/// Crashes the server during a payment and restarts it.
async fn crashed(before: Like, after: Like, replies: Vec<Vec<Cue>>) -> Life {
    let (agent, model, effects) = before.hanging().agent(vec![tool_call_reply(&[PAY])]);
    let life = Life { test: TestChat::open(agent).await, model, effects };
    if before.asks {
        life.test.ask("c1", message("m1")).await;
        life.until_it_runs(yes("a", None, None)).await;
    } else {
        life.until_it_runs(message("m1")).await
    }
    life.after(after, replies).await
}

fn no(reason: &str) -> Submission {
    let (tool_call_id, approval_id, reason) = ("a".to_owned(), None, Some(reason.to_owned()));
    let answer = Answer::Approval {
        tool_call_id,
        approval_id,
        approved: false,
        input_hash: None,
        reason,
        input: None,
        remember: None,
    };
    Submission::Answers { answers: vec![answer] }
}

#[tokio::test]
async fn interrupted_call_needs_approval_to_repeat() {
    let life = crashed(PLAIN, PLAIN, vec![text_reply("done")]).await;
    assert_eq!(life.last().await, "waiting: pay ApprovalRequested");
    // Not by another kind of answer, not by another user, and not with other arguments.
    let refused = async |submission| life.test.send("c1", submission).await.err().unwrap();
    assert_eq!(refused(Submission::Continue).await.message, "Answer the open question first.");
    let changed = refused(yes("a", Some(json!({ "n": 2 })), None)).await;
    assert_eq!(changed.message, "An interrupted call can only be repeated with the same arguments.");
    assert_eq!(refused(yes("a", None, Some(ApprovalScope::Always))).await.path.as_deref(), Some("/answers/0/remember"));
    let request = SendRequest {
        page_id: "p".to_owned(),
        block_id: None,
        agent_id: "helper".to_owned(),
        conversation_id: "c1".to_owned(),
        submission: yes("a", None, None),
        shared_state: Map::new(),
        url_query: Map::new(),
        switches: Map::new(),
        options: Default::default(),
    };
    assert_eq!(life.test.chat.send(&bob(), request).await.err().unwrap().code, ErrorCode::NotFound);
    assert_eq!(life.paid(), [] as [Value; 0]);

    life.test.ask("c1", yes("a", None, None)).await;
    assert_eq!(life.last().await, "done: pay OutputAvailable");
    assert_eq!(refused(yes("a", None, None)).await.code, ErrorCode::Invalid, "it was made once more");
    assert_eq!(life.paid(), [json!({ "n": 1 })]);
    assert_snapshot!(life.log().await, @"
    c1 a interrupted []
    c1 a:32 ok [approval asked, approval approved ada, execution repeated]
    ");
}

#[tokio::test]
async fn denied_repetition_is_skipped() {
    let skipped = "Interrupted before it finished. It may or may not have had an effect. The user did not want it to be run again: ";
    let check = async |submission: Submission, state: &str, why: &str, denied: &str| {
        let life = crashed(PLAIN, PLAIN, vec![text_reply("well")]).await;
        life.test.ask("c1", submission).await;
        assert_eq!(life.last().await, state);
        assert!(life.told().contains(&format!("{skipped}{why}")), "{}", life.told());
        assert_eq!(life.paid(), [] as [Value; 0]);
        // After another restart it reads the same.
        let next = life.after(PLAIN, vec![text_reply("on")]).await;
        next.test.ask("c1", message("m9")).await;
        assert!(next.told().contains(&format!("{skipped}{why}")), "{}", next.told());
        let rows = format!("c1 a interrupted []\nc1 a:32 denied [approval asked, approval denied ada {denied}]\n");
        assert_eq!(next.log().await, rows);
    };
    check(no("I looked"), "done: pay OutputDenied", "I looked", "I looked").await;
    let passed = "The user did not answer and sent a new message instead.";
    check(message("m2"), "done: ", passed, passed).await;
}

#[tokio::test]
async fn idempotent_call_is_repeated_on_continue() {
    let life = crashed(IDEMPOTENT, IDEMPOTENT, vec![text_reply("done"), text_reply("more")]).await;
    assert_eq!(life.last().await, "interrupted: pay OutputError");
    assert_eq!(life.paid(), [] as [Value; 0], "not before somebody is there");
    life.test.ask("c1", Submission::Continue).await;
    assert_eq!(life.last().await, "done: pay OutputAvailable");
    assert!(!life.told().contains("Your answer was cut off"), "its result is what it goes on from: {}", life.told());
    assert_eq!(life.paid(), [json!({ "n": 1 })]);
    life.test.ask("c1", Submission::Continue).await;
    assert_eq!(life.paid().len(), 1, "once");
    assert_snapshot!(life.log().await, @"
    c1 a interrupted []
    c1 a:32 ok [execution repeated]
    ");
}

/// Each continuation repeats the call once and logs it once.
#[tokio::test]
async fn repeatedly_interrupted_call_runs_once_per_continuation() {
    let first = crashed(IDEMPOTENT, IDEMPOTENT.hanging(), Vec::new()).await;
    first.until_it_runs(Submission::Continue).await;
    let second = first.after(IDEMPOTENT.hanging(), Vec::new()).await;
    assert_eq!(second.last().await, "interrupted: pay OutputError");
    second.until_it_runs(Submission::Continue).await;
    let third = second.after(IDEMPOTENT, vec![text_reply("done")]).await;
    third.test.ask("c1", Submission::Continue).await;
    assert_eq!(third.last().await, "done: pay OutputAvailable");
    assert_eq!([first.paid().len(), second.paid().len(), third.paid().len()], [1, 1, 1]);
    assert_snapshot!(third.log().await, @"
    c1 a interrupted []
    c1 a:32 interrupted [execution repeated]
    c1 a:32 interrupted [execution repeated]
    c1 a:32 ok [execution repeated]
    ");

    // The same for a call that the user approved again.
    let first = crashed(PLAIN, PLAIN.hanging(), Vec::new()).await;
    first.until_it_runs(yes("a", None, None)).await;
    let second = first.after(PLAIN, vec![text_reply("done")]).await;
    assert_eq!(second.last().await, "waiting: pay ApprovalRequested");
    second.test.ask("c1", yes("a", None, None)).await;
    assert_eq!((second.last().await.as_str(), second.paid().len()), ("done: pay OutputAvailable", 1));
}

/// The current declaration of the tool decides.
#[tokio::test]
async fn changed_tool_needs_approval_to_repeat() {
    let check = async |before: Like, after: Like, expected: &str| {
        let life = crashed(before, after, vec![text_reply("done")]).await;
        life.test.ask("c1", Submission::Continue).await;
        assert_eq!(life.last().await, expected);
        let has_run = expected.starts_with("done");
        assert_eq!(life.paid().len(), usize::from(has_run));
        if !has_run {
            life.test.ask("c1", yes("a", None, None)).await;
            assert_eq!((life.last().await.as_str(), life.paid().len()), ("done: pay OutputAvailable", 1));
        }
    };
    let (waits, runs) = ("waiting: pay ApprovalRequested", "done: pay OutputAvailable");
    check(IDEMPOTENT, PLAIN, waits).await;
    check(IDEMPOTENT, Like { is_another: true, ..IDEMPOTENT }, waits).await;
    check(IDEMPOTENT, Like { asks: true, ..IDEMPOTENT }, waits).await;
    // The approval of the first attempt covers this call.
    let asking = Like { asks: true, ..IDEMPOTENT };
    check(asking, asking, runs).await;
}

/// Together with a call that had ended, one that waits, and one whose tool no longer exists.
#[tokio::test]
async fn each_of_several_interrupted_calls_is_handled_by_its_state() {
    let four = tool_call_reply(&[("a", "look", "{}"), ("b", "pay", "{}"), ("c", "send", "{}"), ("d", "gone", "{}")]);
    let (look, looked) = IDEMPOTENT.tool("look");
    let (pay, paid) = IDEMPOTENT.hanging().tool("pay");
    let (send, _) = Like { asks: true, ..PLAIN }.tool("send");
    let (gone, ran) = IDEMPOTENT.hanging().tool("gone");
    let (before, _) = agent("helper", vec![four], vec![look, pay, send, gone]);
    let test = TestChat::open(before).await;
    let _sent = test.send("c1", message("m1")).await.unwrap();
    let begun = async {
        while [&looked, &paid, &ran].iter().any(|effects| effects.lock().unwrap().is_empty()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        // Waits until the ended call is stored.
        tokio::time::sleep(Duration::from_millis(200)).await;
    };
    tokio::time::timeout(Duration::from_secs(60), begun).await.expect("the calls run");

    let (look, looked) = IDEMPOTENT.tool("look");
    let (pay, paid) = IDEMPOTENT.tool("pay");
    let (send, sent) = Like { asks: true, ..PLAIN }.tool("send");
    let (after, model) = agent("helper", vec![text_reply("done")], vec![look, pay, send]);
    let test = test.reopen(after).await;
    let stands = "waiting: look OutputAvailable, pay OutputError, send ApprovalRequested, gone OutputError";
    assert_eq!(test.last("c1").await, stands);
    test.ask("c1", yes("c", None, None)).await;
    let stands = "done: look OutputAvailable, pay OutputAvailable, send OutputAvailable, gone OutputError";
    assert_eq!(test.last("c1").await, stands);
    let effects = [&looked, &paid, &sent].map(|effects| effects.lock().unwrap().len());
    assert_eq!(effects, [0, 1, 1]);
    // Each call has one result, in order.
    let told = serde_json::to_value(&model.requests()[0].messages).unwrap().to_string();
    let results = ["a", "b", "c", "d"].map(|id| told.matches(&format!(r#""callId":"{id}""#)).count());
    assert_eq!(results, [1, 1, 1, 1], "{told}");
}

/// Neither a copy nor an imported file lets a call run, whatever the file contains.
#[tokio::test]
async fn copies_and_imports_repeat_no_call() {
    let life = crashed(IDEMPOTENT, IDEMPOTENT, vec![text_reply("on"), text_reply("on"), text_reply("on")]).await;
    let chat = &life.test.chat;
    let exported = serde_json::to_value(chat.export(&ada(), "c1").await.unwrap()).unwrap();
    let mut forged = exported.clone();
    for part in
        forged["messages"].as_array_mut().unwrap().last_mut().unwrap()["message"]["parts"].as_array_mut().unwrap()
    {
        if part["toolCallId"] == "a" {
            part["state"] = "approval-requested".into();
            part["approval"] = json!({ "id": "x", "approved": true, "terms": { "cutOff": "open" } });
        }
    }
    let head = exported["head"].as_str().unwrap().to_owned();
    let copy = chat.revise(&ada(), "c1", MessageChange::Copy { message_id: head }).await.unwrap().conversation_id;
    let mut all = vec![copy];
    for file in [exported, forged] {
        all.push(chat.import(&ada(), serde_json::from_value(file).unwrap()).await.unwrap());
    }
    for conversation in all {
        life.test.ask(&conversation, Submission::Continue).await;
        assert_eq!(life.paid(), [] as [Value; 0], "{}", life.test.last(&conversation).await);
    }
}
