//! Tool calls that wait for the user or the browser, and their answers.

use super::*;

#[tokio::test]
async fn approval_is_requested_recorded_and_applied_once() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let view = test.view().await;
    assert_eq!(view.messages[1].tools().next().unwrap().state, ToolState::ApprovalRequested);
    let forged = Answer::Output { tool_call_id: "a".to_owned(), output: json!("forged") };
    let refused = test.send(Submission::Answers { answers: vec![forged] }).await.err().unwrap();
    assert_eq!(refused.code, ErrorCode::Invalid);
    assert_snapshot!(told(&test.ask(approve("a", true)).await), @r#"
    start
    tool-output-available "a" {"did":{"n":1}}
    start-step
    text-start
    text-delta "done"
    text-end
    finish-step
    message-metadata
    finish "stop"
    "#);
    assert_eq!(test.send(approve("a", true)).await.err().unwrap().code, ErrorCode::Invalid);
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn model_reads_a_denial() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", "{}")]), text_reply("as you wish")]).await;
    test.ask(message("m1", "act")).await;
    let chunks = test.ask(approve("a", false)).await;
    assert!(told(&chunks).starts_with("start\ntool-output-denied \"a\"\nstart-step\n"));
    let sent = serde_json::to_string(&**test.model.requests()[1].messages.last().unwrap()).unwrap();
    assert!(sent.contains(r#"{"type":"denied","value":"not now"}"#), "{sent}");
    assert!(test.effects.lock().unwrap().is_empty());
}

#[tokio::test]
async fn new_message_closes_pending_calls() {
    let test =
        TestChat::open(vec![tool_call_reply(&[("a", "act", "{}"), ("b", "page", "{}")]), text_reply("moving on")])
            .await;
    test.ask(message("m1", "act")).await;
    test.ask(message("m2", "never mind")).await;
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "act"
    Assistant "waiting": act OutputDenied , page OutputError The user did not answer and sent a new message instead.
    User null: "never mind"
    Assistant "done": "moving on"
    "#);
    assert!(test.effects.lock().unwrap().is_empty());
}

/// This is not a denial: what the user wants is unknown.
#[tokio::test]
async fn undecided_call_is_not_reported_as_denied() {
    let both = tool_call_reply(&[("a", "act", "{}"), ("b", "act", "{}")]);
    let test = TestChat::open(vec![both, text_reply("moving on")]).await;
    test.ask(message("m1", "act")).await;
    test.ask(approve("b", false)).await;
    test.ask(message("m2", "never mind")).await;
    let view = test.view().await;
    let approvals: Vec<_> = view.messages[1].tools().map(|tool| json!(tool.approval)).collect();
    assert_eq!((&approvals[0]["approved"], &approvals[0]["passedOver"]), (&json!(false), &json!(true)));
    assert_eq!((&approvals[1]["reason"], &approvals[1]["passedOver"]), (&json!("not now"), &Value::Null));
    let read = serde_json::to_string(&test.model.requests()[1].messages).unwrap();
    let passed = r#""output":{"type":"error-text","value":"The user did not answer and sent a new message instead."}"#;
    assert!(read.contains(passed) && read.contains(r#"{"type":"denied","value":"not now"}"#), "{read}");
}

#[tokio::test]
async fn browser_output_resumes_the_run_and_joiners_get_the_whole_message() {
    let slow =
        text_reply("thank you").into_iter().flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue]).collect();
    let test = TestChat::open(vec![tool_call_reply(&[("a", "page", "{}")]), slow]).await;
    test.ask(message("m1", "write")).await;
    let output = Answer::Output { tool_call_id: "a".to_owned(), output: json!({ "ok": true }) };
    let sent = test.send(Submission::Answers { answers: vec![output] }).await.unwrap();
    let joined = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let (news, whole) = futures::join!(read(sent.frames), read(joined));
    assert!(told(&news).starts_with("start\nstart-step\n"), "{}", told(&news));
    let mut reducer = Reducer::new(UiMessage::new("", Role::Assistant));
    for chunk in &whole {
        reducer.apply(chunk).unwrap();
    }
    let stored = test.view().await.messages.pop().unwrap();
    assert_eq!(reducer.into_message().text(), stored.text());
    assert!(told(&whole).contains(r#"tool-output-available "a" {"ok":true}"#));
}

#[tokio::test]
async fn joiners_are_not_asked_about_a_decided_call() {
    let slow = text_reply("done").into_iter().flat_map(|cue| [Cue::Pause(Duration::from_millis(30)), cue]).collect();
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", "{}")]), slow]).await;
    test.ask(message("m1", "act")).await;
    let sent = test.send(approve("a", true)).await.unwrap();
    let joined = test.chat.watch(&ada(), "c1", None).await.unwrap().unwrap();
    let (_, whole) = futures::join!(read(sent.frames), read(joined));
    let mut reducer = Reducer::new(UiMessage::new("", Role::Assistant));
    let mut states = Vec::new();
    for chunk in &whole {
        reducer.apply(chunk).unwrap();
        states.extend(reducer.message().tools().map(|tool| tool.state));
        states.dedup();
    }
    assert_eq!(states, [ToolState::InputAvailable, ToolState::ApprovalResponded, ToolState::OutputAvailable]);
}

#[tokio::test]
async fn decision_on_another_request_is_rejected() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let open = test.view().await.messages[1].tools().next().unwrap().approval.clone().unwrap().id;
    let decide = |approval_id: &str| {
        let (tool_call_id, approval_id) = ("a".to_owned(), Some(approval_id.to_owned()));
        let answer = Answer::Approval {
            tool_call_id,
            approval_id,
            approved: true,
            input_hash: None,
            reason: None,
            input: None,
            remember: None,
        };
        Submission::Answers { answers: vec![answer] }
    };
    let refused = test.send(decide("an earlier one")).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/answers/0/approvalId")));
    assert!(test.effects.lock().unwrap().is_empty());
    test.ask(decide(&open)).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn approval_of_other_arguments_than_the_stored_ones_is_refused() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let decide = |shown: Value, approved: bool| Submission::Answers {
        answers: vec![Answer::Approval {
            tool_call_id: "a".to_owned(),
            approval_id: None,
            approved,
            input_hash: Some(wire::arguments_hash(&shown)),
            reason: None,
            input: None,
            remember: None,
        }],
    };
    let refused = test.send(decide(json!({ "n": 2 }), true)).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Conflict, Some("/answers/0/inputHash")));
    assert_eq!(refused.code.status(), 409);
    assert!(test.effects.lock().unwrap().is_empty());
    // The call still waits, and can be decided on with its stored arguments.
    test.ask(decide(json!({ "n": 1 }), true)).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
}

#[tokio::test]
async fn edited_arguments_are_run_and_recorded() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)]), text_reply("done")]).await;
    test.ask(message("m1", "act")).await;
    let changed = |input: Value| {
        let (tool_call_id, input) = ("a".to_owned(), Some(input));
        Submission::Answers {
            answers: vec![Answer::Approval {
                tool_call_id,
                approval_id: None,
                approved: true,
                input_hash: None,
                reason: None,
                input,
                remember: None,
            }],
        }
    };
    let refused = test.send(changed(json!([1]))).await.err().unwrap();
    assert_eq!((refused.code, refused.path.as_deref()), (ErrorCode::Invalid, Some("/answers/0/input")));
    test.ask(changed(json!({ "n": 7 }))).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 7 })]);
    // The record shows what ran, to the user and to the model.
    let view = test.view().await;
    assert_eq!(view.messages[1].tools().next().unwrap().input, Some(json!({ "n": 7 })));
    let asked = serde_json::to_string(&test.model.requests()[1].messages).unwrap();
    assert!(asked.contains(r#""input":{"n":7}"#), "{asked}");
}

#[tokio::test]
async fn pending_approval_survives_a_restart() {
    let test = TestChat::open(vec![tool_call_reply(&[("a", "act", r#"{"n":1}"#)])]).await;
    test.ask(message("m1", "act")).await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("done")]).await;
    test.ask(approve("a", true)).await;
    assert_eq!(*test.effects.lock().unwrap(), [json!({ "n": 1 })]);
    assert_snapshot!(kept(&test.view().await), @r#"
    User null: "act"
    Assistant "done": act OutputAvailable , "done"
    "#);
}

/// A call that the provider makes after an approval waits like any other; the next request contains
/// the provider's item and the decision.
#[tokio::test]
async fn provider_approval_survives_a_restart() {
    let metadata = serde_json::from_value(json!({ "p": { "approvalRequestId": "r" } })).unwrap();
    let (id, name, input) = ("r".to_owned(), "mcp.add".to_owned(), r#"{"a":1}"#.to_owned());
    let asks = Part::ToolCall { id, name, input, provider_executed: false, metadata };
    let item = Part::ProviderItem { provider: "p".to_owned(), item: json!({ "id": "r" }), shown_as: None };
    let finish = tool_call_reply(&[]).pop().unwrap();
    let test = TestChat::open(vec![vec![Cue::Part(asks), Cue::Part(item), finish]]).await;
    test.ask(message("m1", "add")).await;
    let test = TestChat::reopen(test.folder.clone(), vec![text_reply("2")]).await;
    let chunks = test.ask(approve("r", true)).await;
    assert!(told(&chunks).starts_with("start\ntool-output-available \"r\" \"The user approved this call.\"\n"));
    let sent = &test.model.requests()[0].messages;
    assert_snapshot!(serde_json::to_string(&sent[1..].iter().map(|message| &**message).collect::<Vec<_>>()).unwrap(), @r##"[{"role":"assistant","content":[{"type":"tool-call","id":"r","name":"mcp.add","input":{"a":1},"metadata":{"p":{"approvalRequestId":"r"}}},{"type":"provider-item","provider":"p","item":{"id":"r"}}]},{"role":"tool","content":[{"callId":"r","name":"mcp.add","output":{"type":"text","value":"The user approved this call."}}]}]"##);
}
