//! Search: what it finds, that queries have no operators, and that the index follows all changes.

use crate::support::{OutsideConnection, begin, end, on_each_database, on_each_url, submission, turn, url_in};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sqlx::ConnectOptions;
use sqlx::migrate::Migrator;
use sqlx::sqlite::SqliteConnectOptions;
use std::path::Path;
use store::{SearchCursor, Store};
use wire::organize::ConversationChange;
use wire::{Role, UiMessage};

/// Returns the results as `conversation/message: passage` with the matches in brackets.
async fn found(store: &Store, text: &str) -> String {
    let found = store.search("ada", text, 10, None).await.unwrap();
    let line = |found: &wire::organize::SearchHit| {
        let piece = |(at, piece): (usize, &String)| if at % 2 == 1 { format!("[{piece}]") } else { piece.clone() };
        let passage: String = found.passage.iter().enumerate().map(piece).collect();
        format!("{}/{}: {passage}", found.conversation.id, found.message_id.as_deref().unwrap_or_default())
    };
    found.iter().map(line).collect::<Vec<_>>().join("\n")
}

async fn say(store: &Store, conversation: &str, key: &str, question: &str, answer: &str, now: i64) {
    let mut asked = submission(conversation, key, None, now);
    asked.insert[0].message = UiMessage::user(key, question);
    asked.title = question.chars().take(9).collect();
    store.begin_run("ada", asked).await.unwrap();
    let message = UiMessage { role: Role::Assistant, ..UiMessage::user(format!("a-{key}"), answer) };
    store.finish_run(store::FinishRun { message, ..end(key, 1, now) }).await.unwrap();
}

#[tokio::test]
async fn words_are_found_in_titles_questions_and_answers() {
    on_each_database(async |store| {
        say(store, "a", "m1", "Where is my Überweisung?", "It arrives on Friday.", 10).await;
        say(store, "b", "m2", "Refunds and more", "A refund takes five days. Money comes back to the card.", 20).await;
        let check = async |text: &str, expected: &str| assert_eq!(found(store, text).await, expected, "{text}");
        check("friday", "a/a-m1: It arrives on [Friday].").await;
        check("uberweisung", "a/m1: Where is my [Überweisung]?").await;
        check("five refund", "b/a-m2: A [refund] takes [five] days. Money comes back to the card.").await;
        check("ref", "b/a-m2: A [refund] takes five days. Money comes back to the card.").await;
        check("ref five", "").await;
        check("nothing", "").await;
        check(
            "a",
            "b/a-m2: [A] refund takes five days. Money comes back to the card.\na/a-m1: It [arrives] on Friday.",
        )
        .await;
        let title = ConversationChange { title: Some("Holiday plans".to_owned()), ..ConversationChange::default() };
        store.change_conversations("ada", vec!["a".to_owned()], title, 30).await.unwrap();
        check("plans", "a/: [Holiday plans]".replace("[Holiday plans]", "Holiday [plans]").as_str()).await;
    })
    .await;
}

#[tokio::test]
async fn results_are_paged() {
    on_each_database(async |store| {
        for (id, now) in [("a", 10), ("b", 20), ("c", 20), ("d", 30)] {
            turn(store, id, &format!("m{id}"), None, now).await;
        }
        let (mut pages, mut after) = (Vec::new(), None);
        loop {
            let found = store.search("ada", "done", 3, after).await.unwrap();
            let Some(last) = found.last().map(|found| found.conversation.clone()) else { break };
            after = Some(SearchCursor { updated_at: last.updated_at, id: last.id });
            let ids = found.iter().map(|found| found.conversation.id.as_str());
            pages.push(ids.collect::<Vec<_>>().join(" "));
        }
        assert_eq!(pages.join("/"), "d c b/a");
    })
    .await;
}

/// The index has the current texts only: neither old ones nor those of active runs.
#[tokio::test]
async fn index_follows_changes() {
    on_each_url(async |url| {
        let store = Store::open(&url).await.unwrap();
        let epoch = begin(&store, "c", "m", None, 10).await;
        assert_eq!(found(&store, "text").await, "c/m: [text] of m");
        assert_eq!(found(&store, "done").await, "");
        store.finish_run(end("m", epoch, 20)).await.unwrap();
        assert_eq!(found(&store, "done").await, "c/a-m: [done] m");
        store.update_message("ada", "c", UiMessage::user("m", "other words"), Vec::new()).await.unwrap();
        assert_eq!(
            (found(&store, "text").await, found(&store, "other").await),
            (String::new(), "c/m: [other] words".to_owned())
        );

        let mut outside = OutsideConnection::connect(&url).await;
        outside.execute("UPDATE conversations SET owner = 'bob'").await;
        assert_eq!(found(&store, "other").await, "");
        assert_eq!(store.search("bob", "other", 10, None).await.unwrap().len(), 1);
        for body in [
            "'{'",
            "'[]'",
            "'{\"parts\": 7}'",
            "'{\"parts\": [1, \"x\", {\"type\": \"text\"}, {\"type\": [], \"text\": {}}]}'",
        ] {
            outside.execute(&format!("UPDATE messages SET body = {body} WHERE id = 'm'")).await;
        }
        assert_eq!(store.search("bob", "other", 10, None).await.unwrap(), []);
        assert!(store.delete_conversation("bob", "c", Vec::new()).await.unwrap());
        let left = "SELECT (SELECT count(*) FROM search) + (SELECT count(*) FROM titles)";
        assert_eq!(outside.number(left).await, 0);
        if matches!(outside, OutsideConnection::Sqlite(_)) {
            outside.execute("INSERT INTO search (search, rank) VALUES ('integrity-check', 1)").await;
        }
    })
    .await;
}

/// All texts of a message are found, whatever parts are between them, and nothing of the other
/// parts is.
#[tokio::test]
async fn texts_are_found_between_other_parts() {
    on_each_url(async |url| {
        let store = Store::open(&url).await.unwrap();
        turn(&store, "c", "m", None, 10).await;
        let mut outside = OutsideConnection::connect(&url).await;
        let check = async |outside: &mut OutsideConnection, parts: &str, word: &str, expected: &str| {
            outside.execute(&format!("UPDATE messages SET body = '{{\"parts\": {parts}}}' WHERE id = 'm'")).await;
            assert_eq!(found(&store, word).await, expected, "{word} in {parts}");
        };
        let text = |text: &str| format!(r#"{{"type": "text", "text": {text}}}"#);
        let tool = r#"{"type": "tool-x", "text": "hidden", "output": {"type": "text", "text": "hidden"}}"#;
        let parts = format!(r#"[{}, {tool}, "text", null, {}, 7]"#, text(r#""first""#), text(r#""second""#));
        check(&mut outside, &parts, "first", "c/m: [first]\nsecond").await;
        check(&mut outside, &parts, "second", "c/m: first\n[second]").await;
        check(&mut outside, &parts, "hidden", "").await;
        check(&mut outside, &format!("[{}]", text("7")), "7", "c/m: [7]").await;
        check(&mut outside, &format!("[{}, {}]", text("null"), text(r#""""#)), "first", "").await;
        let many = (0..5_000).map(|number| text(&format!(r#""w{number}""#))).collect::<Vec<_>>().join(",");
        check(&mut outside, &format!("[{many}]"), "w4999", &passage_of_the_last()).await;
    })
    .await;
}

/// Returns the passage at the end of five thousand texts.
fn passage_of_the_last() -> String {
    let before: String = (4_984..4_999).map(|number| format!("w{number}\n")).collect();
    format!("c/m: …{before}[w4999]")
}

/// Databases of earlier versions have another trigger for changes of messages.
#[tokio::test]
async fn index_of_an_older_database_follows_changes() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let mut older = Migrator::new(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/migrations/sqlite"))).await.unwrap();
    older.migrations.to_mut().retain(|migration| migration.version < 18);
    let options = SqliteConnectOptions::new().filename(folder.path().join("data/chat.db")).create_if_missing(true);
    let mut outside = options.connect().await.unwrap();
    older.run(&mut outside).await.unwrap();
    let insert = "INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at)
                VALUES ('c', 'ada', 'page', 'agent', '', 'm', 1, 1, 1);
                INSERT INTO messages (conversation_id, id, role, created_at, body)
                VALUES ('c', 'm', 'user', 1, '{\"parts\": [{\"type\": \"text\", \"text\": \"old words\"}]}')";
    sqlx::raw_sql(insert).execute(&mut outside).await.unwrap();
    let store = Store::open(&url_in(&folder)).await.unwrap();
    assert_eq!(found(&store, "words").await, "c/m: old [words]");
    store.update_message("ada", "c", UiMessage::user("m", "other words"), Vec::new()).await.unwrap();
    assert_eq!(
        (found(&store, "old").await, found(&store, "words").await),
        (String::new(), "c/m: other [words]".into())
    );
}

/// Texts may contain characters that a database cannot store.
#[tokio::test]
async fn nul_characters_are_stored_and_searchable() {
    on_each_database(async |store| {
        say(store, "a", "m1", "before\u{0}after \\u0000 end", "an\u{0}swer \\\u{0}", 10).await;
        let messages = store.branch("ada", "a").await.unwrap();
        assert_eq!(messages[0].message.text(), "before\u{0}after \\u0000 end");
        assert_eq!(messages[1].message.text(), "an\u{0}swer \\\u{0}");
        assert_eq!(store.search("ada", "end", 10, None).await.unwrap().len(), 1);
        assert_eq!(store.search("ada", "an", 10, None).await.unwrap().len(), 1);
        assert_eq!(store.conversation("a\u{0}da", "a").await, Ok(None));
    })
    .await;
}

/// A query consists of words only, whatever it contains.
#[test]
fn query_never_contains_operators() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let stores = runtime.block_on(async {
        let mut stores = Vec::new();
        for url in std::iter::once("sqlite::memory:".to_owned()).chain(test_postgres::new_database().await) {
            let store = Store::open(&url).await.unwrap();
            turn(&store, "c", "m", None, 1).await;
            stores.push(store);
        }
        stores
    });
    let tokens = [
        "\"", "*", "(", ")", "NEAR(", "AND", "OR", "NOT", "owner", ":", "^", "-", "+", "{", "}", ",", "\u{0}", "'",
        "--", "text", "é", " ", "\u{301}", "字",
    ];
    let any = prop_oneof![
        any::<String>(),
        proptest::collection::vec(proptest::sample::select(tokens.to_vec()), 0..9).prop_map(|words| words.concat()),
    ];
    let check = |text: String| {
        for store in &stores {
            let found = runtime.block_on(store.search("ada", &text, 10, None));
            prop_assert!(found.is_ok(), "{:?}: {:?}", text, found);
            let found = runtime.block_on(store.search("bob", &text, 10, None));
            prop_assert_eq!(found, Ok(Vec::new()), "{:?}", text);
        }
        Ok(())
    };
    TestRunner::default().run(&any, check).unwrap();
}
