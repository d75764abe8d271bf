use super::Demo;
use super::plan::plan;
use super::turn::DemoAction;
use contract::{
    AssistantPart, FinishReason, Message, Model, ModelErrorKind, Part, Request, ToolChoice, ToolOutput, ToolResult,
    ToolSpec, UserPart,
};
use futures::StreamExt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn tools() -> Vec<ToolSpec> {
    let text = |key: &str| json!({ "type": "object", "properties": { "limit": { "type": "integer" }, key: { "type": "string" } }, "required": ["limit", key] });
    let fields = json!({
        "legal_name": { "description": "text" },
        "company": { "description": "text" },
        "email": { "description": "text" },
        "priority": { "description": "one of: low, normal, high, urgent", "examples": ["low", "normal", "high", "urgent"] },
        "date": { "description": "date as YYYY-MM-DD" },
        "notes": { "description": "text" },
        "seats": { "type": "number" },
    });
    let page = json!({ "type": "object", "properties": { "updates": { "type": "object", "properties": fields } } });
    let paths = json!({ "type": "array", "items": { "type": "string" } });
    let paths = json!({ "type": "object", "properties": { "paths": paths }, "required": ["paths"] });
    let delete = ToolSpec { needs_approval: true, ..ToolSpec::new("delete_article", "", text("title")) };
    vec![
        ToolSpec::new("search_knowledge_base", "", text("query")),
        delete,
        ToolSpec::new("update-page-state", "", page),
        ToolSpec::new("ask-user", "", json!({})),
        ToolSpec::new("present_files", "", paths),
    ]
}

fn user(text: &str) -> Message {
    Message::User(vec![UserPart::Text { text: text.to_owned() }])
}

fn assistant(text: &str) -> Message {
    Message::Assistant(vec![AssistantPart::Text { text: text.to_owned(), metadata: None }])
}

fn result(tool: &str, output: ToolOutput) -> Message {
    let result = ToolResult { call_id: "c".to_owned(), name: tool.to_owned(), output, metadata: None };
    Message::Tool(vec![result])
}

fn request(messages: Vec<Message>, tools: Vec<ToolSpec>) -> Request {
    Request { messages: messages.into_iter().map(Arc::new).collect(), tools, ..Request::default() }
}

/// Returns the last action: a call as `→ tool input`, or the text. The first action is always a
/// thought.
fn last_action(request: &Request) -> String {
    let actions = plan(request).unwrap();
    assert!(matches!(&actions[0], DemoAction::Think(thought) if !thought.is_empty()), "{actions:?}");
    match actions.last() {
        Some(DemoAction::Call { tool, input }) => format!("→ {tool} {input}"),
        Some(DemoAction::Say(text)) => text.clone(),
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn check_turn(messages: Vec<Message>, tools: Vec<ToolSpec>, expected: &str) {
    let done = last_action(&request(messages, tools));
    assert!(done.starts_with(expected), "{done}");
}

#[test]
fn plain_requests_are_understood() {
    let check = |words: &str, expected: &str| check_turn(vec![user(words)], tools(), expected);
    check("What can you do?", "This is a demo model; it understands");
    check("hello!", "Hello!");
    check("Show me a table and some code", "Here is a table:\n\n| Part");
    check("count to 3", "1, 2, 3\n\nThat was all.");
    check("Count to 12", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10,\n\n11, 12\n\nThat was all.");
    check("count to 0", "1\n\nThat was all.");
    check("Write a long answer", "# How an answer reaches you\n\n## 1. The run");
    check("Sing me a `song`", "I am only a small demo model, and `Sing me a song` is beyond me.");
    check("", "I am only a small demo model, and that is beyond me.");
    check("What do you know about refunds?", r#"→ search_knowledge_base {"query":"refunds"}"#);
    check("Tell me about the “two-factor sign-in”.", r#"→ search_knowledge_base {"query":"two-factor sign-in"}"#);
    check("Ask me something", r#"→ ask-user {"kind":"approach_choice","question":"How shall"#);
    check("Ask me with a form.", r#"→ ask-user {"kind":"missing_info","question":"Where shall"#);
    check("Delete the article about refunds", r#"→ search_knowledge_base {"query":"refunds"}"#);
    check("Start delete_article: Refunds", r#"→ delete_article {"title":"Refunds"}"#);
    check("start ask-user: now", "→ ask-user {}");
    check(
        "start present_files: /outputs/a.md /outputs/b.csv",
        r#"→ present_files {"paths":["/outputs/a.md","/outputs/b.csv"]}"#,
    );
    check("Analyse sales.csv.", "I have no shell to compute with here.");
    check("analyse $(rm).csv", "I am only a small demo model");
    // Letters whose lowercase form has another length do not shift positions in the text.
    check("İİİ what do you know about Ärger?", r#"→ search_knowledge_base {"query":"Ärger"}"#);
}

#[test]
fn questions_are_searched_in_documents() {
    let documents = ToolSpec::new(
        "document_search",
        "",
        json!({ "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }),
    );
    let check = |asked: &str, others: Vec<ToolSpec>, expected: &str| {
        let tools = others.into_iter().chain([documents.clone()]).collect();
        let last = last_action(&request(vec![user(asked)], tools));
        assert!(last.contains(expected), "{asked}: {last}");
    };
    let search = r#"→ document_search {"query":""#;
    check("Who is on call?", tools(), search);
    check("Who is on call?", Vec::new(), search);
    check("Sing a song", Vec::new(), search);
    check("Sing a song", tools(), "beyond me");
    check("What do you know about refunds?", tools(), "→ search_knowledge_base");
}

#[test]
fn form_is_filled_in_from_a_sentence() {
    let check = |words: &str, expected: Value| {
        let done = last_action(&request(vec![user(words)], tools()));
        let call = done.strip_prefix("→ update-page-state ").unwrap_or_else(|| panic!("{words}: {done}"));
        assert_eq!(serde_json::from_str::<Value>(call).unwrap()["updates"], expected, "{words}");
    };
    check(
        "Fill in the form for Ada Lovelace at Analytical Engines",
        json!({
            "legal_name": "Ada Lovelace",
            "company": "Analytical Engines",
            "email": "ada.lovelace@analytical-engines.example",
            "priority": "high",
            "date": "2026-12-10",
            "notes": "Ada Lovelace of Analytical Engines asked for a call back. Written by the demo's assistant.",
        }),
    );
    check(
        "please fill it in for Grace Hopper, priority Urgent.",
        json!({
            "legal_name": "Grace Hopper",
            "email": "grace.hopper@mail.example",
            "priority": "urgent",
            "date": "2026-12-10",
            "notes": "Grace Hopper asked for a call back. Written by the demo's assistant.",
        }),
    );
    let nameless = last_action(&request(vec![user("fill in the form")], tools()));
    assert!(nameless.starts_with("For whom?"), "{nameless}");
}

#[test]
fn missing_tools_are_explained() {
    let check = |words: &str, expected: &str| check_turn(vec![user(words)], Vec::new(), expected);
    check("Delete the article about refunds", "I have no tool to delete");
    check("Ask me something", "I have no way to ask you");
    check("What do you know about refunds?", "I have no knowledge base");
    check("Fill in the form for Ada", "I see no form");
    check("Start invoice: Number 5", "I have nothing with this name");
    let overview = last_action(&request(vec![user("What can you do?")], Vec::new()));
    assert!(!overview.contains("Fill in") && overview.contains("table"), "{overview}");
    let forbidden = Request { tool_choice: ToolChoice::None, ..request(vec![user("search for x")], tools()) };
    assert!(last_action(&forbidden).starts_with("I have no knowledge base"));
    let only_delete = tools().into_iter().filter(|tool| tool.name.contains("delete")).collect();
    check_turn(vec![user("delete Refunds")], only_delete, r#"→ delete_article {"title":"Refunds"}"#);
}

#[test]
fn results_are_answered() {
    let articles = || json!({ "articles": [{ "title": "Cancelling", "body": "No refunds by itself." }, { "title": "Refunds", "body": "Within 30 days." }] });
    let none = || json!({ "articles": [] });
    let check = |words: &str, results: Vec<(&str, ToolOutput)>, expected: &str| {
        let mut messages = vec![user("an earlier turn"), assistant("done"), user(words)];
        for (tool, output) in results {
            messages.extend([assistant("I try."), result(tool, output)]);
        }
        check_turn(messages, tools(), expected);
    };
    let search = "search_knowledge_base";
    let know = "What do you know about refunds?";
    check(
        know,
        vec![(search, ToolOutput::Json(articles()))],
        "No refunds by itself.\n\nSource: the article *Cancelling*. Also found: *Refunds*.",
    );
    let asked = |answer: Value| vec![("ask-user", ToolOutput::Json(answer))];
    check(
        "Ask me something",
        asked(json!({ "option": "Not at all", "text": "later" })),
        "You chose *Not at all*.\n\nYou wrote: “later”",
    );
    check(
        "Ask me with a form",
        asked(json!({ "fields": { "name": "Ada", "boxes": 2 } })),
        "You gave me this:\n\n- name: Ada\n- boxes: 2\n\nThank",
    );
    check(know, vec![(search, ToolOutput::Json(none()))], r#"→ search_knowledge_base {"query":"refund"}"#);
    check(
        know,
        vec![(search, ToolOutput::Json(none())), (search, ToolOutput::Json(none()))],
        "I found nothing about “refunds”",
    );
    check(
        know,
        vec![(search, ToolOutput::ErrorText("no such table".to_owned()))],
        "That did not work. The tool `search_knowledge_base` says: no such table",
    );
    check(know, vec![(search, ToolOutput::Json(json!({ "answer": 42 })))], "The tool answered:");

    let delete = "Delete the article about refunds";
    check(delete, vec![(search, ToolOutput::Json(articles()))], r#"→ delete_article {"title":"Refunds"}"#);
    check(delete, vec![(search, ToolOutput::Json(none()))], "I found no such article");
    check(delete, vec![(search, ToolOutput::ErrorText("busy".to_owned()))], "That did not work.");
    let after = |output| vec![(search, ToolOutput::Json(articles())), ("delete_article", output)];
    check(
        delete,
        after(ToolOutput::Json(json!({ "deleted": { "rowsAffected": 1 } }))),
        "Done: the article is deleted.",
    );
    check(delete, after(ToolOutput::Json(json!({ "deleted": { "rowsAffected": 0 } }))), "There was no such article");
    check(
        delete,
        after(ToolOutput::Denied(Some("keep it".to_owned()))),
        "Nothing was deleted: you said no. Your reason: “keep it”",
    );
    check(delete, after(ToolOutput::Denied(None)), "Nothing was deleted: you said no.");

    let page = json!({ "ok": true, "written": ["company"], "ignored": ["x"], "refused": [{ "key": "date", "reason": "not a date" }] });
    check(
        "Fill in the form for Ada",
        vec![("update-page-state", ToolOutput::Json(page))],
        "Done. I wrote `company`. Each field that I changed is marked, and one click undoes the change.\n\nThe page refused `date`: not a date.\n\nThe page has no field `x`.",
    );
}

/// The message with which the server continues an interrupted answer.
const GO_ON: &str = "Your answer was cut off. Go on from where it stopped, without repeating anything.";

#[test]
fn interrupted_answer_is_continued() {
    let check = |said: &str, expected: &str| {
        check_turn(vec![user("count to 4"), assistant(said), user(GO_ON)], tools(), expected)
    };
    check("1, 2, ", "3, 4\n\nThat was all.");
    check("1, 2, 3, 4\n\nThat was all.", "There is nothing more to say.");
    check("Something else", "1, 2, 3, 4\n");
    // Interrupted before the first word, and a second time.
    check_turn(vec![user("count to 4"), user(GO_ON)], tools(), "1, 2, 3, 4\n");
    check_turn(vec![user("count to 4"), assistant("1, "), assistant("2, "), user(GO_ON)], tools(), "3, 4\n");
}

#[test]
fn fails_only_when_asked_to() {
    let fails = |words: &str| plan(&request(vec![user(words)], tools())).err();
    let error = fails("Simulate a failure.").unwrap();
    assert!(error.kind == ModelErrorKind::Refused && !error.retryable());
    assert!(fails("please do not simulate a failure here").is_none());
}

#[tokio::test(start_paused = true)]
async fn words_are_streamed_with_a_delay() {
    let begun = tokio::time::Instant::now();
    let model = Demo::new("demo", Some(Duration::from_millis(20)));
    let ask = request(vec![user("What do you know about refunds?")], tools());
    let parts: Vec<_> = model.stream(ask, CancellationToken::new()).await.unwrap().collect().await;
    let parts: Vec<_> = parts.into_iter().map(Result::unwrap).collect();
    let kinds: Vec<_> = parts.iter().map(|part| serde_json::to_value(part).unwrap()["type"].clone()).collect();
    assert_eq!(kinds[0], "reasoning-start");
    assert!(kinds.contains(&"text-delta".into()) && kinds.contains(&"tool-call".into()));
    let deltas = kinds.iter().filter(|kind| kind.as_str().unwrap().ends_with("-delta")).count();
    assert_eq!(begun.elapsed().as_millis(), deltas as u128 * 20);
    assert!(
        matches!(parts.last(), Some(Part::Finish { reason: FinishReason::ToolCalls, usage, .. }) if usage.reasoning_tokens > 0)
    );
}

#[tokio::test(start_paused = true)]
async fn cancellation_ends_the_stream() {
    let cancel = CancellationToken::new();
    let model = Demo::new("demo", None);
    let mut parts = model.stream(request(vec![user("count to 2000")], Vec::new()), cancel.clone()).await.unwrap();
    for _ in 0..20 {
        parts.next().await.unwrap().unwrap();
    }
    cancel.cancel();
    assert_eq!(parts.next().await.unwrap().unwrap_err().kind, ModelErrorKind::Cancelled);
    assert!(parts.next().await.is_none());
}

#[tokio::test]
async fn answers_are_cut_off_at_the_output_limit() {
    let cut = async |most: Option<u32>| {
        let mut asked = request(vec![user("Hello")], Vec::new());
        asked.sampling.max_output_tokens = most;
        let stream = Demo::new("demo", Some(Duration::ZERO)).stream(asked, CancellationToken::new()).await.unwrap();
        let parts: Vec<_> = stream.map(Result::unwrap).collect().await;
        let words = parts.iter().filter(|part| matches!(part, Part::TextDelta { .. })).count();
        let Some(Part::Finish { reason, .. }) = parts.last() else { panic!("no end") };
        (words, *reason)
    };
    assert_eq!(cut(Some(2)).await, (2, FinishReason::Length));
    assert_eq!(cut(Some(1_000)).await, cut(None).await);
    assert_eq!(cut(None).await.1, FinishReason::Stop);
}
