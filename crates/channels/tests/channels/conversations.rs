//! Conversations in Telegram.

use crate::server::{self, CHANNEL, TestServer};
use crate::telegram::FakeTelegram;
use auth::AuthMethod;
use auth::password::KeyScope;
use chat::{Caller, TextOrigin};
use contract::testing::{Cue, text_reply, tool_call_reply};
use serde_json::json;
use std::time::Duration;
use store::sql;
use wire::Role;

/// Runs a test with each kind of database: a server with the user `ada`, whose account is linked to person 7.
pub(crate) async fn on_each_database(
    replies: impl Fn() -> Vec<Vec<Cue>>,
    test: impl AsyncFn(&TestServer, &FakeTelegram, &str),
) {
    server::on_each_database(async |database| {
        let (telegram, url) = FakeTelegram::start().await;
        let bot = FakeTelegram::connection(&url);
        let server = TestServer::start(&database, &bot, replies()).await;
        server.add_user("ada", "support").await;
        server.add_user("eve", "guest").await;
        telegram.link(7, &server.code("ada").await).await;
        test(&server, &telegram, &bot).await;
        server.shutdown().await;
    })
    .await;
}

pub(crate) fn ada() -> Caller {
    Caller::signed_in("ada").with_roles(vec!["support".to_owned()])
}

/// Returns the ids of the conversations of `ada`, with their pages.
pub(crate) async fn conversations(server: &TestServer) -> Vec<(String, String)> {
    let list = server.chat.conversations(&ada(), Default::default(), 10, None).await.unwrap();
    list.items.into_iter().map(|item| (item.id, item.page_id)).collect()
}

#[tokio::test]
async fn a_message_is_answered_in_a_conversation_of_the_user() {
    let replies = || vec![text_reply("Within **30 days**."), text_reply("Yes."), text_reply("A new one.")];
    on_each_database(replies, async |server, telegram, _| {
        telegram.write(7, 7, "When can I return it?");
        assert_eq!(telegram.until_text(7, "30 days.").await[1..], ["Within 30 days."]);
        telegram.write(7, 7, "Really?");
        telegram.until_text(7, "Yes.").await;
        let known = conversations(server).await;
        assert_eq!(known.iter().map(|(_, page)| page.as_str()).collect::<Vec<_>>(), ["home"]);
        let view = server.chat.conversation(&ada(), &known[0].0).await.unwrap();
        let said: Vec<_> = view.messages.iter().map(|message| (message.role, message.text())).collect();
        let expected = [
            (Role::User, "When can I return it?"),
            (Role::Assistant, "Within **30 days**."),
            (Role::User, "Really?"),
            (Role::Assistant, "Yes."),
        ];
        assert_eq!(said, expected.map(|(role, text)| (role, text.to_owned())));
        telegram.write(7, 7, "/new");
        telegram.until_text(7, "begins a new conversation").await;
        telegram.write(7, 7, "Hello");
        telegram.until_text(7, "A new one.").await;
        assert_eq!(conversations(server).await.len(), 2);
        telegram.write(7, 7, "/status");
        telegram.until_text(7, "You write as ada, to the agent helper.").await;
        telegram.write(7, 7, "/models");
        telegram.until_text(7, "This agent has one model.").await;
        telegram.write(7, 7, "/help");
        telegram.until_text(7, "/stop: Stop the answer").await;
        assert!(!telegram.texts(7).iter().any(|text| text == "…"), "{:?}", telegram.texts(7));
    })
    .await;
}

#[tokio::test]
async fn users_see_and_change_what_is_remembered_about_them() {
    on_each_database(Vec::new, async |server, telegram, _| {
        let facts = [("f1", "Lives in Oslo."), ("f2", "Works as a nurse.")];
        let facts = facts.map(|(id, content)| (id.to_owned(), content.to_owned()));
        *server.memory.0.lock().unwrap() = (facts.into(), true);
        telegram.write(7, 7, "/memory");
        telegram.until_text(7, "Lives in Oslo.").await;
        let listed = telegram.texts(7).into_iter().find(|text| text.contains("Lives in Oslo.")).unwrap();
        let line = listed.lines().find(|line| line.contains("Oslo")).unwrap();
        let number: String = line.chars().filter(char::is_ascii_digit).collect();
        assert_eq!(number.len(), 4, "{listed}");
        telegram.write(7, 7, &format!("/memory forget {number}"));
        telegram.until_text(7, "Forgotten: Lives in Oslo.").await;
        let left = server.memory.0.lock().unwrap().0.clone();
        assert_eq!(left.keys().collect::<Vec<_>>(), ["f2"]);
        // The number of a deleted fact does not select another one.
        telegram.write(7, 7, &format!("/memory forget {number}"));
        telegram.until_text(7, "Nothing with this number is remembered.").await;
        telegram.write(7, 7, "/memory off");
        telegram.until_text(7, "Memory is off").await;
        assert!(!server.memory.0.lock().unwrap().1);
        // In a group, others would read it.
        let command = json!({ "entities": [{ "type": "bot_command", "offset": 0, "length": 15 }] });
        telegram.write_with(7, -9, "/memory@HelpBot", command);
        telegram.until_text(-9, "Others read this chat.").await;
        assert!(!telegram.texts(-9).iter().any(|text| text.contains("nurse")));
    })
    .await;
}

#[tokio::test]
async fn strangers_get_one_line_and_no_run_and_codes_work_once() {
    on_each_database(
        || vec![text_reply("Hi Ada.")],
        async |server, telegram, _| {
            for text in ["Hi", "Hi again", "/start", "/help"] {
                telegram.write(8, 8, text);
            }
            telegram.write(8, 8, "/start 00000000000000000000000000000000");
            telegram.until_text(8, "not valid any more").await;
            assert_eq!(telegram.texts(8).len(), 2, "{:?}", telegram.texts(8));
            let code = server.code("ada").await;
            let newer = server.code("ada").await;
            telegram.write(9, 9, &format!("/start {code}"));
            telegram.until_text(9, "not valid any more").await;
            telegram.link(9, &newer).await;
            telegram.write(10, 10, &format!("/start {newer}"));
            telegram.until_text(10, "not valid any more").await;
            assert!(conversations(server).await.is_empty());
            // Without a mention, nothing in a group is for the bot.
            telegram.write(8, -5, "Hi all");
            let mention = json!({ "entities": [{ "type": "mention", "offset": 0, "length": 8 }] });
            telegram.write_with(7, -5, "@HelpBot hello", mention);
            assert_eq!(telegram.until_text(-5, "Hi Ada.").await.len(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn a_link_is_confirmed_and_never_replaces_another() {
    on_each_database(
        || vec![text_reply("Hi.")],
        async |server, telegram, _| {
            server.add_user("mallory", "support").await;
            let code = server.code("mallory").await;
            // A user who is linked already, and a group that reads the code.
            telegram.write(7, 7, &format!("/start {code}"));
            telegram.until_text(7, "You are linked as “ada”. To link another account, unlink first").await;
            telegram.press(7, 7, telegram.messages()[0].0, &format!("link:{code}"));
            telegram.until("refused", |fake| fake.texts(7)[0].contains("You are linked as “ada”")).await;
            telegram.write(8, 8, &format!("/start {code}"));
            telegram.until_text(8, "Link this chat to the account “mallory”?").await;
            telegram.write(8, 8, "Hi");
            telegram.until_text(8, "I answer people who have an account").await;
            let mention = json!({ "entities": [{ "type": "mention", "offset": 0, "length": 8 }] });
            telegram.write_with(8, -5, &format!("@HelpBot /start {code}"), mention);
            telegram.until_text(-5, "send it to me in a direct message").await;
            let (id, link) = telegram.button(8).unwrap();
            telegram.press(8, 8, id, &link);
            telegram.until_text(8, "not valid any more").await;
            // After unlinking, another account can be linked.
            telegram.write(7, 7, "/unlink");
            telegram.until_text(7, "Unlinked.").await;
            telegram.link(7, &server.code("mallory").await).await;
            telegram.write(7, 7, "/status");
            telegram.until_text(7, "You write as mallory").await;
            assert!(conversations(server).await.is_empty());
        },
    )
    .await;
}

/// Ends the jobs that handle messages, as if they had failed for good.
async fn end_turns(server: &TestServer) {
    let delete = server.store.write(|db| {
        Box::pin(async move {
            sql::query("DELETE FROM jobs WHERE kind = 'channels.turn'").execute(db).await?;
            Ok(())
        })
    });
    delete.await.unwrap();
}

#[tokio::test]
async fn a_message_whose_job_has_failed_is_answered_unless_its_link_is_gone() {
    on_each_database(
        || vec![text_reply("Hi.")],
        async |server, telegram, _| {
            telegram.link(9, &server.code("ada").await).await;
            // The messenger asks for a long wait, so both jobs wait.
            let wait = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": { "retry_after": 20 } });
            telegram.fail("sendMessage", 429, wait.clone());
            telegram.fail("sendMessage", 429, wait);
            let sent = || telegram.calls().iter().filter(|call| *call == "sendMessage").count();
            let before = sent();
            telegram.write(7, 7, "From 7");
            telegram.write(9, 9, "From 9");
            telegram.until("both", |_| sent() == before + 2).await;
            let (_, page) = server.page("ada", "support", "GET", "/account/messengers", AuthMethod::Primary).await;
            // The newest link comes first.
            let link = page.split("/account/messengers/links/").nth(1).unwrap().split('/').next().unwrap().to_owned();
            let delete = format!("/account/messengers/links/{link}/delete");
            assert_eq!(server.page("ada", "support", "POST", &delete, AuthMethod::Primary).await.0, 303);
            end_turns(server).await;
            telegram.until_text(7, "Hi.").await;
            assert!(!telegram.texts(9).iter().any(|text| text.contains("Hi.") || text == "…"), "{:?}", telegram.texts(9));
            assert_eq!(conversations(server).await.len(), 1);
        },
    )
    .await;
}

#[tokio::test]
async fn rights_are_looked_up_for_each_message() {
    on_each_database(
        || vec![text_reply("Hi.")],
        async |server, telegram, _| {
            let (status, _) =
                server.page("eve", "guest", "POST", "/account/messengers/help/code", AuthMethod::Primary).await;
            assert_eq!(status, 404, "the agent is not for them");
            let key = AuthMethod::Key(vec![KeyScope::Agents, KeyScope::Conversations]);
            let (status, _) = server.page("ada", "support", "POST", "/account/messengers/help/code", key).await;
            assert_eq!(status, 403, "a link has more rights than a key");
            let (_, page) = server.page("ada", "support", "GET", "/account/messengers", AuthMethod::Primary).await;
            let link = page.split("/account/messengers/links/").nth(1).unwrap().split('/').next().unwrap().to_owned();
            server.store.set_disabled("ada", Some(1)).await.unwrap();
            telegram.write(7, 7, "Hi");
            telegram.until_text(7, "You cannot use this agent at the moment.").await;
            server.store.set_disabled("ada", None).await.unwrap();
            telegram.write(7, 7, "Hi");
            telegram.until_text(7, "Hi.").await;
            let delete = format!("/account/messengers/links/{link}/delete");
            assert_eq!(server.page("eve", "guest", "POST", &delete, AuthMethod::Primary).await.0, 404);
            assert_eq!(server.page("ada", "support", "POST", &delete, AuthMethod::Primary).await.0, 303);
            telegram.write(7, 7, "Hi");
            telegram.until_text(7, "I answer people who have an account").await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_call_is_approved_by_its_user_only_and_once() {
    let replies = || vec![tool_call_reply(&[("a", "act", r#"{"to":"x\u202ey"}"#)]), text_reply("Done it.")];
    on_each_database(replies, async |server, telegram, _| {
        telegram.link(9, &server.code("ada").await).await;
        telegram.write(7, 7, "Do it");
        telegram.until_text(7, "[U+202E]").await;
        telegram.until("buttons", |fake| fake.button(7).is_some()).await;
        let (id, approve) = telegram.button(7).unwrap();
        // A user who is not linked, a card of another chat, and a choice that does not exist.
        telegram.press(11, 7, id, &approve);
        telegram.press(9, 9, id, &approve);
        telegram.until("refused", |fake| fake.acknowledged() == ["This button is not valid any more."]).await;
        telegram.press(7, 7, id, &approve.replace(":y", ":z"));
        telegram.until("refused", |fake| fake.acknowledged().len() == 2).await;
        assert!(server.effects.lock().unwrap().is_empty());
        telegram.press(7, 7, id, &approve);
        telegram.until_text(7, "Done it.").await;
        telegram.press(7, 7, id, &approve);
        telegram
            .until("decided", |fake| fake.acknowledged().last().is_some_and(|last| last.contains("decided already")))
            .await;
        assert_eq!(*server.effects.lock().unwrap(), [json!({ "to": "x\u{202e}y" })]);
        let (_, card) = telegram.messages().into_iter().find(|(at, _)| *at == id).unwrap();
        assert!(card.buttons.is_empty() && card.text.contains("act"), "{card:?}");
    })
    .await;
}

#[tokio::test]
async fn a_question_is_answered_by_a_button_or_a_text() {
    let input = r#"{"kind":"approach_choice","question":"Which?","options":["Red","Blue"]}"#;
    let question = || tool_call_reply(&[("q", "ask-user", input)]);
    let replies = || vec![question(), text_reply("Blue it is."), question(), text_reply("Green it is.")];
    on_each_database(replies, async |_, telegram, _| {
        telegram.write(7, 7, "Paint it");
        telegram.until("buttons", |fake| fake.button(7).is_some()).await;
        let (card, red) = telegram.button(7).unwrap();
        telegram.press(7, 7, card, &red.replace(":0", ":1"));
        telegram.until_text(7, "Blue it is.").await;
        telegram.until_text(7, "➡️ Blue").await;
        telegram.write(7, 7, "Again");
        telegram.until("buttons", |fake| fake.button(7).is_some()).await;
        telegram.write(7, 7, "Green");
        telegram.until_text(7, "Green it is.").await;
    })
    .await;
}

#[tokio::test]
async fn an_api_that_does_not_wait_for_messages_is_asked_once_a_second() {
    on_each_database(Vec::new, async |_, telegram, _| {
        telegram.be_impatient();
        telegram.write(7, 7, "/status");
        telegram.until_text(7, "You write as ada").await;
        let before = telegram.polls();
        tokio::time::sleep(Duration::from_secs(3)).await;
        let polls = telegram.polls() - before;
        assert!(polls <= 4, "{polls}");
    })
    .await;
}

#[tokio::test]
async fn the_rates_of_the_messenger_are_kept_and_a_refused_format_is_left_out() {
    let long = "word ".repeat(1_500);
    let replies = || vec![text_reply(&long), text_reply("**bold**")];
    on_each_database(replies, async |_, telegram, _| {
        let wait = json!({ "ok": false, "error_code": 429, "description": "Too Many Requests", "parameters": { "retry_after": 1 } });
        telegram.fail("sendMessage", 429, wait.clone());
        telegram.fail("editMessageText", 429, wait);
        telegram.write(7, 7, "Much");
        telegram.until("two messages", |fake| fake.texts(7).iter().filter(|text| text.starts_with("word")).count() == 2).await;
        let entity = json!({ "ok": false, "error_code": 400, "description": "Bad Request: can't parse entities" });
        telegram.fail("editMessageText", 400, entity);
        telegram.write(7, 7, "Bold");
        telegram.until_text(7, "bold").await;
    })
    .await;
}

#[tokio::test]
async fn a_photo_is_attached() {
    on_each_database(
        || vec![text_reply("Nice.")],
        async |server, telegram, _| {
            let photo = json!({ "text": null, "caption": "Look", "photo": [{ "file_id": "f", "width": 9 }] });
            telegram.write_with(7, 7, "", photo);
            telegram.until_text(7, "Nice.").await;
            let (id, _) = conversations(server).await.remove(0);
            let view = server.chat.conversation(&ada(), &id).await.unwrap();
            let shown = serde_json::to_string(&view.messages[0].parts).unwrap();
            assert!(shown.contains("Look") && shown.contains("photo.jpg") && shown.contains("/api/files/"), "{shown}");
        },
    )
    .await;
}

/// So that nothing of it is remembered about the user.
#[tokio::test]
async fn a_forwarded_message_is_stored_as_text_of_another_person() {
    on_each_database(
        || vec![text_reply("Noted."), text_reply("Fine.")],
        async |server, telegram, _| {
            telegram.write_with(7, 7, "I live in Oslo.", json!({ "forward_origin": { "type": "hidden_user" } }));
            telegram.until_text(7, "Noted.").await;
            telegram.write(7, 7, "That was Bob.");
            telegram.until_text(7, "Fine.").await;
            let (id, _) = conversations(server).await.remove(0);
            let view = server.chat.conversation(&ada(), &id).await.unwrap();
            let origins: Vec<_> = view.messages.iter().map(TextOrigin::from_message).collect();
            assert_eq!((origins[0], origins[2]), (TextOrigin::Forwarded, TextOrigin::User));
        },
    )
    .await;
}

#[tokio::test]
async fn a_bot_is_read_as_long_as_the_config_has_it() {
    on_each_database(
        || vec![text_reply("One."), text_reply("Two.")],
        async |server, telegram, bot| {
            telegram.write(7, 7, "1");
            telegram.until_text(7, "One.").await;
            server.configure(bot, "[]");
            assert!(
                !server
                    .page("ada", "support", "GET", "/account/messengers", AuthMethod::Primary)
                    .await
                    .1
                    .contains("@HelpBot")
            );
            telegram.write(7, 7, "2");
            tokio::time::sleep(Duration::from_millis(300)).await;
            assert!(!telegram.texts(7).iter().any(|text| text.contains("Two.")));
            server.configure(bot, CHANNEL);
            telegram.until_text(7, "Two.").await;
        },
    )
    .await;
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_messages() {
    on_each_database(Vec::new, async |server, telegram, bot| {
        telegram.write(7, 7, "/status");
        telegram.until_text(7, "You write as ada").await;
        // The bot is read in requests that wait for messages for many seconds, again and again.
        let ended = tokio::time::timeout(Duration::from_secs(60), server.end_jobs(Duration::from_secs(3_600)));
        ended.await.expect("the job that reads the bot ends when the server begins to shut down");
        let states = sql::query_scalar::<String>("SELECT state FROM jobs WHERE kind = 'channels.poll'");
        let states = server.store.read(move |db| Box::pin(async move { Ok(states.fetch_all(db).await?) })).await;
        assert_eq!(states.unwrap(), ["waiting"], "{bot}: another server reads on");
    })
    .await;
}
