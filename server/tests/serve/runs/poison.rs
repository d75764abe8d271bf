//! For any stored message, the page with it renders, with the components that also run in the browser, and shows the
//! other messages.

use crate::process::Server;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use reqwest::Method;
use serde_json::{Map, Value, json};
use sqlx::{Connection, SqliteConnection};
use tokio::runtime::Runtime;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
agents: [{ id: a, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: p, blocks: [{ id: chat, type: AgentChat, properties: { agentId: a } }] }]
";

/// The number of messages that are replaced in each case.
const MESSAGES: usize = 20;

const KINDS: &[&str] = &[
    "text",
    "reasoning",
    "file",
    "source-url",
    "source-document",
    "step-start",
    "data-source-unavailable",
    "data-standing-approval",
    "data-context-edits",
    "data-provider-output",
    "data-page-state",
    "data-x",
    "tool-look_up",
    "tool-ask_user",
    "tool-update_page_state",
    "tool-",
    "dynamic-tool",
    "later",
];

const STATES: &[&str] = &[
    "input-streaming",
    "input-available",
    "approval-requested",
    "approval-responded",
    "output-available",
    "output-error",
    "output-denied",
    "streaming",
    "done",
    "other",
];

const FIELDS: &[&str] = &[
    "text",
    "url",
    "mediaType",
    "filename",
    "sourceId",
    "title",
    "data",
    "toolName",
    "toolCallId",
    "input",
    "output",
    "errorText",
    "approval",
    "preliminary",
    "citations",
    "providerMetadata",
    "providerExecuted",
    "callProviderMetadata",
    "rawInput",
    "id",
    "more",
];

/// Keys of parts, calls and results, so that random objects often resemble valid ones.
const KEYS: &[&str] = &[
    "type",
    "text",
    "content",
    "media",
    "html",
    "url",
    "mimeType",
    "data",
    "omitted",
    "description",
    "_subAgent",
    "agentId",
    "steps",
    "task",
    "progress",
    "total",
    "message",
    "question",
    "questions",
    "options",
    "label",
    "kind",
    "id",
    "terms",
    "expiresAt",
    "mayRemember",
    "visibleParameters",
    "exposed",
    "approved",
    "reason",
    "expired",
    "startIndex",
    "endIndex",
    "citedText",
    "source",
    "name",
    "changes",
    "",
];

fn any_text() -> impl Strategy<Value = String> {
    let known = [
        "",
        "text",
        "image",
        "image/png",
        "data:image/png;base64,AA",
        "/api/files/x",
        "https://a.example/x.png",
        "javascript:alert(1)",
        "x\u{0}y",
        "\u{202e}\u{1f469}\u{200d}\u{1f680}",
        "```rust\nfn",
        "| a |\n|-|\n| $x$ |",
        "$$\\frac{",
        "[x]: y\n[x][",
        "<b>&amp;",
        "- [ ] a\n  - b[^1]\n\n[^1]: c",
        "-1",
        "1e999",
    ];
    prop_oneof![
        4 => select(known.to_vec()).prop_map(str::to_owned),
        2 => ".{0,40}",
        1 => (select(vec!["> ", "- ", "*", "[", "\\{", "a ", "é"]), 0..3_000_usize).prop_map(|(sign, count)| sign.repeat(count)),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        select(vec![0, 1, -1, i64::MAX, i64::MIN]).prop_map(Value::from),
        any_text().prop_map(Value::from),
        (0..110_usize).prop_map(|depth| (0..depth).fold(json!("deep"), |inner, _| json!([inner]))),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((select(KEYS), inner), 0..6).prop_map(|fields| Value::Object(
                fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

fn any_part() -> impl Strategy<Value = Value> {
    let fields = prop::collection::vec((select(FIELDS), any_value()), 0..7);
    let known = (select(KINDS), select(STATES), any_text(), fields).prop_map(|(kind, state, text, fields)| {
        // First the fields that the kind requires; random ones may replace them.
        let mut part = json!({
            "type": kind, "toolCallId": "c", "input": {}, "text": text, "url": text, "mediaType": "image/png", "sourceId": "s", "data": {},
        });
        if kind.contains("tool") || fields.len() > 5 {
            part["state"] = state.into();
        }
        if let Some(part) = part.as_object_mut() {
            part.extend(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>());
        }
        part
    });
    prop_oneof![9 => known, 1 => any_value()]
}

fn any_body() -> impl Strategy<Value = String> {
    let role = select(vec!["assistant", "assistant", "user", "system", "robot"]);
    let message = (role, prop::collection::vec(any_part(), 0..5), prop::option::of(any_value()));
    let message = message.prop_map(|(role, parts, metadata)| {
        let mut body = json!({ "id": "m", "role": role, "parts": parts });
        if let Some(metadata) = metadata {
            body["metadata"] = metadata;
        }
        body.to_string()
    });
    prop_oneof![19 => message, 1 => any_value().prop_map(|value| value.to_string()), 1 => any_text()]
}

/// A server with a conversation whose stored messages the test replaces.
struct TestServer {
    server: Server,
    database: SqliteConnection,
    _folder: tempfile::TempDir,
}

impl TestServer {
    async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
        let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
        for number in 0..=MESSAGES / 2 {
            let sent = server.message_to("p/a", "c", &format!("word{number}")).send().await.unwrap();
            sent.text().await.unwrap();
        }
        let database = SqliteConnection::connect(&server.database).await.unwrap();
        Self { server, database, _folder: folder }
    }

    /// Replaces the bodies of the first messages.
    async fn replace_bodies(&mut self, bodies: &[String]) {
        for (index, body) in bodies.iter().enumerate() {
            let change =
                "UPDATE messages SET body = ? WHERE no = (SELECT no FROM messages ORDER BY no LIMIT 1 OFFSET ?)";
            sqlx::query(change).bind(body).bind(index as i64).execute(&mut self.database).await.unwrap();
        }
    }

    /// Returns the paths that fail or do not show the last message, with their status.
    async fn find_faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        for path in ["/p?conversation=c", "/api/conversations/c", "/api/conversations/c/export?format=html"] {
            let answer = self.server.request(Method::GET, path).send().await.unwrap();
            let (status, text) = (answer.status(), answer.text().await.unwrap());
            if status != 200 || !text.contains(&format!("word{}", MESSAGES / 2)) {
                faults.push(format!("{path}: {status}"));
            }
        }
        faults
    }
}

#[test]
fn arbitrary_stored_messages_do_not_break_pages() {
    let runtime = Runtime::new().unwrap();
    let fixture = tokio::sync::Mutex::new(runtime.block_on(TestServer::start()));
    let config = Config { cases: 24, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[38; 32]));
    let check = |bodies: Vec<String>| {
        let faults = runtime.block_on(async {
            let mut fixture = fixture.lock().await;
            fixture.replace_bodies(&bodies).await;
            fixture.find_faults().await
        });
        prop_assert!(faults.is_empty(), "{faults:?} with {bodies:#?}");
        Ok(())
    };
    runner.run(&prop::collection::vec(any_body(), MESSAGES), check).unwrap();
}
