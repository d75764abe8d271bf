//! Events of Slack over HTTP.

use crate::server::{self, CHANNEL, TestServer};
use crate::slack::{BOT_TOKEN, FakeSlack, SIGNING_SECRET};
use contract::testing::{text_reply, tool_call_reply};
use ring::hmac;
use serde_json::{Value, json};
use web::times::now_millis;

const PATH: &str = "/api/channels/help/slack";

/// Returns the connection to a bot whose events come over HTTP.
fn connection(url: &str) -> String {
    format!(
        "type: Slack, properties: {{ botToken: {BOT_TOKEN}, signingSecret: \"{SIGNING_SECRET}\", baseURL: \"{url}\", \
         allowPrivate: true }}"
    )
}

/// Delivers a body that is signed with this secret.
async fn deliver(server: &TestServer, secret: &str, kind: &str, body: &str) -> (u16, String) {
    let time = (now_millis() / 1_000).to_string();
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let tag = hmac::sign(&key, format!("v0:{time}:{body}").as_bytes());
    let signature = format!("v0={}", hex::encode(tag.as_ref()));
    let headers = [
        ("x-slack-signature", signature.as_str()),
        ("x-slack-request-timestamp", time.as_str()),
        ("content-type", kind),
    ];
    server.deliver(PATH, &headers, body).await
}

/// Delivers an event; returns the status.
pub(crate) async fn deliver_json(server: &TestServer, payload: &Value) -> u16 {
    deliver(server, SIGNING_SECRET, "application/json", &payload.to_string()).await.0
}

/// Delivers the press of a button; returns the status.
pub(crate) async fn deliver_form(server: &TestServer, payload: &Value) -> u16 {
    let payload = payload.to_string();
    let body = url::form_urlencoded::Serializer::new(String::new()).append_pair("payload", &payload).finish();
    deliver(server, SIGNING_SECRET, "application/x-www-form-urlencoded", &body).await.0
}

#[tokio::test]
async fn signed_events_are_stored_once_and_answered() {
    server::on_each_database(async |database| {
        let (slack, url) = FakeSlack::start().await;
        let replies = vec![tool_call_reply(&[("a", "act", "{}")]), text_reply("Done it."), text_reply("Two.")];
        let server = TestServer::start(&database, &connection(&url), replies).await;
        server.add_user("ada", "support").await;
        let code = server.code("ada").await;
        let asked = slack.message("U7", "D7", &format!("!link {code}"), json!({}));
        assert_eq!(deliver_json(&server, &asked).await, 200);
        let (ts, link) = slack.button("D7").unwrap();
        assert_eq!(deliver_form(&server, &slack.pressed("U7", &ts, &link)).await, 200);
        slack.until_text("D7", "You are linked to the account").await;
        let message = slack.message("U7", "D7", "Do it", json!({}));
        for _ in 0..3 {
            assert_eq!(deliver_json(&server, &message).await, 200);
        }
        slack.until("buttons", |fake| fake.button("D7").is_some()).await;
        let (card, approve) = slack.button("D7").unwrap();
        assert_eq!(deliver_form(&server, &slack.pressed("U7", &card, &approve)).await, 200);
        slack.until_text("D7", "Done it.").await;
        assert_eq!(deliver_json(&server, &message).await, 200);
        slack.until_text("D7", "✅ Approved").await;
        assert!(!slack.texts("D7").iter().any(|text| text.contains("Two.")), "{:?}", slack.texts("D7"));
        assert!(!slack.calls().contains(&"apps.connections.open".to_owned()));
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn only_slack_can_deliver_events() {
    let database = test_postgres::databases_of_each_kind().await.remove(0);
    let (slack, url) = FakeSlack::start().await;
    let bot = connection(&url);
    let server = TestServer::start(&database, &bot, Vec::new()).await;
    let verification = json!({ "type": "url_verification", "challenge": "abc" }).to_string();
    let (status, body) = deliver(&server, SIGNING_SECRET, "application/json", &verification).await;
    assert_eq!((status, body.as_str()), (200, r#"{"challenge":"abc"}"#));
    assert_eq!(deliver(&server, "another secret here", "application/json", &verification).await.0, 401);
    assert_eq!(server.deliver(PATH, &[], &verification).await.0, 401);
    assert_eq!(server.deliver("/api/channels/other/slack", &[], &verification).await.0, 404);
    assert_eq!(deliver(&server, SIGNING_SECRET, "application/json", &" ".repeat((1 << 20) + 1)).await.0, 413);
    for body in ["", "nonsense", "{}", "[1]", r#"{"type":"event_callback"}"#] {
        assert_eq!(deliver(&server, SIGNING_SECRET, "application/json", body).await, (200, "{}".to_owned()), "{body}");
    }
    // Slack repeats an event that cannot be stored or answered now.
    server.configure(&bot.replace(BOT_TOKEN, "xoxb-wrong"), CHANNEL);
    assert_eq!(deliver_json(&server, &slack.message("U7", "D7", "Hi", json!({}))).await, 503);
    server.configure(&FakeSlack::connection(&url), CHANNEL);
    assert_eq!(deliver_json(&server, &slack.message("U7", "D7", "Hi", json!({}))).await, 404);
    server.shutdown().await;
}
