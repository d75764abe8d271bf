//! Calls that run in a page: approved, handed over, claimed by one page and answered once.

use crate::house::{House, agent, bob, message, yes};
use agent::Agent;
use contract::testing::{Cue, RecordingTool, calls, says};
use contract::{Execution, Marks, ToolSpec};
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
            marks: Marks { idempotent: self.idempotent, ..Marks::default() },
            ..ToolSpec::new("page", self.description, json!({ "type": "object" }))
        };
        let tool = RecordingTool::new(spec, |_, _| async { panic!("the browser runs it") });
        agent("helper", replies, vec![Arc::new(tool)]).0
    }
}

fn asks() -> Vec<Cue> {
    calls(&[("a", "page", "{}")])
}

async fn house(needs_approval: bool) -> House {
    House::open(Like { needs_approval, ..Like::default() }.agent(vec![asks(), says("done")])).await
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
    let house = house(true).await;
    house.ask("c1", message("m1")).await;
    assert_eq!(house.last("c1").await, "waiting: page ApprovalRequested");
    let early = house.send("c1", started("one")).await.err().unwrap();
    assert_eq!(early.code, ErrorCode::Invalid, "nobody has said yes");
    house.ask("c1", yes("a", None, None)).await;
    assert_eq!(house.last("c1").await, "waiting: page InputAvailable");
    house.ask("c1", started("one")).await;
    house.ask("c1", started("one")).await;
    let late = house.send("c1", started("two")).await.err().unwrap();
    assert_eq!(late.message, "Another page is already running this.");
    let odd = house.send("c1", started("no id")).await.err().unwrap();
    assert_eq!(odd.code, ErrorCode::Invalid);
    house.ask("c1", output(json!(1))).await;
    assert_eq!(house.last("c1").await, "done: page OutputAvailable");
    let again = house.send("c1", output(json!(2))).await.err().unwrap();
    assert_eq!(again.code, ErrorCode::Invalid, "it has its result");
    assert_snapshot!(house.log().await, @"c1 helper a ok [approval asked, approval approved ada, execution delegated in the user's browser]");
    assert_eq!(house.took().await, [true], "from the moment in which a page began");
}

#[tokio::test]
async fn superseded_page_call_may_have_run() {
    let house = house(true).await;
    house.ask("c1", message("m1")).await;
    house.ask("c1", yes("a", None, None)).await;
    house.ask("c1", started("one")).await;
    house.ask("c1", message("m2")).await;
    assert_snapshot!(house.log().await, @"c1 helper a interrupted [approval asked, approval approved ada]");
}

/// Only the owner can claim and answer a call.
#[tokio::test]
async fn page_calls_of_other_users_are_not_found() {
    let house = house(false).await;
    house.ask("c1", message("m1")).await;
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
        };
        assert_eq!(house.chat.send(&bob(), request).await.err().unwrap().code, ErrorCode::NotFound);
    }
    assert_eq!(house.last("c1").await, "waiting: page InputAvailable");
}

/// Crashes the server when it is about to hand the call to the page.
async fn died(before: Like, after: Like) -> House {
    let house = House::open(before.agent(vec![asks()])).await;
    match before.needs_approval {
        true => {
            house.ask("c1", message("m1")).await;
            house.die_after("tool-input-available", "c1", yes("a", None, None)).await;
        }
        false => house.die_after("finish-step", "c1", message("m1")).await,
    }
    house.reopen(after.agent(vec![says("done"), says("done")])).await
}

#[tokio::test]
async fn interrupted_idempotent_page_call_is_handed_over_again() {
    let check = async |needs_approval: bool| {
        let like = Like { needs_approval, idempotent: true, ..Like::default() };
        let house = died(like, like).await;
        assert_eq!(house.last("c1").await, "interrupted: page OutputError");
        house.ask("c1", Submission::Continue).await;
        assert_eq!(house.last("c1").await, "waiting: page InputAvailable", "the page is not asked, nor the user");
        house.ask("c1", started("one")).await;
        house.ask("c1", output(json!(1))).await;
        assert_eq!(house.last("c1").await, "done: page OutputAvailable");
        house.ask("c1", Submission::Continue).await;
        assert_eq!(house.last("c1").await, "done: page OutputAvailable", "once");
    };
    check(false).await;
    check(true).await;
}

#[tokio::test]
async fn interrupted_page_call_needs_approval_to_repeat() {
    let check = async |before: Like, after: Like| {
        let house = died(before, after).await;
        if before.idempotent {
            house.ask("c1", Submission::Continue).await;
        }
        assert_eq!(house.last("c1").await, "waiting: page ApprovalRequested");
        house.ask("c1", yes("a", None, None)).await;
        assert_eq!(house.last("c1").await, "waiting: page InputAvailable");
        house.ask("c1", output(json!(1))).await;
        assert_eq!(house.last("c1").await, "done: page OutputAvailable");
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
    let house = died(like, like).await;
    house.die_after("tool-input-available", "c1", Submission::Continue).await;
    let house = house.reopen(like.agent(vec![says("done")])).await;
    assert_eq!(house.last("c1").await, "interrupted: page OutputError");
    house.ask("c1", Submission::Continue).await;
    house.ask("c1", output(json!(1))).await;
    assert_eq!(house.last("c1").await, "done: page OutputAvailable");
    let log = house.log().await;
    let outcomes: Vec<_> = log.lines().map(|line| line.split(' ').nth(3).unwrap()).collect();
    assert_eq!(outcomes, ["interrupted", "interrupted", "ok"], "{log}");
}
