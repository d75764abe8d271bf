//! Messages form a tree: an edit or a regeneration adds a branch, nothing is overwritten.

use crate::support::{branch, on_each_database, turn};
use store::{BranchPosition, Deletion, SetBranch, Store};
use wire::{Role, UiMessage};

async fn tree(store: &Store) -> String {
    let messages = store.messages("ada", "c").await.unwrap();
    let show = |stored: &store::StoredMessage| format!("{}<{}", stored.id, stored.parent_id.as_deref().unwrap_or("-"));
    messages.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn edits_and_regenerations_add_branches() {
    on_each_database(async |store| {
        turn(store, "c", "m1", None, 1).await;
        turn(store, "c", "m2", Some("a-m1"), 2).await;
        assert_eq!(branch(store, "c").await, "m1=text of m1 | a-m1=done m1 | m2=text of m2 | a-m2=done m2");
        // An edit of m2 is a second child of the answer before it.
        turn(store, "c", "m3", Some("a-m1"), 3).await;
        assert_eq!(branch(store, "c").await, "m1=text of m1 | a-m1=done m1 | m3=text of m3 | a-m3=done m3");
        // An edit of the first message is a second root.
        turn(store, "c", "m4", None, 4).await;
        assert_eq!(branch(store, "c").await, "m4=text of m4 | a-m4=done m4");
        // Continuing an old branch makes it the active one.
        turn(store, "c", "m5", Some("a-m2"), 5).await;
        let expected = "m1=text of m1 | a-m1=done m1 | m2=text of m2 | a-m2=done m2 | m5=text of m5 | a-m5=done m5";
        assert_eq!(branch(store, "c").await, expected);
        let expected = "m1<- a-m1<m1 m2<a-m1 a-m2<m2 m3<a-m1 a-m3<m3 m4<- a-m4<m4 m5<a-m2 a-m5<m5";
        assert_eq!(tree(store).await, expected);
    })
    .await;
}

/// A long conversation is read at once, in order.
#[tokio::test]
async fn long_branch_is_read_in_order() {
    on_each_database(async |store| {
        let mut parent: Option<String> = None;
        for number in 0..100 {
            let key = format!("m{number}");
            turn(store, "c", &key, parent.as_deref(), number).await;
            parent = Some(format!("a-{key}"));
        }
        let messages = store.branch("ada", "c").await.unwrap();
        let expected: Vec<_> = (0..100).flat_map(|number| [format!("m{number}"), format!("a-m{number}")]).collect();
        assert_eq!(messages.iter().map(|stored| stored.id.clone()).collect::<Vec<_>>(), expected);
        assert_eq!(messages, store.messages("ada", "c").await.unwrap());
        assert_eq!(messages[10].created_at, 5);
        let encoded = store.encoded_branch("ada", "c").await.unwrap();
        assert_eq!(encoded.iter().map(|message| message.decode()).collect::<Vec<_>>(), messages);
        assert!(encoded.iter().zip(&messages).all(|(encoded, stored)| encoded.role == stored.message.role));
        assert!(store.encoded_branch("bob", "c").await.unwrap().is_empty());
    })
    .await;
}

/// A position in a branch stays valid until a message that others follow changes, or messages are purged.
#[tokio::test]
async fn branch_is_read_from_a_known_message_on() {
    on_each_database(async |store| {
        for (key, parent) in [("m1", None), ("m2", Some("a-m1")), ("m3", Some("a-m2"))] {
            turn(store, "c", key, parent, 1).await;
        }
        let position = async |at: usize| store.encoded_branch("ada", "c").await.unwrap()[at].position();
        let after = async |owner: &str, known: &BranchPosition| {
            let read = store.encoded_branch_after(owner, "c", known).await.unwrap();
            read.map(|read| read.iter().map(|message| message.id.clone()).collect::<Vec<_>>().join(" "))
        };
        let change = async |id: &str| {
            let message = UiMessage { role: Role::Assistant, ..UiMessage::user(id, "changed") };
            store.update_message("ada", "c", message, Vec::new()).await.unwrap();
        };
        let known = position(1).await;
        assert_eq!(after("ada", &known).await.as_deref(), Some("m2 a-m2 m3 a-m3"));
        assert_eq!(after("ada", &position(5).await).await.as_deref(), Some(""));
        assert_eq!(after("bob", &known).await, None);
        turn(store, "c", "m4", None, 2).await;
        assert_eq!(after("ada", &known).await, None, "it is not on this branch");
        let set = SetBranch { head: "a-m3".to_owned(), ..SetBranch::default() };
        store.set_branch("ada", "c", set).await.unwrap();
        assert_eq!(after("ada", &known).await.as_deref(), Some("m2 a-m2 m3 a-m3"));
        change("a-m3").await;
        assert_eq!(after("ada", &known).await.as_deref(), Some("m2 a-m2 m3 a-m3"), "nothing follows the message");
        change("a-m1").await;
        assert_eq!(after("ada", &known).await, None, "it may have changed");
        assert_eq!(after("ada", &position(1).await).await.as_deref(), Some("m2 a-m2 m3 a-m3"));
        // Nothing follows the message for a while, in which it changes.
        let known = position(3).await;
        let deletion = Some(Deletion::Delete { message_id: "m3".to_owned(), now: 1 });
        let set = SetBranch { head: "a-m2".to_owned(), deletion, ..SetBranch::default() };
        store.set_branch("ada", "c", set).await.unwrap();
        assert_eq!(store.purge_deleted(2).await, Ok(1));
        change("a-m2").await;
        turn(store, "c", "m5", Some("a-m2"), 3).await;
        assert_eq!(after("ada", &known).await, None, "it may have changed while nothing followed it");
        assert_eq!(after("ada", &position(3).await).await.as_deref(), Some("m5 a-m5"));
    })
    .await;
}

/// The texts of a message are found without decoding it.
#[tokio::test]
async fn texts_of_an_encoded_message_are_found() {
    on_each_database(async |store| {
        turn(store, "c", "m1", None, 1).await;
        let encoded = store.encoded_branch("ada", "c").await.unwrap();
        let check = |text: &str, expected: [bool; 2]| {
            let found: Vec<_> = encoded.iter().map(|message| message.may_contain(text)).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("text of m1", [true, false]);
        check("\"role\":\"assistant\"", [false, true]);
        check("elsewhere", [false, false]);
        assert!(encoded.iter().all(|message| message.size() > 20));
    })
    .await;
}
