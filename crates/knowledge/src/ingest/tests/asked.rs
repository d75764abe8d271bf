//! The questions that were asked of libraries, on both databases.

use super::attachments::execute;
use super::*;
use crate::store::NewQuestion;
use test_postgres::database_files_of_each_kind;
use web::times::now_millis;

/// The most questions that are kept of a library.
const MOST: i64 = 1_000;

fn question(text: &str, found: Vec<(String, i64)>, now: i64) -> NewQuestion {
    NewQuestion {
        owner: "ada".to_owned(),
        is_account: false,
        agent_id: String::new(),
        conversation_id: String::new(),
        text: text.to_owned(),
        found,
        now,
        repeated_since: now - 1_000,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_are_listed_and_kept_within_bounds() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let (library, now) = (server.library().await, now_millis());
        let store = server.knowledge.store();
        let add = async |question: NewQuestion| store::add_question(store, question).await.unwrap();
        let in_library = |found: i64| vec![(library.clone(), found)];
        let listed = async |only_unanswered: bool| {
            let rows = store::questions(store, &library, String::new(), only_unanswered, 5).await.unwrap();
            rows.into_iter().map(|row| format!("{} {} {}", row.text, row.found, row.asked)).collect::<Vec<_>>()
        };
        add(question("Pumps?", in_library(0), now)).await;
        add(question("Valves?", in_library(2), now + 1)).await;
        add(question("Pumps?", in_library(1), now + 500)).await;
        assert_eq!(listed(false).await, ["Pumps? 1 2", "Valves? 2 1"]);
        // Too long after the last time to count as repeated.
        add(question("Pumps?", in_library(0), now + 5_000)).await;
        assert_eq!(listed(false).await, ["Pumps? 0 1", "Pumps? 1 2", "Valves? 2 1"]);
        assert_eq!(listed(true).await, ["Pumps? 0 1"]);
        // The conversation does not exist, as when an agent is tried out.
        add(NewQuestion { conversation_id: "trial".to_owned(), ..question("Cooks?", in_library(0), now) }).await;
        assert_eq!(server.rows("knowledge_questions").await, 3);
        let many = vec![(library.clone(), 0); 1_005];
        add(NewQuestion { repeated_since: now + 10_000, ..question("Many?", many, now) }).await;
        assert_eq!(server.rows("knowledge_questions").await, MOST);
        add(question("Old?", in_library(0), now - 31 * 24 * 60 * 60 * 1_000)).await;
        server.knowledge.forget_questions().await.unwrap();
        assert_eq!(server.rows("knowledge_questions").await, MOST - 1);
        server.knowledge.delete(&viewer("ada"), &library).await.unwrap();
        assert_eq!(server.rows("knowledge_questions").await, 0);
        server.close().await;
    }
}

/// The question is stored in the background, so the user may be deleted before that.
#[tokio::test(flavor = "multi_thread")]
async fn questions_of_deleted_users_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let (library, now) = (server.library().await, now_millis());
        let store = server.knowledge.store();
        let user = ::store::NewUser {
            id: "eve".to_owned(),
            name: "eve".to_owned(),
            name_key: "eve".to_owned(),
            password: String::new(),
            must_change_password: false,
            roles: Vec::new(),
            now: 0,
        };
        store.add_user(user, false, None).await.unwrap();
        let asked = async |owner: &str| {
            let is_account = store::has_account(store, owner).await.unwrap();
            NewQuestion { owner: owner.to_owned(), is_account, ..question("Pumps?", vec![(library.clone(), 0)], now) }
        };
        let check = async |question: NewQuestion, expected: i64| {
            let owner = question.owner.clone();
            store::add_question(store, question).await.unwrap();
            assert_eq!(server.rows("knowledge_questions").await, expected, "{owner}");
        };
        // Users of other systems have no account here.
        check(asked("token-user").await, 1).await;
        check(asked("eve").await, 2).await;
        let late = asked("eve").await;
        execute(&server, "UPDATE users SET deleted_at = 1, disabled_at = 1 WHERE id = 'eve'").await;
        check(NewQuestion { text: "Valves?".to_owned(), ..late.clone() }, 2).await;
        assert!(store.delete_user("eve").await.unwrap());
        check(late, 1).await;
        server.close().await;
    }
}
