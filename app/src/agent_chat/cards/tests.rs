//! Tests of what tool cards show.

use super::approval_card::ApprovalQuestion;
use super::labels::sub_agent_request;
use super::provider_output::output_card;
use super::tool_card::card;
use crate::agent_chat::message::attachment::fixed_part;
use crate::prelude::*;
use crate::ui::image_origins::ImageOrigins;
use crate::ui::node::Node;
use serde_json::{Value, json};
use wire::page::ResultDisplay;
use wire::{ProviderOutput, ToolPart, UiMessage, UiPart};

fn part(part: Value) -> UiPart {
    let message = json!({ "id": "m", "role": "assistant", "parts": [part] });
    serde_json::from_value::<UiMessage>(message).unwrap().parts.remove(0)
}

fn tool(fields: Value) -> ToolPart {
    let mut call = json!({ "type": "tool-look_up", "toolCallId": "c", "state": "output-available", "input": {} });
    call.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let UiPart::Tool(tool) = part(call) else { panic!("not a call") };
    *tool
}

/// Renders a node as text: texts separated by bars, cards as their state followed by brackets,
/// other elements with their attributes.
fn outline(node: &Node) -> String {
    let Node::Element { tag, attributes, children } = node else {
        let Node::Text(text) = node else { unreachable!() };
        return text.clone();
    };
    let inner: Vec<_> = children.iter().map(outline).filter(|inner| !inner.is_empty()).collect();
    let inner = inner.join("|");
    let said = |(name, value): &(&str, String)| {
        let value = if value.len() > 40 { "…" } else { value };
        (!["class", "dir", "target", "rel"].contains(name)).then(|| format!(" {name}={value}"))
    };
    match *tag {
        "svg" => String::new(),
        "details" => {
            let open = if attributes.iter().any(|(name, _)| *name == "open") { " open" } else { "" };
            let state = attributes.get(1).map_or("more", |(_, state)| state.as_str());
            format!("{state}{open}[{inner}]")
        }
        "a" | "audio" | "iframe" | "img" | "progress" => {
            format!("<{tag}{}>{inner}", attributes.iter().filter_map(said).collect::<String>())
        }
        _ => inner,
    }
}

fn check(fields: Value, expected: &str) {
    assert_eq!(outline(&card(&tool(fields.clone()), ResultDisplay::Summary).node()), expected, "{fields}");
}

#[test]
fn a_running_call_shows_its_progress() {
    let progress = |output: Value| json!({ "preliminary": true, "output": output });
    check(
        progress(json!({ "progress": 3, "total": 10, "message": "Reading" })),
        "running[Look up|Reading|<progress aria-label=Progress max=10 value=3>|Running…|So far|Reading]",
    );
    check(
        progress(json!({ "progress": 0.5, "total": 2 })),
        "running[Look up|0.5 of 2|<progress aria-label=Progress max=2 value=0.5>|Running…|So far|0.5 of 2]",
    );
    check(progress(json!({ "progress": 3 })), "running[Look up|Running…|Nothing to show yet.]");
    check(progress(json!("a part")), "running[Look up|Running…|Result|a part]");
    // The same object as a final output is a result.
    check(json!({ "output": { "progress": 3 } }), "done[Look up|Done|Result|Progress|3]");
}

#[test]
fn results_follow_the_configured_display() {
    let call = tool(json!({ "output": { "seats": 3 } }));
    let check = |results: ResultDisplay, expected: &str| assert_eq!(outline(&card(&call, results).node()), expected);
    check(ResultDisplay::Summary, "done[Look up|Done|Result|Seats|3]");
    check(ResultDisplay::Readable, "done open[Look up|Done|Result|Seats|3]");
    check(ResultDisplay::Full, "done open[Look up|Done|Result|{\n  \"seats\": 3\n}]");
    check(ResultDisplay::None, "done[Look up|Done|Nothing to show.]");
}

#[test]
fn mcp_content_is_shown_by_type() {
    let content = |blocks: Value| json!({ "output": { "content": blocks } });
    let text = json!({ "type": "text", "text": "<b>" });
    check(content(json!([text])), "done[Look up|Done|Result|<b>]");
    check(
        content(json!([text, { "type": "image", "mimeType": "image/png", "data": "aGk=" }])),
        "done open[Look up|Done|Result|<b>|Picture|Enlarge|<img src=data:image/png;base64,aGk= alt=Picture from Look up>]",
    );
    check(
        content(json!([{ "type": "audio", "mimeType": "audio/wav", "data": "aGk=" }])),
        "done open[Look up|Done|Result|<audio controls= aria-label=Sound from Look up src=data:audio/wav;base64,aGk=>]",
    );
    for kind in ["image/svg+xml", "text/html", "image/png,<svg>", ""] {
        check(
            content(json!([{ "type": "image", "mimeType": kind, "data": "aGk=" }])),
            &format!("done open[Look up|Done|Result|A file that cannot be shown here ({kind})]"),
        );
    }
    // A value that only resembles MCP content.
    check(content(json!(["a"])), "done[Look up|Done|Result|Content|a]");
    check(
        json!({ "output": { "content": [text], "more": 1 } }),
        "done[Look up|Done|Result|Content|Type|text|Text|<b>|More|1]",
    );
}

#[test]
fn remote_tool_output_is_sandboxed_or_linked() {
    let html = "<script>alert(1)</script>";
    check(
        json!({ "output": { "type": "html", "html": html } }),
        "done open[Look up|Done|Result|HTML|Enlarge|<iframe sandbox= referrerpolicy=no-referrer title=HTML from Look up srcdoc=…>]",
    );
    let picture = json!({ "output": { "type": "media", "media": [
        { "type": "image", "url": "https://a.example/oak.png", "description": "An oak" },
    ] } });
    Owner::new().with(|| {
        provide_context(ImageOrigins(["https://a.example".to_owned()].into()));
        check(
            picture.clone(),
            "done[Look up|Done|Result|Picture|Enlarge\
             |<img alt=An oak loading=lazy referrerpolicy=no-referrer src=https://a.example/oak.png>]",
        );
    });
    // From a host that the config does not allow, the picture is a link.
    check(
        picture,
        "done open[Look up|Done|Result|<a href=https://a.example/oak.png referrerpolicy=no-referrer>An oak|a.example]",
    );
    let media = json!([
        { "type": "image", "url": "http://a.example/elm.png" },
        { "type": "document", "url": "https://a.example/x/report.pdf", "description": "The report" },
        { "type": "link", "url": "https://a.example/x/" },
        { "type": "link", "url": "javascript:alert(1)" },
    ]);
    check(
        json!({ "output": { "type": "mixed", "text": "Two files", "media": media, "omitted": 2, "data": { "seats": 3 } } }),
        "done open[Look up|Done|Result|Two files|<a href=http://a.example/elm.png referrerpolicy=no-referrer>elm.png|a.example\
         |<a href=https://a.example/x/report.pdf referrerpolicy=no-referrer>The report|a.example\
         |<a href=https://a.example/x/ referrerpolicy=no-referrer>x|a.example|javascript:alert(1)|2 more not shown|Seats|3]",
    );
    // Results of other tools that happen to have a `type`.
    check(json!({ "output": { "type": "html" } }), "done[Look up|Done|Result|Type|html]");
    check(
        json!({ "output": { "type": "html", "html": "x", "id": 1 } }),
        "done[Look up|Done|Result|Type|html|Html|x|Id|1]",
    );
}

fn agent(fields: Value) -> Value {
    let mut output = json!({ "_subAgent": true, "agentId": "market_research" });
    output.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    output
}

fn working(fields: Value) -> Value {
    json!({ "preliminary": true, "input": { "task": "Compare prices" }, "output": agent(fields) })
}

#[test]
fn sub_agent_cards_show_activity_steps_and_answer() {
    let search = json!({ "type": "tool", "id": "1", "name": "search_web", "state": "done", "input": { "query": "prices" },
        "output": 7, "durationMs": 1_250 });
    let read = json!({ "type": "tool", "id": "2", "name": "read_page", "state": "running",
        "output": { "progress": 1, "total": 2 } });
    check(
        working(json!({ "state": "running", "steps": [], "text": "" })),
        "running[Market research|Thinking…|Running…|Task|Compare prices|Nothing to show yet.]",
    );
    check(
        working(json!({ "state": "running", "steps": [search, read], "text": "" })),
        "running[Market research|Read page|Running…|Task|Compare prices|Steps\
         |done[Search web|prices|Done, |1.2 s|Input|Query|prices|Result|7]|running[Read page|1 of 2|<progress aria-label=Progress max=2 value=1>|Running…|Nothing to show yet.]]",
    );
    check(
        working(
            json!({ "state": "running", "steps": [{ "type": "text", "text": "*First*" }, search], "text": "So **far" }),
        ),
        "running[Market research|Writing…|Running…|Task|Compare prices|Steps|First\
         |done[Search web|prices|Done, |1.2 s|Input|Query|prices|Result|7]|Answer|So |far]",
    );
    let done =
        agent(json!({ "state": "done", "steps": [], "text": "*Cheap*.", "durationMs": 83_000, "costUsd": 0.01234 }));
    check(
        json!({ "input": { "task": "Compare prices" }, "output": done }),
        "done[Market research|Compare prices|Done|Task|Compare prices|Answer|Cheap|.|1 min 23 s · $0.0123]",
    );
    let failed = json!({ "type": "tool", "id": "1", "name": "search_web", "state": "failed", "error": "No network." });
    check(
        json!({ "output": agent(json!({ "state": "limit", "steps": [failed], "text": "", "durationMs": 12_345 })) }),
        "denied[Market research|Stopped at a limit|Steps|failed[Search web|Failed|Error details|No network.]|12 s]",
    );
}

#[test]
fn nested_sub_agents_are_shown_five_levels_deep() {
    let nested = (0..7).fold(agent(json!({ "state": "running", "steps": [], "text": "Hi" })), |inner, _| {
        let step = json!({ "type": "tool", "id": "1", "name": "ask", "state": "running", "output": inner });
        agent(json!({ "state": "running", "steps": [step], "text": "" }))
    });
    let seen = outline(&card(&tool(json!({ "preliminary": true, "output": nested })), ResultDisplay::Summary).node());
    assert_eq!(seen.matches("running[").count(), 6, "{seen}");
    assert!(seen.starts_with("running[Market research|Ask › Ask › Ask › Ask › Ask|Running…|"), "{seen}");
    assert!(seen.contains("|…]") && !seen.contains("Hi"), "{seen}");
}

#[test]
fn a_decision_is_about_what_the_agent_wants_to_run() {
    let waiting = json!({ "toolName": "delete_article", "input": { "title": "Refunds" } });
    let call = tool(json!({ "state": "approval-requested", "input": { "task": "Tidy up" }, "approval": { "id": "a" },
        "output": agent(json!({ "state": "waiting", "steps": [], "text": "", "waiting": waiting })) }));
    assert_eq!(sub_agent_request(&call).as_deref(), Some("The agent Market research wants to run “Delete article”"));
    let ask = ApprovalQuestion::for_call(&call);
    assert_eq!(ask.input, Some(json!({ "title": "Refunds" })));
    let mut next = call;
    next.approval.as_mut().unwrap().id = "b".to_owned();
    assert!(ask != ApprovalQuestion::for_call(&next), "the next question is another one");
    assert_eq!(
        ApprovalQuestion::for_call(&tool(json!({ "state": "approval-requested", "input": { "a": 1 } }))).input,
        Some(json!({ "a": 1 }))
    );
}

#[test]
fn approval_terms_control_what_the_card_shows() {
    let check = |terms: Value, input: Value, rest: Option<Value>, may_remember: bool| {
        let approval = json!({ "id": "a", "terms": terms });
        let asked = json!({ "state": "approval-requested", "input": { "to": "a", "text": "b" }, "approval": approval });
        let ask = ApprovalQuestion::for_call(&tool(asked));
        assert_eq!((ask.input, ask.hidden_input, ask.may_remember), (Some(input), rest, may_remember), "{terms}");
    };
    let all = || json!({ "to": "a", "text": "b" });
    check(Value::Null, all(), None, false);
    check(json!({ "mayRemember": true }), all(), None, true);
    check(json!({ "visibleParameters": ["to", "cc"] }), json!({ "to": "a" }), Some(json!({ "text": "b" })), false);
    check(json!({ "visibleParameters": ["text", "to"] }), all(), None, false);
    check(json!({ "visibleParameters": "to" }), all(), None, false);
    let exposed = json!({ "exposed": { "private": "find_customers", "untrusted": "read_page" } });
    let approval = json!({ "id": "a", "terms": exposed });
    let ask =
        ApprovalQuestion::for_call(&tool(json!({ "state": "approval-requested", "input": {}, "approval": approval })));
    assert!(ask.note.contains("“Find customers”") && ask.note.contains("“Read page”"), "{}", ask.note);
    let expired = json!({ "id": "a", "approved": false, "reason": "No.", "expired": true });
    assert!(
        outline(&card(&tool(json!({ "state": "output-denied", "approval": expired })), ResultDisplay::Summary).node())
            .contains("Not decided in time")
    );
}

#[test]
fn an_unavailable_source_is_reported() {
    let html = |kind: &str| {
        let part =
            part(json!({ "type": kind, "data": { "name": "files", "message": "The server cannot be reached." } }));
        Owner::new().with(|| fixed_part(&part).to_html())
    };
    let notice = html("data-source-unavailable");
    assert!(notice.contains(r#"<p dir="auto">files: The server cannot be reached.</p>"#), "{notice}");
    assert!(notice.contains("cw-notice-warning"), "{notice}");
    assert!(!html("data-mood").contains("<p"));
}

#[test]
fn failed_summary_is_shown_and_cleared_results_are_not() {
    let html = |kind: &str, data: Value| {
        let part = part(json!({ "type": kind, "data": data }));
        Owner::new().with(|| fixed_part(&part).to_html())
    };
    assert!(html("data-context-summary-failed", json!({ "at": 1 })).contains("could not be summarized"));
    assert!(!html("data-context-cleared", json!({ "throughCallId": "c" })).contains("<p"));
}

#[test]
fn context_edits_are_shown_as_quiet_notices() {
    let html = |edits: Value| {
        let part = part(json!({ "type": "data-context-edits", "data": { "provider": "anthropic", "edits": edits } }));
        Owner::new().with(|| fixed_part(&part).to_html())
    };
    let cleared = json!({ "type": "clear_tool_uses_20250919", "clearedToolUses": 8, "clearedInputTokens": 50_000 });
    let shown = html(json!([cleared, { "type": "clear_thinking_20251015", "clearedThinkingTurns": 2 }]));
    assert!(shown.contains("Tool results that the provider cleared from the context: 8 (50,000 tokens)"), "{shown}");
    assert!(shown.contains("Turns whose thinking the provider cleared from the context: 2</p>"), "{shown}");
    assert_eq!(shown.matches("cw-notice-quiet").count(), 2, "{shown}");
    assert!(!html(json!([])).contains("<p"));
    assert!(!html(json!("no list")).contains("<p"));
}

/// The card is closed, and shows the item as JSON in which nothing is hidden.
#[test]
fn items_of_a_provider_are_shown_as_json() {
    let check = |name: &str, content: Value, expected: &str| {
        let data = json!({ "provider": "openai", "name": name, "content": content });
        assert_eq!(outline(&output_card(ProviderOutput::read(&data)).node()), expected, "{data}");
    };
    check("mcp_list_tools", json!({ "tools": [] }), "done[Mcp list tools|openai|Result|{\n  \"tools\": []\n}]");
    check("later", json!("a\u{202e}b"), r#"done[Later|openai|Result|"a\u202eb"]"#);
}
