//! Invocations whose callers keep the state while calls wait for decisions.

use super::{TestChat, caller, open, with_tools};
use chat::{SuspendableInvocation, SuspendableRequest, decide_suspended, lapse_suspended};
use contract::testing::{text_reply, tool_call_reply};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use wire::EndReason;
use wire::invoke::InvocationStatus;

async fn part(test: &TestChat, more: Value, from: Option<String>) -> SuspendableInvocation {
    let request = serde_json::from_value(with_tools(more)).unwrap();
    let request = SuspendableRequest { request, key: "key".to_owned(), from, causes: Vec::new() };
    test.chat.invoke_suspendable(&caller("ada"), request, CancellationToken::new()).await.unwrap()
}

/// Asks for two payments, and returns what the model reads of them with the number of payments.
async fn decided(decide: impl Fn(&str) -> String) -> (String, usize) {
    let calls = tool_call_reply(&[("p", "pay", "{}"), ("q", "pay", r#"{"n":2}"#)]);
    let test = open(vec![calls, text_reply("Finished.")]).await;
    let SuspendableInvocation { counted, suspended } = part(&test, json!({}), None).await;
    assert_eq!((counted.invocation.status, counted.usage.requests), (InvocationStatus::Waiting, 1));
    let suspended = suspended.unwrap();
    let asked: Vec<_> = suspended.questions.iter().map(|question| question.call_id.as_str()).collect();
    assert_eq!((asked, test.paid.lock().unwrap().len()), (vec!["p", "q"], 0));
    // The first part has ended; nothing of it runs or is found to be abandoned.
    let first = test.chat.invocation(&caller("ada"), &counted.invocation.run_id).await.unwrap();
    assert_eq!((first.status, first.reason), (InvocationStatus::Succeeded, Some(EndReason::Waiting)));
    let SuspendableInvocation { counted, suspended } = part(&test, json!({}), Some(decide(&suspended.state))).await;
    assert_eq!((suspended, counted.usage.requests), (None, 1), "each part counts what it has used");
    assert_eq!(counted.invocation.output, json!("Finished."));
    let paid = test.paid.lock().unwrap().len();
    (format!("{:?}", test.model.requests()[1].messages.last().unwrap()), paid)
}

#[tokio::test]
async fn invocation_goes_on_with_the_decisions() {
    let (read, paid) = decided(|state| {
        let state = decide_suspended(state, "p", true, None).unwrap().unwrap();
        assert!(state.is_open, "the other call still waits");
        assert_eq!(decide_suspended(&state.state, "p", true, None).unwrap(), None, "it is decided");
        assert_eq!(decide_suspended(&state.state, "x", true, None).unwrap(), None, "there is no such call");
        let state = decide_suspended(&state.state, "q", false, Some("Too much.".to_owned())).unwrap().unwrap();
        assert!(!state.is_open);
        state.state
    })
    .await;
    assert!(paid == 1 && read.contains("Too much."), "{paid} {read}");
}

#[tokio::test]
async fn calls_on_which_nobody_decides_are_denied() {
    let (read, paid) = decided(|state| lapse_suspended(state, &[]).unwrap().state).await;
    assert!(paid == 0 && read.contains("Nobody answered in time."), "{paid} {read}");
    assert!(decide_suspended("{", "p", true, None).is_err(), "a damaged state");
}

#[tokio::test]
async fn calls_whose_questions_have_not_lapsed_still_wait() {
    let (read, paid) = decided(|state| {
        let lapsed = lapse_suspended(state, &["q".to_owned()]).unwrap();
        assert!(lapsed.is_open, "the other call still waits");
        assert_eq!(decide_suspended(&lapsed.state, "p", true, None).unwrap(), None, "it is denied");
        decide_suspended(&lapsed.state, "q", true, None).unwrap().unwrap().state
    })
    .await;
    assert!(paid == 1 && read.contains("Nobody answered in time."), "{paid} {read}");
}

#[tokio::test]
async fn limits_count_over_the_parts() {
    let test = open(vec![tool_call_reply(&[("p", "pay", "{}")]), text_reply("Finished.")]).await;
    let limits = json!({ "limits": { "request_limit": 1 } });
    let suspended = part(&test, limits.clone(), None).await.suspended.unwrap();
    let state = decide_suspended(&suspended.state, "p", true, None).unwrap().unwrap().state;
    let SuspendableInvocation { counted, .. } = part(&test, limits, Some(state)).await;
    assert_eq!(counted.invocation.reason, Some(EndReason::Requests), "{counted:?}");
}
