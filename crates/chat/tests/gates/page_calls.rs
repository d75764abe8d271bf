//! Calls that a page runs: asked for, handed over, begun by one page and answered once.

use crate::house::{House, agent, bob, message, yes};
use contract::testing::{RecordingTool, calls, says};
use contract::{Execution, ToolSpec};
use insta::assert_snapshot;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::ErrorCode;
use wire::api::{Answer, SendRequest, Submission};

async fn house(needs_approval: bool) -> House {
    let spec = ToolSpec::new("page", "", json!({ "type": "object" }));
    let spec = ToolSpec { execution: Execution::Page, needs_approval, ..spec };
    let tool = RecordingTool::new(spec, |_, _| async { panic!("the browser runs it") });
    House::open(agent("helper", vec![calls(&[("a", "page", "{}")]), says("done")], vec![Arc::new(tool)]).0).await
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
async fn a_call_is_handed_over_begun_by_one_page_and_answered_once() {
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
    assert_eq!(late.message, "Another page runs this already.");
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
async fn what_was_handed_over_and_passed_over_may_have_run() {
    let house = house(true).await;
    house.ask("c1", message("m1")).await;
    house.ask("c1", yes("a", None, None)).await;
    house.ask("c1", started("one")).await;
    house.ask("c1", message("m2")).await;
    assert_snapshot!(house.log().await, @"c1 helper a interrupted [approval asked, approval approved ada]");
}

/// A6: a call is its user's to answer, and to begin.
#[tokio::test]
async fn nobody_else_finds_the_call() {
    let house = house(false).await;
    house.ask("c1", message("m1")).await;
    for submission in [started("two"), output(json!("forged"))] {
        let request = SendRequest {
            page_id: "p".to_owned(),
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
