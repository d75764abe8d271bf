//! Tests of the store, on SQLite and, if it is installed, on PostgreSQL.

mod kill;

use crate::prompt::PromptContent;
use crate::store::{SHARED, SaveOutcome, SavePrompt, StoredPrompt, TABLES, delete, find, list, list_whole, save};
use ::store::Store;
use auth::audit_row;
use serde_json::Value;
use test_store::on_each_database;

fn content(name: &str, text: &str) -> PromptContent {
    PromptContent { name: name.to_owned(), description: String::new(), text: text.to_owned() }
}

/// Stores a prompt of at most three of its owner.
async fn put(store: &Store, owner: &str, id: &str, after: Option<i64>, content: PromptContent) -> SaveOutcome {
    let (owner, id) = (owner.to_owned(), id.to_owned());
    let audit = audit_row(&owner, "prompts:save", "", Value::Null);
    save(store, SavePrompt { owner, id, after, content, roles: Vec::new(), most: 3, now: 1 }, audit).await.unwrap()
}

fn names(prompts: &[StoredPrompt]) -> Vec<&str> {
    prompts.iter().map(|prompt| prompt.content.name.as_str()).collect()
}

#[tokio::test]
async fn prompts_are_stored_once_by_name_and_only_for_their_owner() {
    on_each_database(&[TABLES], async |store| {
        let check = async |owner: &str, id: &str, after: Option<i64>, name: &str, text: &str, expected: SaveOutcome| {
            assert_eq!(put(store, owner, id, after, content(name, text)).await, expected, "{owner} {id} {name}");
        };
        check("ada", "a1", None, "sum", "Sum up.", SaveOutcome::Saved).await;
        check("ada", "a2", None, "SUM", "Again.", SaveOutcome::NameTaken).await;
        check("ada", "a1", None, "other", "The id is taken.", SaveOutcome::NameTaken).await;
        check("bob", "b1", None, "sum", "Of Bob.", SaveOutcome::Saved).await;
        check(SHARED, "s1", None, "sum", "Of all.", SaveOutcome::Saved).await;
        check("ada", "a2", None, "Übersetzen", "Translate {{text}}.", SaveOutcome::Saved).await;
        check("ada", "a3", None, "übersetzen", "Lower case.", SaveOutcome::NameTaken).await;
        check("ada", "a3", None, "answer", "Answer.", SaveOutcome::Saved).await;
        check("ada", "a4", None, "fourth", "Too many.", SaveOutcome::Full).await;

        check("ada", "a1", Some(1), "sum", "Sum up.", SaveOutcome::Unchanged).await;
        check("ada", "a1", Some(1), "sum", "Sum up briefly.", SaveOutcome::Saved).await;
        check("ada", "a1", Some(1), "sum", "From another tab.", SaveOutcome::Changed).await;
        check("ada", "a1", Some(2), "Answer", "The name is taken.", SaveOutcome::NameTaken).await;
        check("bob", "a1", Some(2), "sum", "It is not his.", SaveOutcome::Unknown).await;
        check(SHARED, "a1", Some(2), "sum", "Nor shared.", SaveOutcome::Unknown).await;

        assert_eq!(names(&list(store, "ada").await.unwrap()), ["answer", "sum", "Übersetzen"]);
        assert_eq!(names(&list(store, "bob").await.unwrap()), ["sum"]);
        assert_eq!(find(store, "bob", "a1").await.unwrap(), None);
        let found = find(store, "ada", "a1").await.unwrap().unwrap();
        assert_eq!((found.version, found.content.text.as_str()), (2, "Sum up briefly."));

        let audit = || audit_row("bob", "prompts:delete", "", Value::Null);
        assert!(!delete(store, "bob", "a1", audit()).await.unwrap());
        assert!(delete(store, "bob", "b1", audit()).await.unwrap());
        assert!(!delete(store, "bob", "b1", audit()).await.unwrap());
        assert_eq!(list(store, "ada").await.unwrap().len(), 3);
        let rows = store.audit_rows(i64::MIN, i64::MIN).await.unwrap();
        let count = |action: &str| rows.iter().filter(|row| row.tool == action).count();
        assert_eq!((count("prompts:save"), count("prompts:delete")), (6, 1));
    })
    .await;
}

#[tokio::test]
async fn lists_have_the_beginnings_of_texts() {
    on_each_database(&[TABLES], async |store| {
        let text = "é".repeat(1_000);
        assert_eq!(put(store, "ada", "a1", None, content("long", &text)).await, SaveOutcome::Saved);
        let beginning = list(store, "ada").await.unwrap().remove(0).content.text;
        assert_eq!(beginning.chars().count(), crate::store::BEGINNING);
        assert_eq!(list_whole(store, "ada").await.unwrap().remove(0).content.text, text);
    })
    .await;
}
