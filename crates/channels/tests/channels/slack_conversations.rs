//! Conversations in Slack, over Socket Mode.

use crate::server::{self, CHANNEL, TestServer};
use crate::slack::FakeSlack;
use chat::Caller;
use contract::testing::{Cue, text_reply, tool_call_reply};
use serde_json::json;
use store::AuditFilter;

/// Runs a test with each kind of database: a server with the user `ada`, whose account is linked to `U7`.
async fn on_each_database(replies: impl Fn() -> Vec<Vec<Cue>>, test: impl AsyncFn(&TestServer, &FakeSlack)) {
    server::on_each_database(async |database| {
        let (slack, url) = FakeSlack::start().await;
        let server = TestServer::start(&database, &FakeSlack::connection(&url), replies()).await;
        server.add_user("ada", "support").await;
        slack.link("U7", &server.code("ada").await).await;
        test(&server, &slack).await;
        server.shutdown().await;
    })
    .await;
}

async fn conversations(server: &TestServer, user: &str) -> usize {
    let caller = Caller::signed_in(user).with_roles(vec!["support".to_owned()]);
    server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap().items.len()
}

#[tokio::test]
async fn direct_messages_and_threads_are_conversations() {
    let replies = || vec![text_reply("Within **30 days**."), text_reply("In a thread."), text_reply("Still there.")];
    on_each_database(replies, async |server, slack| {
        slack.write("U7", "D7", "When can I return it?");
        slack.until_text("D7", "Within 30 days.").await;
        // Without a mention, nothing in a channel is for the bot.
        slack.write("U7", "C1", "Hi all");
        let ts = slack.write("U7", "C1", "<@UBOT> hello");
        let thread = format!("C1/{ts}");
        assert_eq!(slack.until_text(&thread, "In a thread.").await.len(), 1);
        // There, people who talk to the bot need not mention it; others do.
        slack.write("U8", &thread, "May I?");
        slack.write("U7", &thread, "And?");
        assert_eq!(slack.until_text(&thread, "Still there.").await.len(), 2);
        assert_eq!(conversations(server, "ada").await, 2);
        slack.write("U7", "D7", "!new");
        slack.until_text("D7", "begins a new conversation").await;
        slack.write("U7", "D7", "!status");
        slack.until_text("D7", "You write as ada, to the agent helper.").await;
        slack.write("U7", "D7", "!models");
        slack.until_text("D7", "This agent has one model.").await;
        slack.write("U7", "D7", "!help");
        slack.until_text("D7", "!stop: Stop the answer").await;
        slack.until("everything is acknowledged", |fake| fake.waiting() == 0).await;
        assert_eq!(slack.texts("C1").len(), 2, "{:?}", slack.texts("C1"));
    })
    .await;
}

#[tokio::test]
async fn a_message_is_answered_once_also_if_it_is_sent_again() {
    let replies = || vec![text_reply("One."), text_reply("Two."), text_reply("Three.")];
    on_each_database(replies, async |server, slack| {
        // A mention comes as two events, and each may come again.
        let message = slack.message("U7", "C1", "<@UBOT> hello", json!({}));
        let mut mention = message.clone();
        mention["event"]["type"] = "app_mention".into();
        mention["event"].as_object_mut().unwrap().remove("channel_type");
        for payload in [&message, &mention, &message] {
            slack.send_event(payload.clone());
        }
        slack.until_text("C1", "One.").await;
        let known = slack.connections();
        slack.refresh();
        slack.until("another connection", |fake| fake.connections() > known).await;
        slack.send_event(mention);
        // Its own messages, those of other bots, and edits.
        slack.write_with("UBOT", "D7", "me", json!({ "bot_id": "B1" }));
        slack.write_with("U7", "D7", "edited", json!({ "subtype": "message_changed" }));
        slack.write("U7", "D7", "Next");
        slack.until_text("D7", "Two.").await;
        assert_eq!((slack.texts("C1").len(), conversations(server, "ada").await), (1, 2));
    })
    .await;
}

#[tokio::test]
async fn strangers_get_one_line_that_only_they_see() {
    on_each_database(
        || vec![text_reply("Hi.")],
        async |server, slack| {
            slack.write("U8", "C1", "<@UBOT> hello");
            slack.write("U8", "C1", "<@UBOT> again");
            slack.write("U9", "D9", "Hi");
            slack.write("U9", "D9", "!link 00000000000000000000000000000000");
            slack.until_text("D9", "not valid any more").await;
            let messages = slack.messages();
            let only: Vec<_> = messages.iter().filter(|(_, message)| message.channel == "C1").collect();
            assert_eq!(only.len(), 1, "{only:?}");
            assert_eq!(only[0].1.only.as_deref(), Some("U8"));
            assert_eq!(slack.texts("D9").len(), 2);
            // A code in a channel is not valid any more.
            let code = server.code("ada").await;
            slack.write("U8", "C1", &format!("<@UBOT> !link {code}"));
            slack.write("U9", "D9", &format!("!link {code}"));
            slack.until("the code is refused", |fake| fake.texts("D9").len() == 3).await;
            assert_eq!(conversations(server, "ada").await, 0);
            slack.write("U7", "D7", "!unlink");
            slack.until_text("D7", "Unlinked.").await;
            // Sent again, it is not the message of a stranger. The next text shows that it was handled.
            let known = slack.texts("D7").len();
            slack.write("U7", "D7", "!unlink");
            slack.write("U5", "D5", "Hi");
            slack.until_text("D5", "I answer people who have an account").await;
            assert_eq!(slack.texts("D7").len(), known);
            let rows = server.store.audit_list(AuditFilter::default(), 20, None).await.unwrap();
            let mut tools: Vec<_> = rows.iter().map(|row| row.tool.as_str()).collect();
            tools.sort_unstable();
            assert_eq!(tools, ["messenger:link", "messenger:unlink"]);
        },
    )
    .await;
}

#[tokio::test]
async fn a_call_is_approved_by_its_user_only_and_once() {
    let replies = || vec![tool_call_reply(&[("a", "act", r#"{"to":"x\u202ey"}"#)]), text_reply("Done it.")];
    on_each_database(replies, async |server, slack| {
        server.add_user("eve", "support").await;
        slack.link("U9", &server.code("eve").await).await;
        let ts = slack.write("U7", "C1", "<@UBOT> do it");
        let thread = format!("C1/{ts}");
        slack.until_text(&thread, "[U+202E]").await;
        slack.until("buttons", |fake| fake.button("C1").is_some()).await;
        let (card, approve) = slack.button("C1").unwrap();
        slack.press("U9", &card, &approve);
        slack.until_text(&thread, "Only the person who was asked").await;
        let refusal = slack.messages().into_iter().find(|(_, message)| message.text.contains("Only the person"));
        assert_eq!(refusal.unwrap().1.only.as_deref(), Some("U9"));
        slack.press("U11", &card, &approve);
        assert!(server.effects.lock().unwrap().is_empty());
        slack.press("U7", &card, &approve);
        slack.until_text(&thread, "Done it.").await;
        slack.press("U7", &card, &approve);
        slack.until("everything is acknowledged", |fake| fake.waiting() == 0).await;
        slack.write("U7", &thread, "!status");
        slack.until_text(&thread, "You write as ada").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x\u{202e}y" })]);
        let (_, shown) = slack.messages().into_iter().find(|(ts, _)| *ts == card).unwrap();
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
    on_each_database(replies, async |_, slack| {
        slack.write("U7", "D7", "Paint it");
        slack.until("buttons", |fake| fake.button("D7").is_some()).await;
        slack.write("U7", "D7", "Green");
        slack.until_text("D7", "Green it is.").await;
        slack.until_text("D7", "➡️ Green").await;
        slack.write("U7", "D7", "Again");
        slack.until("buttons", |fake| fake.button("D7").is_some()).await;
        let (card, red) = slack.button("D7").unwrap();
        slack.press("U7", &card, &red.replace(":0", ":1"));
        slack.until_text("D7", "Blue it is.").await;
        slack.until_text("D7", "➡️ Blue").await;
    })
    .await;
}

#[tokio::test]
async fn long_answers_are_split_and_the_rates_of_slack_are_kept() {
    let long = "word ".repeat(1_000);
    let replies = || vec![text_reply(&long), text_reply("**bold**"), text_reply("<!channel> <@U8> & all")];
    on_each_database(replies, async |_, slack| {
        slack.fail("chat.postMessage", 429, json!({ "ok": false, "error": "ratelimited", "retryAfter": 1 }));
        slack.write("U7", "D7", "Long");
        slack
            .until("two messages", |fake| {
                let words: usize = fake.texts("D7").iter().map(|text| text.matches("word").count()).sum();
                words == 1_000
            })
            .await;
        slack.fail("chat.update", 200, json!({ "ok": false, "error": "invalid_blocks" }));
        slack.write("U7", "D7", "Bold");
        slack.until_text("D7", "bold").await;
        slack.write("U7", "D7", "Ping");
        slack.until_text("D7", "<!channel> <@U8> & all").await;
    })
    .await;
}

#[tokio::test]
async fn files_are_attached() {
    on_each_database(
        || vec![text_reply("Nice.")],
        async |server, slack| {
            let files = json!({ "subtype": "file_share", "files": [{ "id": "F1", "name": "a.txt" }, { "id": "F2", "name": "b.txt" }] });
            slack.write_with("U7", "D7", "Look", files);
            slack.until_text("D7", "Nice.").await;
            let caller = Caller::signed_in("ada").with_roles(vec!["support".to_owned()]);
            let list = server.chat.conversations(&caller, Default::default(), 10, None).await.unwrap();
            let view = server.chat.conversation(&caller, &list.items[0].id).await.unwrap();
            let shown = serde_json::to_string(&view.messages[0].parts).unwrap();
            assert!(shown.contains("Look") && shown.contains("a.txt") && shown.contains("b.txt"), "{shown}");
        },
    )
    .await;
}

#[tokio::test]
async fn members_of_the_workspace_are_linked_by_their_confirmed_address() {
    let channels = CHANNEL.replace("maxWaiting: 3", "users: verifiedEmail");
    server::on_each_database(async |database| {
        let (slack, url) = FakeSlack::start().await;
        let bot = FakeSlack::connection(&url);
        let server = TestServer::start_with_channels(&database, &bot, &channels, vec![text_reply("Hi Ada.")]).await;
        server.add_user("ada@corp.test", "support").await;
        for (person, chat) in [("UUNSURE", "D2"), ("UOTHER", "D3"), ("UNOBODY", "D4")] {
            slack.write(person, chat, "Hi");
            slack.until_text(chat, "I answer people who have an account").await;
        }
        slack.write("UADA", "D1", "Hi");
        slack.until_text("D1", "Hi Ada.").await;
        assert_eq!(conversations(&server, "ada@corp.test").await, 1);
        server.shutdown().await;
    })
    .await;
}

#[tokio::test]
async fn beyond_the_limit_the_oldest_thread_is_forgotten() {
    let channels = CHANNEL.replace("maxWaiting: 3", "maxChats: 1");
    server::on_each_database(async |database| {
        let (slack, url) = FakeSlack::start().await;
        let replies = vec![text_reply("One."), text_reply("Two."), text_reply("Three.")];
        let server = TestServer::start_with_channels(&database, &FakeSlack::connection(&url), &channels, replies).await;
        server.add_user("ada", "support").await;
        slack.link("U7", &server.code("ada").await).await;
        let first = slack.write("U7", "C1", "<@UBOT> 1");
        slack.until_text("C1", "One.").await;
        let second = slack.write("U7", "C1", "<@UBOT> 2");
        slack.until_text("C1", "Two.").await;
        slack.write("U7", &format!("C1/{first}"), "not read");
        slack.write("U7", &format!("C1/{second}"), "3");
        slack.until_text(&format!("C1/{second}"), "Three.").await;
        assert_eq!(slack.texts(&format!("C1/{first}")).len(), 1);
        server.shutdown().await;
    })
    .await;
}
