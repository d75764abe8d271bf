//! Conversations in Feishu, whose events come over a long connection.

use crate::feishu::FakeFeishu;
use crate::feishu_events::{Delivery, PATH, p2p_chat};
use crate::server::{self, TestServer};
use contract::testing::{text_reply, tool_call_reply};
use serde_json::{Value, json};

/// The person `ou_7` writes to the bot; returns the event.
fn write(delivery: Delivery<'_>, text: &str) -> Value {
    let event = delivery.message("ou_7", "ou_7", "text", &json!({ "text": text }));
    delivery.fake.push("event", event.clone());
    event
}

/// The person `ou_7` presses the first button of the newest card with buttons.
async fn press(delivery: Delivery<'_>, kind: &'static str) {
    delivery.fake.until("a button", |fake| fake.button("ou_7").is_some()).await;
    let (card, value) = delivery.fake.button("ou_7").unwrap();
    delivery.fake.push(kind, delivery.pressed("ou_7", &p2p_chat("ou_7"), &card, &value));
}

#[tokio::test]
async fn events_over_a_long_connection_are_stored_once_and_answered() {
    server::on_each_database(async |database| {
        let (fake, url) = FakeFeishu::start().await;
        let texts = ["Done it.", "Two.", "Three."].map(text_reply);
        let replies = std::iter::once(tool_call_reply(&[("a", "act", "{}")])).chain(texts).collect();
        let server = TestServer::start(&database, &FakeFeishu::long_connection(&url), replies).await;
        server.add_user("ada", "support").await;
        let delivery = Delivery { fake: &fake, server: &server };
        write(delivery, &format!("/link {}", server.code("ada").await));
        press(delivery, "event").await;
        fake.until_text("ou_7", "You are linked to the account").await;
        let message = write(delivery, "Do it");
        fake.push("event", message.clone());
        press(delivery, "card").await;
        fake.until_text("ou_7", "Done it.").await;
        // Events of another app, and messages that are no events, are acknowledged, too.
        let mut other = delivery.message("ou_7", "ou_7", "text", &json!({ "text": "No" }));
        other["header"]["app_id"] = "cli_other".into();
        fake.push("event", other);
        fake.push("event", json!("nonsense"));
        fake.until("everything is acknowledged", |fake| fake.waiting() == 0).await;
        let known = fake.connections();
        fake.end_connections();
        fake.push("event", message);
        write(delivery, "Next");
        fake.until_text("ou_7", "Two.").await;
        fake.until("everything is acknowledged", |fake| fake.waiting() == 0).await;
        fake.until("pings", |fake| fake.connections() > known && fake.pings() >= fake.connections()).await;
        let texts = fake.texts("ou_7");
        assert_eq!(texts.iter().filter(|text| text.contains("Done it.")).count(), 1, "{texts:?}");
        assert!(!texts.iter().any(|text| text.contains("Three.")), "{texts:?}");
        assert_eq!(server.deliver(PATH, &[], "{}").await.0, 404, "without `encryptKey`, nothing comes over HTTP");
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn a_silent_connection_is_replaced() {
    let database = test_postgres::databases_of_each_kind().await.remove(0);
    let (fake, url) = FakeFeishu::start().await;
    let server = TestServer::start(&database, &FakeFeishu::long_connection(&url), Vec::new()).await;
    // The pong has said how often to ping.
    fake.until("pings", |fake| fake.pings() > 1).await;
    let known = fake.connections();
    fake.silence_connections();
    fake.until("another connection", |fake| fake.connections() > known).await;
    let delivery = Delivery { fake: &fake, server: &server };
    write(delivery, "Hello");
    fake.until_text("ou_7", "I answer people who have an account").await;
    server.shutdown().await;
}
