//! Conversations in Discord.

use crate::discord::{BOT_USER, FakeDiscord};
use crate::server::{self, CHANNEL, TestServer};
use chat::Caller;
use contract::testing::{Cue, text_reply, tool_call_reply};
use serde_json::json;

/// The direct messages of the person 7.
const DIRECT: u64 = 907;
/// A channel of a server.
const SERVER: u64 = 50;

/// Runs a test with each kind of database: a server with the user `ada`, whose account is linked to person 7.
async fn on_each_database(replies: impl Fn() -> Vec<Vec<Cue>>, test: impl AsyncFn(&TestServer, &FakeDiscord)) {
    server::on_each_database(async |database| {
        let (discord, url) = FakeDiscord::start().await;
        let server = TestServer::start(&database, &FakeDiscord::connection(&url), replies()).await;
        server.add_user("ada", "support").await;
        discord.link(7, &server.code("ada").await).await;
        test(&server, &discord).await;
        server.shutdown().await;
    })
    .await;
}

fn ada() -> Caller {
    Caller::signed_in("ada").with_roles(vec!["support".to_owned()])
}

async fn conversations(server: &TestServer) -> Vec<String> {
    let list = server.chat.conversations(&ada(), Default::default(), 10, None).await.unwrap();
    list.items.into_iter().map(|item| item.id).collect()
}

fn mentioned(text: &str) -> String {
    format!("<@{BOT_USER}> {text}")
}

#[tokio::test]
async fn direct_messages_and_mentions_are_answered() {
    let replies = || vec![text_reply("Within **30 days**."), text_reply("In a channel."), text_reply("As a reply.")];
    on_each_database(replies, async |server, discord| {
        discord.write(7, DIRECT, "When can I return it?");
        discord.until_text(DIRECT, "Within **30 days**.").await;
        // Without a mention, nothing in a server is for the bot.
        discord.write(7, SERVER, "Hi all");
        discord.write(7, SERVER, &mentioned("hello"));
        discord.until_text(SERVER, "In a channel.").await;
        let (id, _) =
            discord.messages().into_iter().rfind(|(_, message)| message.channel == SERVER.to_string()).unwrap();
        let reply = json!({ "type": 19, "referenced_message": { "id": id.to_string(), "author": { "id": BOT_USER } } });
        discord.write_with(7, SERVER, "And?", reply);
        assert_eq!(discord.until_text(SERVER, "As a reply.").await.len(), 2);
        assert_eq!(conversations(server).await.len(), 2);
        assert!(!discord.texts(DIRECT).iter().any(|text| text == "…"), "{:?}", discord.texts(DIRECT));
    })
    .await;
}

#[tokio::test]
async fn commands_are_answered_in_place() {
    on_each_database(
        || vec![text_reply("Hi.")],
        async |server, discord| {
            assert_eq!(discord.commands(), ["new", "stop", "status", "models", "memory", "unlink", "help", "link"]);
            let sent = || discord.calls().iter().filter(|call| *call == "send").count();
            let before = sent();
            discord.command(7, DIRECT, "status", None);
            discord.until_text(DIRECT, "You write as ada, to the agent helper.").await;
            discord.command(7, SERVER, "models", Some("fast"));
            discord.until_text(SERVER, "This agent has one model.").await;
            discord.command(7, SERVER, "help", None);
            discord.until_text(SERVER, "• /stop: Stop the answer").await;
            assert_eq!(sent(), before, "the response to a command becomes its answer");
            discord.write(7, DIRECT, "Hi");
            discord.until_text(DIRECT, "Hi.").await;
            discord.command(7, DIRECT, "new", None);
            discord.until_text(DIRECT, "begins a new conversation").await;
            assert_eq!(conversations(server).await.len(), 1);
            // Strangers get a reply that only they see.
            discord.command(8, SERVER, "status", None);
            discord.until_text(SERVER, "I answer people who have an account").await;
            discord.command(8, SERVER, "status", None);
            discord.until_text(SERVER, "This was not accepted.").await;
            let hidden = discord.messages().into_iter().filter(|(_, message)| message.is_hidden).count();
            assert_eq!(hidden, 2);
            discord.command(7, DIRECT, "unlink", None);
            discord.until_text(DIRECT, "Unlinked.").await;
            discord.write(7, DIRECT, "Hi");
            discord.until_text(DIRECT, "I answer people who have an account").await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_session_goes_on_over_the_next_connection_and_events_are_handled_once() {
    let replies = || vec![text_reply("One."), text_reply("Two."), text_reply("Three."), text_reply("Four.")];
    on_each_database(replies, async |server, discord| {
        let message = discord.write(7, DIRECT, "1");
        discord.send_again(message.clone());
        discord.until_text(DIRECT, "One.").await;
        let known = discord.guild().resumed;
        discord.reconnect();
        discord.write(7, DIRECT, "2");
        discord.until_text(DIRECT, "Two.").await;
        assert!(discord.guild().resumed > known);
        // A session that is gone is replaced.
        discord.forget_sessions();
        discord.until("another session", |fake| !fake.guild().sessions.is_empty()).await;
        discord.send_again(message);
        discord.write(7, DIRECT, "3");
        discord.until_text(DIRECT, "Three.").await;
        assert_eq!((discord.texts(DIRECT).len(), conversations(server).await.len()), (4, 1));
    })
    .await;
}

#[tokio::test]
async fn a_call_is_approved_by_its_user_only_and_once() {
    let replies = || vec![tool_call_reply(&[("a", "act", r#"{"to":"x\u202ey"}"#)]), text_reply("Done it.")];
    on_each_database(replies, async |server, discord| {
        server.add_user("eve", "support").await;
        discord.link(8, &server.code("eve").await).await;
        discord.write(7, SERVER, &mentioned("do it"));
        discord.until_text(SERVER, "[U+202E]").await;
        discord.until("buttons", |fake| fake.button(SERVER).is_some()).await;
        let (card, approve) = discord.button(SERVER).unwrap();
        discord.press(8, SERVER, card, &approve);
        discord.until_text(SERVER, "Only the person who was asked").await;
        let refusal = discord.messages().into_iter().find(|(_, message)| message.content.contains("Only the person"));
        assert!(refusal.unwrap().1.is_hidden);
        assert!(server.effects.lock().unwrap().is_empty());
        discord.press(7, SERVER, card, &approve);
        discord.until_text(SERVER, "Done it.").await;
        discord.press(7, SERVER, card, &approve);
        discord.write(7, SERVER, &mentioned("!status"));
        discord.until_text(SERVER, "You write as ada").await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x\u{202e}y" })]);
        let (_, shown) = discord.messages().into_iter().find(|(id, _)| *id == card).unwrap();
        assert!(shown.buttons.is_empty() && shown.content.contains("✅ Approved"), "{shown:?}");
    })
    .await;
}

#[tokio::test]
async fn a_question_is_answered_by_a_button_or_a_text() {
    let options: Vec<String> = (0..7).map(|number| format!("\"Colour {number}\"")).collect();
    let input = format!(r#"{{"kind":"approach_choice","question":"Which?","options":[{}]}}"#, options.join(","));
    let question = || tool_call_reply(&[("q", "ask-user", &input)]);
    let replies = || vec![question(), text_reply("Green it is."), question(), text_reply("Second it is.")];
    on_each_database(replies, async |_, discord| {
        discord.write(7, DIRECT, "Paint it");
        discord.until("buttons", |fake| fake.button(DIRECT).is_some()).await;
        discord.write(7, DIRECT, "Green");
        discord.until_text(DIRECT, "Green it is.").await;
        discord.until_text(DIRECT, "➡️ Green").await;
        discord.write(7, DIRECT, "Again");
        discord.until("buttons", |fake| fake.button(DIRECT).is_some()).await;
        let (card, first) = discord.button(DIRECT).unwrap();
        discord.press(7, DIRECT, card, &first.replace(":0", ":1"));
        discord.until_text(DIRECT, "Second it is.").await;
        discord.until_text(DIRECT, "➡️ Colour 1").await;
    })
    .await;
}

#[tokio::test]
async fn long_answers_are_split_and_the_rates_of_discord_are_kept() {
    let long = "word ".repeat(1_000);
    let replies = || vec![text_reply(&long), text_reply("@everyone <@8> is **bold**")];
    on_each_database(replies, async |_, discord| {
        discord.fail(
            "send",
            429,
            json!({ "message": "You are being rate limited.", "retry_after": 0.3, "global": false }),
        );
        discord.write(7, DIRECT, "Long");
        discord
            .until("three messages", |fake| {
                let words: usize = fake.texts(DIRECT).iter().map(|text| text.matches("word").count()).sum();
                words == 1_000
            })
            .await;
        discord.fail("edit", 500, json!({ "message": "500: Internal Server Error" }));
        discord.write(7, DIRECT, "Bold");
        discord.until_text(DIRECT, "@everyone \\<@8> is **bold**").await;
    })
    .await;
}

#[tokio::test]
async fn a_file_is_attached_unless_it_is_elsewhere() {
    on_each_database(
        || vec![text_reply("Nice.")],
        async |server, discord| {
            let elsewhere = json!({ "attachments": [{ "url": "https://a.test/files/a.txt", "filename": "a.txt" }] });
            discord.write_with(7, DIRECT, "Look", elsewhere);
            discord.until_text(DIRECT, "cannot be read").await;
            let url = format!("{}/files/a.txt", discord.guild().url);
            discord.write_with(7, DIRECT, "Look", json!({ "attachments": [{ "url": url, "filename": "a.txt" }] }));
            discord.until_text(DIRECT, "Nice.").await;
            let id = conversations(server).await.remove(0);
            let view = server.chat.conversation(&ada(), &id).await.unwrap();
            let shown = serde_json::to_string(&view.messages[0].parts).unwrap();
            assert!(shown.contains("Look") && shown.contains("a.txt"), "{shown}");
        },
    )
    .await;
}

#[tokio::test]
async fn beyond_the_limit_the_oldest_channel_is_forgotten() {
    let channels = CHANNEL.replace("maxWaiting: 3", "maxChats: 1");
    server::on_each_database(async |database| {
        let (discord, url) = FakeDiscord::start().await;
        let replies = vec![text_reply("One."), text_reply("Two."), text_reply("Three.")];
        let bot = FakeDiscord::connection(&url);
        let server = TestServer::start_with_channels(&database, &bot, &channels, replies).await;
        server.add_user("ada", "support").await;
        discord.link(7, &server.code("ada").await).await;
        for (channel, answer) in [(50, "One."), (51, "Two."), (50, "Three.")] {
            discord.write(7, channel, &mentioned("Hi"));
            discord.until_text(channel, answer).await;
        }
        assert_eq!(conversations(&server).await.len(), 3);
        server.shutdown().await;
    })
    .await;
}
