//! Approvals: policies, requests, decisions, and calls that the page runs.

use super::*;

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
