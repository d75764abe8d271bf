//! The check of each page.

use super::page::HowTo;
use crate::http::{chunks, reply_text};
use crate::process::Server;
use reqwest::Method;
use reqwest::header::{ACCESS_CONTROL_ALLOW_ORIGIN, ORIGIN};
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const HELLO: &str = "Hello! I am the demo model";

/// Asks the agent at `page/agent`; returns the chunks of its answer.
async fn ask(server: &Server, agent: &str, conversation: &str, question: &str) -> Vec<Value> {
    chunks(server.message_to(agent, conversation, question).send().await.unwrap()).await
}

/// Waits until a condition holds.
async fn until(expected: &str, is_so: impl AsyncFn() -> bool) {
    let begin = Instant::now();
    while !is_so().await {
        assert!(begin.elapsed() < Duration::from_secs(60), "{expected}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// `docs/howto-add-a-chat.md`
pub(super) async fn chat(page: &HowTo) {
    let server = page.start(&[]);
    let html = fs::read_to_string(page.path("site/index.html")).unwrap();
    assert!(html.contains(r#"<script type="module" src="http://127.0.0.1:3000/embed.js"></script>"#), "{html}");
    assert!(html.contains(r#"<agent-chat page="support" agent="assistant" "#), "{html}");
    let script = server.request(Method::GET, "/embed.js").send().await.unwrap();
    assert_eq!((script.status().as_u16(), script.headers()[ACCESS_CONTROL_ALLOW_ORIGIN].to_str().unwrap()), (200, "*"));
    let check = async |site: &str, status: u16, is_listed: &str| {
        let frame = server.request(Method::GET, &format!("/embed/support/assistant?host={site}")).send().await.unwrap();
        assert_eq!(frame.status().as_u16(), status, "{site}");
        let listed = server.request(Method::GET, "/embed-check.js").header(ORIGIN, site).send().await.unwrap();
        assert_eq!(listed.text().await.unwrap(), format!("export default {is_listed};\n"), "{site}");
    };
    check(page.says("http://127.0.0.1:8080"), 200, "true").await;
    check(page.says("http://127.0.0.1:8081"), 403, "false").await;
    let answer = reply_text(&ask(&server, "support/assistant", "c", "Hello").await);
    assert!(answer.starts_with(page.says(HELLO)), "{answer}");
}

/// `docs/howto-search-a-handbook.md`
pub(super) async fn handbook(page: &HowTo) {
    let server = page.start(&[]);
    let ready = async || server.get("/api/libraries/handbook").await["documents"]["ready"] == 2;
    until("both documents are read", ready).await;
    let question = page.says("How many days of vacation do I have?");
    let chunks = ask(&server, "home/assistant", "c1", question).await;
    let answer = reply_text(&chunks);
    assert!(answer.starts_with(page.says("Everybody has 28 days of vacation a year.")), "{answer}");
    let citations = chunks.iter().find_map(|chunk| chunk["citations"].as_array()).unwrap();
    let source = &citations[0]["source"];
    assert_eq!(source["title"], page.says("vacation.md, lines 1–3"));
    let document = source["id"].as_str().unwrap();
    let opened = server.get(&format!("/api/documents/{document}/text?conversationId=c1")).await;
    assert_eq!(opened["parts"][0]["text"], "# Vacation\n\nEverybody has 28 days of vacation a year.");
    let unknown = reply_text(&ask(&server, "home/assistant", "c2", page.says("Which paint has the tower?")).await);
    assert_eq!(unknown.trim(), page.says("I found nothing about this in the documents."));

    let file = page.path("handbook/vacation.md");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("28", "30")).unwrap();
    let changed = page.says("Everybody has 30 days of vacation a year.");
    let answers = async || reply_text(&ask(&server, "home/assistant", "c3", question).await).starts_with(changed);
    until("the changed document is read", answers).await;
}

/// Answers the open question about a call; returns the text that follows.
async fn decide(server: &Server, conversation: &str, approved: bool) -> String {
    let mut message = server.conversation(conversation).await["messages"].as_array().unwrap().last().unwrap().clone();
    let parts = message["parts"].as_array_mut().unwrap();
    let part = parts.iter_mut().find(|part| part["state"] == "approval-requested").unwrap();
    part["state"] = "approval-responded".into();
    part["approval"]["approved"] = approved.into();
    let path = format!("/api/agent/home/clerk?conversationId={conversation}");
    let body = json!({ "id": conversation, "messages": [message] });
    reply_text(&chunks(server.request(Method::POST, &path).json(&body).send().await.unwrap()).await)
}

/// `docs/howto-ask-before-paying.md`
pub(super) async fn payment(page: &HowTo) {
    let database = format!("sqlite://{}", page.path("chat.db").display());
    let start = || page.start(&["--database", &database]);
    let paid = |server: &Server| page.run(server, "/api/endpoints/home/payments");
    let server = start();
    let asks = |chunks: &[Value]| chunks.iter().any(|chunk| chunk["type"] == "tool-approval-request");
    assert!(asks(&ask(&server, "home/clerk", "c1", page.says("Start pay_invoice: 4711")).await));
    assert_eq!(paid(&server), page.says("[]"));
    // The page says that the question survives a restart.
    drop(server);
    let server = start();
    let answer = decide(&server, "c1", true).await;
    assert!(answer.contains("4711"), "{answer}");
    let after = page.says(r#"[{"invoice":"4711"}]"#);
    assert_eq!(paid(&server), after);
    assert!(asks(&ask(&server, "home/clerk", "c2", page.says("Start pay_invoice: 4712")).await));
    assert_eq!(decide(&server, "c2", false).await, page.says("Nothing was changed: you said no."));
    assert_eq!(paid(&server), after);
}

/// `docs/howto-start-a-workflow-by-webhook.md`
pub(super) async fn webhook(page: &HowTo) {
    let server = page.start(&[]);
    assert_eq!(page.run(&server, "/api/hooks/orders/placed"), "202");
    page.says("With another secret it prints 401.");
    let forged = server.request(Method::POST, "/api/hooks/orders/placed").bearer_auth("a-secret-of-another");
    assert_eq!(forged.json(&json!({ "number": 8 })).send().await.unwrap().status().as_u16(), 401);
    let notes = || serde_json::from_str::<Value>(&page.run(&server, "/api/endpoints/home/notes")).unwrap();
    until("the note is stored", async || notes()[0]["note"].is_string()).await;
    let stored = notes();
    assert_eq!((stored.as_array().unwrap().len(), &stored[0]["number"]), (1, &json!(7)), "{stored}");
    page.says("The demo model writes that the order is beyond it");
    assert!(stored[0]["note"].as_str().unwrap().contains("`Order 7 was placed.` is beyond me"), "{stored}");
    let deliveries = server.get("/api/admin/triggers/orders/placed").await["deliveries"].take();
    let outcomes = deliveries.as_array().unwrap().iter().map(|delivery| delivery["outcome"].as_str().unwrap());
    assert_eq!(outcomes.filter(|outcome| *outcome != "refused").count(), 1, "{deliveries}");
}

/// `docs/howto-run-on-postgresql.md`
pub(super) async fn postgresql(page: &HowTo) {
    // Without a PostgreSQL server there is nothing to check.
    let Some(url) = test_postgres::new_database().await else { return };
    let start = || page.start(&["--database", &url]);
    let first = start();
    let answer = reply_text(&ask(&first, "home/assistant", "c", "Hello").await);
    assert!(answer.starts_with(page.says(HELLO)), "{answer}");
    let second = start();
    let listed = second.get("/api/conversations").await;
    assert_eq!(listed["items"][0]["title"], "Hello", "{listed}");
    let seen = second.conversation("c").await["messages"].to_string();
    assert!(seen.contains(HELLO), "{seen}");
    drop(first);
    let answer = reply_text(&ask(&second, "home/assistant", "c", "Hello").await);
    assert!(answer.starts_with(HELLO), "{answer}");
}
