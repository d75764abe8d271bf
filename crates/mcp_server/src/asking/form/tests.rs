use super::*;
use insta::assert_snapshot;
use wire::UiMessage;

const URL: &str = "http://a.test/desk?conversation=c";

fn tool(part: Value) -> ToolPart {
    let message: UiMessage =
        serde_json::from_value(json!({ "id": "m", "role": "assistant", "parts": [part] })).unwrap();
    message.tools().next().unwrap().clone()
}

/// Returns a call of `send` that needs an approval.
fn approval_of(input: &Value) -> ToolPart {
    let approval = json!({ "id": "p" });
    tool(
        json!({ "type": "tool-send", "toolCallId": "t", "state": "approval-requested", "input": input, "approval": approval }),
    )
}

fn question_of(input: &Value) -> ToolPart {
    tool(json!({ "type": "tool-ask-user", "toolCallId": "u", "state": "input-available", "input": input }))
}

#[test]
fn approval_shows_what_will_run() {
    let check = |tool: &ToolPart| {
        let Form { message, schema } = form(tool, URL).unwrap();
        format!("{message}\n{}", schema["properties"]["decision"]["enum"])
    };
    assert_snapshot!(check(&approval_of(&json!({ "to": "Ada\u{202e}", "text": "a\n\nThe arguments:" }))), @r#"
    The agent asks for your approval to run “send”.

    The arguments:
    {
      "to": "Ada[U+202E]",
      "text": "a\n\nThe arguments:"
    }
    ["approve","deny"]
    "#);
    let terms = json!({ "cutOff": "open", "exposed": { "private": "find", "untrusted": "web" } });
    let approval = json!({ "id": "p", "terms": terms });
    let waiting = json!({ "_subAgent": true, "waiting": { "toolName": "pay", "input": { "euros": 5 } } });
    let below = json!({
        "type": "tool-clerk", "toolCallId": "t", "state": "approval-requested", "input": {}, "approval": approval, "output": waiting,
    });
    assert_snapshot!(check(&tool(below)), @r#"
    The agent asks for your approval to run “pay (for clerk)”.

    The call was interrupted while it ran, and may have had its effect already.

    In this conversation, the agent has read private data and text from outside, which may contain instructions.

    The arguments:
    {
      "euros": 5
    }
    ["approve","deny"]
    "#);
    let long = check(&approval_of(&json!({ "text": "x".repeat(MAX_SHOWN) })));
    let end = long.rsplit("xx").next().unwrap().trim_start();
    assert_snapshot!(end, @r#"
    16 more characters of the arguments are not shown, so the call cannot be approved here. Read all of them and approve the call in the conversation: http://a.test/desk?conversation=c
    ["deny"]
    "#);
}

/// Returns the answer that a result of the protocol gives.
fn answered(tool: &ToolPart, result: &Value) -> Value {
    serde_json::to_value(answer(tool, &Reply::read(Some(result)))).unwrap()
}

#[test]
fn replies_decide_approvals() {
    let asked = approval_of(&json!({ "to": "Ada" }));
    let check = |tool: &ToolPart, result: Value, expected: Option<(bool, Option<&str>)>| {
        let found = answered(tool, &result);
        let found = found["approved"].as_bool().map(|approved| (approved, found["reason"].as_str()));
        assert_eq!(found, expected, "{result}");
    };
    let accepted = |content: Value| json!({ "action": "accept", "content": content });
    check(&asked, accepted(json!({ "decision": "approve" })), Some((true, None)));
    check(&asked, accepted(json!({ "decision": "deny", "reason": " not her " })), Some((false, Some("not her"))));
    check(&asked, accepted(json!({ "decision": "deny", "reason": "" })), Some((false, None)));
    check(&asked, json!({ "action": "decline" }), Some((false, None)));
    for nothing in [
        accepted(json!({})),
        accepted(json!({ "decision": true })),
        accepted(json!({ "decision": "Approve" })),
        json!({ "action": "accept", "content": null }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": "approve" }),
        json!({ "action": "cancel", "content": { "decision": "approve" } }),
        json!({ "action": "agree", "content": { "decision": "approve" } }),
        json!({ "decision": "approve" }),
        json!(null),
    ] {
        check(&asked, nothing, None);
    }
    assert_eq!(answer(&asked, &Reply::read(None)), None);
    let long = approval_of(&json!({ "text": "x".repeat(MAX_SHOWN) }));
    check(&long, accepted(json!({ "decision": "approve" })), None);
    check(&long, accepted(json!({ "decision": "deny" })), Some((false, None)));
    let named = answered(&asked, &accepted(json!({ "decision": "approve" })));
    let hash = arguments_hash(&json!({ "to": "Ada" }));
    assert_eq!(
        (&named["toolCallId"], &named["approvalId"], &named["inputHash"]),
        (&json!("t"), &json!("p"), &json!(hash))
    );
}

/// Only a sub-agent says which call waits; the output of another tool names none.
#[test]
fn outputs_of_tools_name_no_other_call() {
    let approval = json!({ "id": "p", "terms": { "cutOff": "open" } });
    let output = json!({ "waiting": { "toolName": "find", "input": {} } });
    let asked = tool(json!({
        "type": "tool-send", "toolCallId": "t", "state": "approval-requested", "input": {}, "approval": approval, "output": output,
    }));
    let Form { message, .. } = form(&asked, URL).unwrap();
    assert!(message.starts_with("The agent asks for your approval to run “send”."), "{message}");
}

#[test]
fn key_names_the_arguments() {
    let of = |input: Value| OpenCall::of(&approval_of(&input)).key();
    assert_eq!(of(json!({ "to": "Ada", "seats": 2 })), of(json!({ "seats": 2, "to": "Ada" })));
    assert_ne!(of(json!({ "to": "Ada" })), of(json!({ "to": "Eve" })));
    assert_ne!(of(json!({})), OpenCall::of(&question_of(&json!({}))).key());
}

#[test]
fn questions_are_forms() {
    let check = |input: Value| match form(&question_of(&input), URL) {
        Some(Form { message, schema }) => format!("{message}\n{} {}", schema["properties"], schema["required"]),
        None => "none".to_owned(),
    };
    assert_snapshot!(check(json!({ "question": "Which \u{202e}year?", "context": "Of birth." })), @r#"
    Which [U+202E]year?

    Of birth.
    {"text":{"type":"string","title":"Answer","maxLength":10000}} ["text"]
    "#);
    assert_snapshot!(check(json!({ "question": "Which?", "options": ["Tea", "Coffee"] })), @r#"
    Which?
    {"option":{"type":"string","title":"Answer","enum":["Tea","Coffee"]},"text":{"type":"string","title":"Another answer","maxLength":10000}} []
    "#);
    let fields = json!([
        { "key": "name", "label": "Name", "type": "text", "required": true },
        { "key": "seats", "label": "Seats", "type": "number" },
        { "key": "gift", "label": "A gift", "type": "boolean" },
        { "key": "size", "label": "Size", "type": "choice", "options": ["S", "L"] },
        { "key": "day", "label": "Day", "type": "date" },
    ]);
    assert_snapshot!(check(json!({ "question": "Where?", "fields": fields })), @r#"
    Where?
    {"name":{"type":"string","title":"Name","maxLength":10000},"seats":{"type":"number","title":"Seats"},"gift":{"type":"boolean","title":"A gift"},"size":{"type":"string","title":"Size","enum":["S","L"]},"day":{"type":"string","title":"Day","format":"date"}} ["name"]
    "#);
    let option = json!([{ "key": "option", "label": "Option", "type": "text" }]);
    assert_eq!(check(json!({ "question": "Which?", "options": ["Tea"], "fields": option })), "none");
    assert_eq!(check(json!({ "question": "Which?", "options": ["Te\u{202e}a"] })), "none");
    let of_page = tool(json!({ "type": "tool-locate", "toolCallId": "l", "state": "input-available", "input": {} }));
    assert_eq!(form(&of_page, URL), None);
}

#[test]
fn replies_answer_questions() {
    let check = |input: Value, result: Value, expected: Value| {
        assert_eq!(answered(&question_of(&input), &result)["output"], expected, "{result}");
    };
    let accepted = |content: Value| json!({ "action": "accept", "content": content });
    let choice = || json!({ "question": "Which?", "options": ["Tea", "Coffee"] });
    check(choice(), accepted(json!({ "option": "Coffee" })), json!({ "option": "Coffee" }));
    check(choice(), accepted(json!({ "text": "Water" })), json!({ "text": "Water" }));
    check(choice(), accepted(json!({ "option": "Water" })), json!(null));
    check(choice(), json!({ "action": "decline" }), json!(null));
    check(choice(), json!({ "action": "cancel" }), json!(null));
    let fields = json!([
        { "key": "name", "label": "Name", "type": "text", "required": true },
        { "key": "seats", "label": "Seats", "type": "number" },
        { "key": "gift", "label": "A gift", "type": "boolean" },
    ]);
    let form = || json!({ "question": "Where?", "fields": fields });
    check(
        form(),
        accepted(json!({ "name": "Ada", "seats": 2, "gift": true, "more": 1 })),
        json!({ "fields": { "name": "Ada", "seats": 2, "gift": true } }),
    );
    let long = "x".repeat(MAX_TEXT + 1);
    check(
        form(),
        accepted(json!({ "name": long })),
        json!({ "fields": { "name": "x".repeat(MAX_TEXT), "gift": false } }),
    );
    check(form(), accepted(json!({ "seats": 2 })), json!(null));
    check(form(), accepted(json!({ "name": "Ada", "seats": "two" })), json!(null));
}
