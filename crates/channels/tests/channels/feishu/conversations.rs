//! Conversations in Feishu, whose events come over HTTP.

use crate::feishu::{APP_SECRET, BOT, ENCRYPT_KEY, FakeFeishu};
use crate::feishu_events::{Delivery, PATH, deliver, encrypted, p2p_chat};
use crate::server::{self, CHANNEL, TestServer};
use chat::Caller;
use contract::testing::{Cue, text_reply, tool_call_reply};
use serde_json::json;
use store::AuditFilter;
use web::times::now_millis;

/// Runs a test with each kind of database: a server with the user `ada`, whose account is linked to `ou_7`.
async fn on_each_database(replies: impl Fn() -> Vec<Vec<Cue>>, test: impl AsyncFn(Delivery<'_>)) {
    server::on_each_database(async |database| {
        let (fake, url) = FakeFeishu::start().await;
        let server = TestServer::start(&database, &FakeFeishu::connection(&url), replies()).await;
        server.add_user("ada", "support").await;
        fake.link(&server, "ou_7", &server.code("ada").await).await;
        test(Delivery { fake: &fake, server: &server }).await;
        server.shutdown().await;
    })
    .await;
}

async fn conversations(server: &TestServer, user: &str) -> usize {
    let caller = Caller::signed_in(user).with_roles(vec!["support".to_owned()]);
    server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap().items.len()
}

#[tokio::test]
async fn chats_groups_and_topics_are_conversations() {
    let replies = || Vec::from(["Within **30 days**.", "In a group.", "In a topic.", "Still there."].map(text_reply));
    on_each_database(replies, async |delivery| {
        let Delivery { fake, server } = delivery;
        delivery.write("ou_7", "ou_7", "When can I return it?").await;
        fake.until_text("ou_7", "Within **30 days**.").await;
        // Without a mention, nothing in a group is for the bot.
        delivery.write("ou_7", "oc_1", "Hi all").await;
        delivery.write("ou_7", "oc_1", "@_user_1 hello").await;
        assert_eq!(fake.until_text("oc_1", "In a group.").await.len(), 1);
        delivery.write("ou_7", "oc_1/om_root", "@_user_1 hello").await;
        assert_eq!(fake.until_text("oc_1/om_root", "In a topic.").await.len(), 1);
        // In a topic, people who talk to the bot need not mention it; others do.
        delivery.write("ou_8", "oc_1/om_root", "May I?").await;
        delivery.write("ou_7", "oc_1/om_root", "And?").await;
        assert_eq!(fake.until_text("oc_1/om_root", "Still there.").await.len(), 2);
        assert_eq!(conversations(server, "ada").await, 3);
        delivery.write("ou_7", "ou_7", "/new").await;
        fake.until_text("ou_7", "begins a new conversation").await;
        delivery.write("ou_7", "ou_7", "/status").await;
        fake.until_text("ou_7", "You write as ada, to the agent helper.").await;
        delivery.write("ou_7", "ou_7", "/models").await;
        fake.until_text("ou_7", "This agent has one model.").await;
        delivery.write("ou_7", "ou_7", "/help").await;
        fake.until_text("ou_7", "/stop: Stop the answer").await;
        assert_eq!(fake.texts("oc_1").len(), 1, "{:?}", fake.texts("oc_1"));
        // The same token serves all requests.
        assert!(fake.tokens() <= 3, "{}", fake.tokens());
    })
    .await;
}

#[tokio::test]
async fn an_event_that_is_delivered_again_is_answered_once() {
    let replies = || vec![text_reply("One."), text_reply("Two."), text_reply("Three.")];
    on_each_database(replies, async |delivery| {
        let Delivery { fake, server } = delivery;
        let event = delivery.message("ou_7", "ou_7", "text", &json!({ "text": "Hello" }));
        for _ in 0..3 {
            assert_eq!(delivery.send(&event).await, 200);
        }
        fake.until_text("ou_7", "One.").await;
        assert_eq!(delivery.send(&event).await, 200);
        // Its own messages, and those of other apps.
        for (path, value) in [("/event/sender/sender_id/open_id", BOT), ("/header/app_id", "cli_other")] {
            let mut other = delivery.message("ou_7", "ou_7", "text", &json!({ "text": "No" }));
            *other.pointer_mut(path).unwrap() = value.into();
            assert_eq!(delivery.send(&other).await, 200);
        }
        delivery.write("ou_7", "ou_7", "Next").await;
        fake.until_text("ou_7", "Two.").await;
        let answers = fake.texts("ou_7").into_iter().filter(|text| ["One.", "Two."].contains(&text.as_str()));
        assert_eq!((answers.count(), conversations(server, "ada").await), (2, 1));
    })
    .await;
}

#[tokio::test]
async fn only_feishu_can_deliver_events() {
    let database = test_postgres::databases_of_each_kind().await.remove(0);
    let (fake, url) = FakeFeishu::start().await;
    let bot = FakeFeishu::connection(&url);
    let server = TestServer::start(&database, &bot, Vec::new()).await;
    let (delivery, now) = (Delivery { fake: &fake, server: &server }, now_millis() / 1_000);
    let check = json!({ "type": "url_verification", "challenge": "abc", "token": "v" });
    let body = encrypted(&check, ENCRYPT_KEY);
    assert_eq!(server.deliver(PATH, &[], &body).await, (200, r#"{"challenge":"abc"}"#.to_owned()));
    assert_eq!(server.deliver(PATH, &[], &check.to_string()).await.0, 401);
    assert_eq!(server.deliver(PATH, &[], &encrypted(&check, "another encrypt key")).await.0, 401);
    assert_eq!(server.deliver("/api/channels/other/feishu", &[], &body).await.0, 404);
    assert_eq!(server.deliver("/api/channels/help/slack", &[], &body).await.0, 404);
    assert_eq!(server.deliver(PATH, &[], &" ".repeat((1 << 20) + 1)).await.0, 413);
    let event = delivery.message("ou_7", "ou_7", "text", &json!({ "text": "Hi" }));
    let body = encrypted(&event, ENCRYPT_KEY);
    assert_eq!(server.deliver(PATH, &[], &body).await.0, 401);
    assert_eq!(deliver(&server, &body, "another encrypt key", now).await.0, 401);
    assert_eq!(deliver(&server, &body, ENCRYPT_KEY, now - 9 * 3_600).await.0, 401);
    let mut other = event.clone();
    other["header"]["token"] = "w".into();
    assert_eq!(delivery.send(&other).await, 401);
    for content in [json!(1), json!({}), json!({ "header": { "token": "v" }, "event": {} })] {
        let expected = if content["header"].is_null() { 401 } else { 200 };
        assert_eq!(delivery.send(&content).await, expected, "{content}");
    }
    assert!(fake.messages().is_empty());
    // Feishu repeats an event that cannot be stored or answered now.
    server.configure(&bot.replace(APP_SECRET, "another-secret"), CHANNEL);
    assert_eq!(delivery.send(&event).await, 503);
    server.shutdown().await;
}

#[tokio::test]
async fn strangers_get_one_line_that_only_they_see() {
    on_each_database(Vec::new, async |delivery| {
        let Delivery { fake, server } = delivery;
        delivery.write("ou_8", "oc_1", "@_user_1 hello").await;
        delivery.write("ou_8", "oc_1", "@_user_1 again").await;
        delivery.write("ou_9", "ou_9", "Hi").await;
        delivery.write("ou_9", "ou_9", "/link 00000000000000000000000000000000").await;
        fake.until_text("ou_9", "not valid any more").await;
        let messages = fake.messages();
        let only: Vec<_> = messages.iter().filter(|(_, message)| message.chat == "oc_1").collect();
        assert_eq!(only.len(), 1, "{only:?}");
        assert_eq!(only[0].1.only.as_deref(), Some("ou_8"));
        assert_eq!(fake.texts("ou_9").len(), 2);
        // A code in a group is not valid any more.
        let code = server.code("ada").await;
        delivery.write("ou_8", "oc_1", &format!("/link {code}")).await;
        delivery.write("ou_9", "ou_9", &format!("/link {code}")).await;
        fake.until("the code is refused", |fake| fake.texts("ou_9").len() == 3).await;
        // The button of a code is for the person to whom it was sent, also if the card is forwarded.
        let code = server.code("ada").await;
        delivery.write("ou_9", "ou_9", &format!("/link {code}")).await;
        fake.until("the button", |fake| fake.button("ou_9").is_some()).await;
        let (card, value) = fake.button("ou_9").unwrap();
        delivery.press("ou_8", "oc_1", &card, &value).await;
        assert!(!fake.texts("ou_9").iter().any(|text| text.contains("You are linked")));
        // The name of the person whose name may be read is shown, and the id of another one.
        delivery.press("ou_9", &p2p_chat("ou_9"), &card, &value).await;
        fake.until_text("ou_9", "You are linked to the account").await;
        let page = server.page("ada", "support", "GET", "/account/messengers", auth::AuthMethod::Primary).await.1;
        assert!(page.contains("Ada Lovelace") && page.contains("ou_9"), "{page}");
        delivery.write("ou_7", "ou_7", "/unlink").await;
        fake.until_text("ou_7", "Unlinked.").await;
        let rows = server.store.audit_list(AuditFilter::default(), 20, None).await.unwrap();
        let mut tools: Vec<_> = rows.iter().map(|row| row.tool.as_str()).collect();
        tools.sort_unstable();
        assert_eq!(tools, ["messenger:link", "messenger:link", "messenger:unlink"]);
    })
    .await;
}

#[tokio::test]
async fn a_call_is_approved_by_its_user_only_and_once() {
    let replies = || vec![tool_call_reply(&[("a", "act", r#"{"to":"x\u202ey"}"#)]), text_reply("Done it.")];
    on_each_database(replies, async |delivery| {
        let Delivery { fake, server } = delivery;
        server.add_user("eve", "support").await;
        fake.link(server, "ou_9", &server.code("eve").await).await;
        delivery.write("ou_7", "oc_1", "@_user_1 do it").await;
        fake.until_text("oc_1", "[U+202E]").await;
        fake.until("buttons", |fake| fake.button("oc_1").is_some()).await;
        let (card, approve) = fake.button("oc_1").unwrap();
        delivery.press("ou_9", "oc_1", &card, &approve).await;
        fake.until_text("oc_1", "Only the person who was asked").await;
        let refusal = fake.messages().into_iter().find(|(_, message)| message.text.contains("Only the person"));
        assert_eq!(refusal.unwrap().1.only.as_deref(), Some("ou_9"));
        // A stranger, and the user in a group to which the card was forwarded.
        delivery.press("ou_11", "oc_1", &card, &approve).await;
        delivery.press("ou_7", "oc_2", &card, &approve).await;
        assert!(server.effects.lock().unwrap().is_empty());
        let press = delivery.pressed("ou_7", "oc_1", &card, &approve);
        assert_eq!((delivery.send(&press).await, delivery.send(&press).await), (200, 200));
        fake.until_text("oc_1", "Done it.").await;
        delivery.press("ou_7", "oc_1", &card, &approve).await;
        delivery.write("ou_7", "oc_1", "@_user_1 /status").await;
        fake.until_text("oc_1", "You write as ada").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x\u{202e}y" })]);
        let (_, shown) = fake.messages().into_iter().find(|(id, _)| *id == card).unwrap();
        assert!(shown.buttons.is_empty() && shown.text.contains("✅ Approved"), "{shown:?}");
    })
    .await;
}

#[tokio::test]
async fn a_question_is_answered_by_a_button_or_a_text() {
    let question = || {
        tool_call_reply(&[(
            "q",
            "ask-user",
            r#"{"kind":"approach_choice","question":"Which?","options":["Red","Blue"]}"#,
        )])
    };
    let replies = || vec![question(), text_reply("Green it is."), question(), text_reply("Blue it is.")];
    on_each_database(replies, async |delivery| {
        let fake = delivery.fake;
        delivery.write("ou_7", "ou_7", "Paint it").await;
        fake.until("buttons", |fake| fake.button("ou_7").is_some()).await;
        delivery.write("ou_7", "ou_7", "Green").await;
        fake.until_text("ou_7", "Green it is.").await;
        fake.until_text("ou_7", "➡️ Green").await;
        // A button in a topic is for what was asked there.
        delivery.write("ou_7", "oc_1/om_root", "@_user_1 again").await;
        fake.until("buttons", |fake| fake.button("oc_1").is_some()).await;
        let (card, mut value) = fake.button("oc_1").unwrap();
        value["data"] = value["data"].as_str().unwrap().replace(":0", ":1").into();
        delivery.press("ou_7", "oc_1", &card, &value).await;
        fake.until_text("oc_1/om_root", "Blue it is.").await;
        fake.until_text("oc_1/om_root", "➡️ Blue").await;
    })
    .await;
}

#[tokio::test]
async fn long_answers_are_split_and_the_rates_and_tokens_of_feishu_are_kept() {
    let long = "字".repeat(12_000);
    let replies =
        || vec![text_reply(&long), text_reply("**bold**"), text_reply("<at id=all></at> & all"), text_reply("Four.")];
    on_each_database(replies, async |delivery| {
        let fake = delivery.fake;
        fake.fail("send", 230_020);
        fake.fail("edit", 99_991_400);
        delivery.write("ou_7", "ou_7", "Long").await;
        fake.until("two messages", |fake| {
            fake.texts("ou_7").iter().map(|text| text.matches('字').count()).sum::<usize>() == 12_000
        })
        .await;
        // A card that is refused comes without its styles.
        fake.fail("edit", 230_099);
        delivery.write("ou_7", "ou_7", "Bold").await;
        fake.until_text("ou_7", "bold").await;
        delivery.write("ou_7", "ou_7", "Ping").await;
        fake.until_text("ou_7", "<at id=all></at> & all").await;
        // A token that is not valid any more is replaced.
        let known = fake.tokens();
        fake.revoke_tokens();
        delivery.write("ou_7", "ou_7", "Next").await;
        fake.until_text("ou_7", "Four.").await;
        assert!(fake.tokens() > known);
    })
    .await;
}

#[tokio::test]
async fn a_group_that_the_bot_has_left_gets_nothing_more() {
    let replies = || vec![text_reply("One."), text_reply("Two.")];
    on_each_database(replies, async |delivery| {
        let Delivery { fake, server } = delivery;
        fake.fail("send", 230_002);
        delivery.write("ou_7", "oc_1", "@_user_1 hello").await;
        // The answer is on the website.
        while conversations(server, "ada").await == 0 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        delivery.write("ou_7", "ou_7", "/status").await;
        fake.until_text("ou_7", "You write as ada").await;
        assert!(fake.texts("oc_1").is_empty(), "{:?}", fake.texts("oc_1"));
    })
    .await;
}

#[tokio::test]
async fn files_that_people_send_are_attached() {
    on_each_database(
        || vec![text_reply("Nice."), text_reply("A picture.")],
        async |delivery| {
            let Delivery { fake, server } = delivery;
            let file = json!({ "file_key": "file_1", "file_name": "a.txt" });
            delivery.write_content("ou_7", "ou_7", "file", &file).await;
            fake.until_text("ou_7", "Nice.").await;
            let post = json!({ "title": "", "content": [
                [{ "tag": "text", "text": "See " }, { "tag": "a", "text": "here", "href": "https://a.test" }],
                [{ "tag": "img", "image_key": "img_1" }],
            ] });
            delivery.write_content("ou_7", "ou_7", "post", &post).await;
            fake.until_text("ou_7", "A picture.").await;
            let gone = json!({ "file_key": "gone", "file_name": "b.txt" });
            delivery.write_content("ou_7", "ou_7", "file", &gone).await;
            fake.until_text("ou_7", "The file “b.txt” is too large, or cannot be read.").await;
            let caller = Caller::signed_in("ada").with_roles(vec!["support".to_owned()]);
            let list = server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap();
            let view = server.chat.conversation(&caller, &list.items[0].id).await.unwrap();
            let shown = serde_json::to_string(&view.messages).unwrap();
            assert!(
                ["a.txt", "See here (https://a.test)", "photo.jpg"].iter().all(|part| shown.contains(part)),
                "{shown}"
            );
        },
    )
    .await;
}
