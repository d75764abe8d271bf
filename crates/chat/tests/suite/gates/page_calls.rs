//! Calls that run in a page: approved, handed over, claimed by one page and answered once.

use crate::gates::house::{TestChat, agent, bob, message, yes};
use agent::Agent;
use contract::testing::{Cue, RecordingTool, text_reply, tool_call_reply};
use contract::{Annotations, Execution, ToolSpec};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::ErrorCode;
use wire::api::{Answer, SendRequest, Submission};

/// The properties of the page's tool.
#[derive(Clone, Copy, Default)]
struct Like {
    needs_approval: bool,
    idempotent: bool,
    description: &'static str,
}

impl Like {
    fn agent(self, replies: Vec<Vec<Cue>>) -> Agent {
        let spec = ToolSpec {
            execution: Execution::Page,
            needs_approval: self.needs_approval,
            annotations: Annotations { idempotent: self.idempotent, ..Annotations::default() },
            ..ToolSpec::new("page", self.description, json!({ "type": "object" }))
        };
        let tool = RecordingTool::new(spec, |_, _| async { panic!("the browser runs it") });
        agent("helper", replies, vec![Arc::new(tool)]).0
    }
}

fn asks() -> Vec<Cue> {
    tool_call_reply(&[("a", "page", "{}")])
}

async fn open_test_chat(needs_approval: bool) -> TestChat {
    TestChat::open(Like { needs_approval, ..Like::default() }.agent(vec![asks(), text_reply("done")])).await
}

fn answers(answer: Answer) -> Submission {
    Submission::Answers { answers: vec![answer] }
}

fn started(by: &str) -> Submission {
    answers(Answer::Started { tool_call_id: "a".to_owned(), by: by.to_owned() })
}

fn output(output: Value) -> Submission {
    answers(Answer::Output { tool_call_id: "a".to_owned(), output })
}

#[tokio::test]
async fn page_call_is_claimed_by_one_page_and_answered_once() {
    let test = open_test_chat(true).await;
    test.ask("c1", message("m1")).await;
    assert_eq!(test.last("c1").await, "waiting: page ApprovalRequested");
    let early = test.send("c1", started("one")).await.err().unwrap();
    assert_eq!(early.code, ErrorCode::Invalid, "nobody has said yes");
    test.ask("c1", yes("a", None, None)).await;
    assert_eq!(test.last("c1").await, "waiting: page InputAvailable");
    test.ask("c1", started("one")).await;
    test.ask("c1", started("one")).await;
    let late = test.send("c1", started("two")).await.err().unwrap();
    assert_eq!(late.message, "Another page is already running this.");
    let odd = test.send("c1", started("no id")).await.err().unwrap();
    assert_eq!(odd.code, ErrorCode::Invalid);
    test.ask("c1", output(json!(1))).await;
    assert_eq!(test.last("c1").await, "done: page OutputAvailable");
    let again = test.send("c1", output(json!(2))).await.err().unwrap();
    assert_eq!(again.code, ErrorCode::Invalid, "it has its result");
    assert_snapshot!(test.log().await, @"c1 helper a ok [approval asked, approval approved ada, execution delegated in the user's browser]");
    assert_eq!(test.took().await, [true], "from the moment in which a page began");
}

#[tokio::test]
async fn superseded_page_call_may_have_run() {
    let test = open_test_chat(true).await;
    test.ask("c1", message("m1")).await;
    test.ask("c1", yes("a", None, None)).await;
    test.ask("c1", started("one")).await;
    test.ask("c1", message("m2")).await;
    assert_snapshot!(test.log().await, @"c1 helper a interrupted [approval asked, approval approved ada]");
}

/// Only the owner can claim and answer a call.
#[tokio::test]
async fn page_calls_of_other_users_are_not_found() {
    let test = open_test_chat(false).await;
    test.ask("c1", message("m1")).await;
    for submission in [started("two"), output(json!("forged"))] {
        let request = SendRequest {
            page_id: "p".to_owned(),
            block_id: None,
            agent_id: "helper".to_owned(),
            conversation_id: "c1".to_owned(),
            submission,
            shared_state: serde_json::Map::new(),
            url_query: serde_json::Map::new(),
            switches: serde_json::Map::new(),
            options: Default::default(),
        };
        assert_eq!(test.chat.send(&bob(), request).await.err().unwrap().code, ErrorCode::NotFound);
    }
    assert_eq!(test.last("c1").await, "waiting: page InputAvailable");
}

/// Crashes the server when it is about to hand the call to the page.
async fn died(before: Like, after: Like) -> TestChat {
    let test = TestChat::open(before.agent(vec![asks()])).await;
    if before.needs_approval {
        test.ask("c1", message("m1")).await;
        test.die_after("tool-input-available", "c1", yes("a", None, None)).await;
    } else {
        test.die_after("finish-step", "c1", message("m1")).await
    }
    test.reopen(after.agent(vec![text_reply("done"), text_reply("done")])).await
}

#[tokio::test]
async fn interrupted_idempotent_page_call_is_handed_over_again() {
    let check = async |needs_approval: bool| {
        let like = Like { needs_approval, idempotent: true, ..Like::default() };
        let test = died(like, like).await;
        assert_eq!(test.last("c1").await, "interrupted: page OutputError");
        test.ask("c1", Submission::Continue).await;
        assert_eq!(test.last("c1").await, "waiting: page InputAvailable", "the page is not asked, nor the user");
        test.ask("c1", started("one")).await;
        test.ask("c1", output(json!(1))).await;
        assert_eq!(test.last("c1").await, "done: page OutputAvailable");
        test.ask("c1", Submission::Continue).await;
        assert_eq!(test.last("c1").await, "done: page OutputAvailable", "once");
    };
    check(false).await;
    check(true).await;
}

#[tokio::test]
async fn interrupted_page_call_needs_approval_to_repeat() {
    let check = async |before: Like, after: Like| {
        let test = died(before, after).await;
        if before.idempotent {
            test.ask("c1", Submission::Continue).await;
        }
        assert_eq!(test.last("c1").await, "waiting: page ApprovalRequested");
        test.ask("c1", yes("a", None, None)).await;
        assert_eq!(test.last("c1").await, "waiting: page InputAvailable");
        test.ask("c1", output(json!(1))).await;
        assert_eq!(test.last("c1").await, "done: page OutputAvailable");
    };
    let (plain, idempotent) = (Like::default(), Like { idempotent: true, ..Like::default() });
    check(plain, plain).await;
    check(Like { needs_approval: true, ..plain }, Like { needs_approval: true, ..plain }).await;
    // The current declaration of the tool decides.
    check(idempotent, plain).await;
    check(idempotent, Like { needs_approval: true, ..idempotent }).await;
    check(idempotent, Like { description: "Pays twice.", ..idempotent }).await;
}

/// Each continuation hands the call over once and logs it once.
#[tokio::test]
async fn repeatedly_interrupted_page_call_is_handed_over_once_per_continuation() {
    let like = Like { idempotent: true, ..Like::default() };
    let test = died(like, like).await;
    test.die_after("tool-input-available", "c1", Submission::Continue).await;
    let test = test.reopen(like.agent(vec![text_reply("done")])).await;
    assert_eq!(test.last("c1").await, "interrupted: page OutputError");
    test.ask("c1", Submission::Continue).await;
    test.ask("c1", output(json!(1))).await;
    assert_eq!(test.last("c1").await, "done: page OutputAvailable");
    let log = test.log().await;
    let outcomes: Vec<_> = log.lines().map(|line| line.split(' ').nth(3).unwrap()).collect();
    assert_eq!(outcomes, ["interrupted", "interrupted", "ok"], "{log}");
}
