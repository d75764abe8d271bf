//! `GET /tools`.

use crate::server::{Server, answer};
use contract::Tool;
use serde_json::{Value, json};
use std::fmt::Write;

/// Returns the tools of a list, one per line, and then the warnings.
async fn seen(body: Value) -> String {
    let server = Server::with(move |_| answer(200, body.to_string())).await;
    let found = server.discover().await;
    let mut seen = String::new();
    for tool in &found.tools {
        let spec = tool.spec();
        let (approval, visible) = (if spec.needs_approval { " asks first" } else { "" }, tool.visible_parameters());
        writeln!(seen, "{}{approval} {visible:?} {:?} {}", spec.name, spec.description, spec.input_schema).unwrap();
        assert!(schemas::Schema::new(&spec.input_schema).is_ok());
    }
    found.warnings.into_iter().for_each(|warning| writeln!(seen, "{warning}").unwrap());
    seen
}

/// Checks why the only tool of a list is left out; an empty text means that it is not.
async fn check(tool: Value, expected: &str) {
    let seen = seen(json!({ "tools": [tool.clone()] })).await;
    let warning = match seen.strip_prefix("tool 1 is left out: ") {
        Some(warning) => warning.trim_end(),
        None if seen.starts_with(tool["name"].as_str().unwrap()) => "",
        None => seen.as_str(),
    };
    assert_eq!(warning, expected, "{tool}");
}

/// Checks why there is no list.
async fn check_refused(status: u16, body: impl Into<Vec<u8>>, expected: &str) {
    let body = body.into();
    let server = Server::with(move |_| answer(status, body.clone())).await;
    let Err(error) = server.agent().discover().await else { panic!("{expected} expected") };
    assert_eq!(error, format!("the list of tools: {expected}"));
}

#[tokio::test]
async fn tools_are_listed() {
    let send = json!({
        "name": "sendMessage",
        "description": "Sends.\nTo one person.",
        "parameters": {
            "type": "object",
            "properties": {
                "query": { "type": "string", "description": "To whom." },
                "type": { "type": "string", "description": "Which kind.", "enum": ["user", "channel"], "default": "user" },
                "tags": { "type": "array", "description": "Tags.", "items": { "type": "string", "description": "One." } },
            },
            "required": ["query"],
        },
        "confirmationRequired": true,
        "visibleParameters": ["query", "unknown"],
        "icon": "ignored",
    });
    insta::assert_snapshot!(seen(json!({ "tools": [send, { "name": "ping" }], "more": 1 })).await, @r#"
    sendMessage asks first Some(["query"]) "Sends.\nTo one person." {"type":"object","properties":{"query":{"type":"string","description":"To whom."},"type":{"type":"string","description":"Which kind.","enum":["user","channel"],"default":"user"},"tags":{"type":"array","description":"Tags.","items":{"type":"string","description":"One."}}},"required":["query"],"additionalProperties":false}
    ping None "" {"type":"object","properties":{},"additionalProperties":false}
    "#);
}

#[tokio::test]
async fn an_invalid_tool_is_left_out() {
    let good = json!({ "name": "good", "description": "Works." });
    let tools = json!([1, good, { "name": "a/b" }, good, { "name": "ask-user" }, { "description": "No name." }]);
    insta::assert_snapshot!(seen(json!({ "tools": tools })).await, @r#"
    good None "Works." {"type":"object","properties":{},"additionalProperties":false}
    tool 1 is left out: invalid type: integer `1`, expected a tool
    tool 3 is left out: `a/b`: the name must have 1 to 64 letters, digits, `_` or `-`
    tool 4 is left out: there is another tool named `good`
    tool 5 is left out: `ask-user`: a built-in tool has this name
    tool 6 is left out: missing field `name`
    "#);
}

#[tokio::test]
async fn reasons_for_leaving_out_a_tool_are_reported() {
    let named = "`: the name must have 1 to 64 letters, digits, `_` or `-`";
    for name in ["", "a b", "../x", "a?b", "é", "x\u{200b}"] {
        check(json!({ "name": name }), &format!("`{}{named}", name.replace('\u{200b}', ""))).await;
    }
    check(json!({ "name": "x".repeat(64) }), "").await;
    check(json!({ "name": "x".repeat(65) }), &format!("`{}{named}", "x".repeat(65))).await;
    check(json!({ "name": "x".repeat(9_000) }), &format!("`{}…{named}", "x".repeat(197))).await;
    let expected = "invalid type: string \"yes\", expected a boolean";
    check(json!({ "name": "x", "confirmationRequired": "yes" }), expected).await;
    let with = |properties: Value| json!({ "name": "x", "parameters": { "type": "object", "properties": properties } });
    for name in ["executionId", "chatId", "userId", "toolName"] {
        let expected = format!("`x`: the parameter `{name}` has a name that the contract reserves");
        check(with(json!({ name: { "type": "string" } })), &expected).await;
    }
    check(with(json!({ "p": { "type": "string", "description": "x".repeat(63 << 10) } })), "").await;
    let large = with(json!({ "p": { "type": "string", "description": "x".repeat(64 << 10) } }));
    check(large, "`x`: the parameters are larger than 64 KiB").await;
    let nested = (0..100).fold(json!({ "type": "string" }), |items, _| json!({ "type": "array", "items": items }));
    check(with(json!({ "p": nested })), "`x`: the parameters are nested too deeply").await;
    check(json!({ "name": "x", "parameters": "none" }), "`x`: the parameters are not an object").await;
}

#[tokio::test]
async fn names_may_have_a_prefix() {
    let tools = json!({ "tools": [{ "name": "read-file" }, { "name": "x".repeat(60) }] }).to_string();
    let server = Server::with(move |_| answer(200, tools.clone())).await;
    let settings = remote_agents::RemoteAgentSettings { prefix: Some("notes".to_owned()), ..server.settings() };
    let found = remote_agents::RemoteAgent::new(settings).unwrap().discover().await.unwrap();
    assert_eq!(found.tools[0].spec().name, "notes__read-file");
    let expected = format!("tool 2 is left out: `{}`: the name is too long with its prefix", "x".repeat(60));
    assert_eq!(found.warnings, [expected]);
    let _ = found.tools[0].call(json!({}), crate::server::caller()).await;
    assert_eq!(server.seen()[1].line, "POST /v1/tools/read-file");
}

#[tokio::test]
async fn descriptions_are_truncated_and_sanitized() {
    let long = format!("Finds.\u{200b}\u{e0049}\u{202e}\u{1b} {}", "é".repeat(50_000));
    let server =
        Server::with(move |_| answer(200, json!({ "tools": [{ "name": "x", "description": long }] }).to_string()));
    let tool = server.await.tool().await;
    assert_eq!(tool.spec().description, format!("Finds. {}…", "é".repeat(507)));
    assert!(tool.spec().description.len() <= 1024);
}

#[tokio::test]
async fn the_number_of_tools_is_limited() {
    let tools: Vec<_> = (0..10_000).map(|index| json!({ "name": format!("t{index}") })).collect();
    let server = Server::with(move |_| answer(200, json!({ "tools": tools }).to_string())).await;
    let found = server.discover().await;
    assert_eq!(found.tools.len(), 256);
    assert_eq!(found.warnings, ["9744 tools are left out: only the first 256 are used"]);
}

#[tokio::test]
async fn answers_without_a_list_are_errors() {
    let unreadable = "the answer has no valid list";
    check_refused(200, "", unreadable).await;
    check_refused(200, "<html>", unreadable).await;
    check_refused(200, "{\"tools\": [", unreadable).await;
    check_refused(200, "{}", unreadable).await;
    check_refused(200, "[]", unreadable).await;
    check_refused(200, r#"{"tools": {}}"#, unreadable).await;
    check_refused(200, "[".repeat(1 << 20), unreadable).await;
    check_refused(200, vec![0xff, 0xfe], unreadable).await;
    check_refused(401, "{}", "its server refused the credentials (status 401)").await;
    check_refused(404, "", "its server does not know it (status 404)").await;
    check_refused(500, "oops", "its server answered with the status 500").await;
    check_refused(200, r#"{"success":false,"error":{"message":"Bad key","code":401}}"#, "Bad key; code 401").await;
    check_refused(200, " ".repeat((4 << 20) + 1), "the response is larger than 4194304 bytes").await;
}

#[tokio::test]
async fn a_list_is_accepted_with_any_status() {
    let server = Server::with(|_| answer(500, r#"{"tools":[{"name":"x"}]}"#)).await;
    assert_eq!(server.discover().await.tools.len(), 1);
}
