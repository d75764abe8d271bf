//! Standing approvals: what one covers, who can see and revoke it, and their maximum number.

use crate::support::{begin, end, on_each_database, submission};
use store::{BeginRun, MAX_GRANTS, NewGrant, Store, StoreError};
use wire::UiMessage;

fn new(id: &str, tool: &str, conversation_id: Option<&str>, now: i64) -> NewGrant {
    NewGrant {
        id: id.to_owned(),
        agent_id: "helper".to_owned(),
        tool: tool.to_owned(),
        fingerprint: "as it was".to_owned(),
        conversation_id: conversation_id.map(str::to_owned),
        now,
    }
}

/// Creates the conversations `c` and `d` of Ada's, and grants these approvals.
async fn given(store: &Store, grants: Vec<NewGrant>) {
    for id in ["c", "d"] {
        let epoch = begin(store, id, &format!("m{id}"), None, 1).await;
        store.finish_run(end(&format!("m{id}"), epoch, 2)).await.unwrap();
    }
    let follow_up = BeginRun { grants, ..submission("c", "m2", Some("a-mc"), 3) };
    store.begin_run("ada", follow_up).await.unwrap();
}

async fn ids(store: &Store, owner: &str) -> Vec<String> {
    store.grants(owner).await.unwrap().into_iter().map(|grant| grant.id).collect()
}

#[tokio::test]
async fn grant_covers_only_its_user_agent_tool_and_conversation() {
    on_each_database(async |store| {
        given(store, vec![new("here", "send", Some("c"), 3), new("all", "save", None, 4)]).await;
        let check = async |question: [&str; 5], expected: Option<&str>| {
            let [owner, agent, tool, fingerprint, conversation] = question;
            let found = store.find_grant(owner, agent, tool, fingerprint, conversation).await.unwrap();
            assert_eq!(found.map(|grant| grant.id).as_deref(), expected, "{question:?}");
        };
        check(["ada", "helper", "send", "as it was", "c"], Some("here")).await;
        check(["ada", "helper", "send", "as it was", "d"], None).await;
        check(["ada", "helper", "save", "as it was", "c"], Some("all")).await;
        check(["ada", "helper", "save", "as it was", ""], Some("all")).await;
        check(["ada", "helper", "save", "as it is", "c"], None).await;
        check(["ada", "another", "save", "as it was", "c"], None).await;
        check(["bob", "helper", "save", "as it was", "c"], None).await;
        let listed = store.grants("ada").await.unwrap();
        let places: Vec<_> =
            listed.iter().map(|grant| grant.conversation.as_ref().map(|(_, title)| title.as_str())).collect();
        assert_eq!(places, [None, Some("title of mc")]);
        // The conversation's own approvals are deleted with it.
        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert_eq!(ids(store, "ada").await, ["all"]);
    })
    .await;
}

#[tokio::test]
async fn only_its_user_can_see_and_revoke_a_grant() {
    on_each_database(async |store| {
        given(store, vec![new("here", "send", Some("c"), 3), new("all", "send", None, 4)]).await;
        for owner in ["bob", "", "%", "ADA"] {
            assert_eq!(ids(store, owner).await, Vec::<String>::new(), "{owner}");
            assert!(!store.revoke_grant(owner, "all").await.unwrap(), "{owner}");
        }
        let update = |owner: &'static str, grants| {
            store.update_message_with_grants(owner, "d", UiMessage::user("md", "mine"), Vec::new(), grants)
        };
        assert_eq!(update("bob", vec![new("bobs", "send", None, 5)]).await, Err(StoreError::NotFound));
        assert_eq!(ids(store, "bob").await, Vec::<String>::new());
        // An approval for a conversation of another user is ignored.
        update("ada", vec![new("nowhere", "save", Some("x"), 5)]).await.unwrap();
        assert_eq!(ids(store, "ada").await, ["all", "here"]);
        assert!(store.revoke_grant("ada", "all").await.unwrap());
        assert!(!store.revoke_grant("ada", "all").await.unwrap());
        assert_eq!(ids(store, "ada").await, ["here"]);
    })
    .await;
}

#[tokio::test]
async fn new_grant_replaces_the_tools_old_one_and_the_number_is_limited() {
    on_each_database(async |store| {
        let changed = NewGrant { fingerprint: "as it is".to_owned(), ..new("b", "send", None, 4) };
        given(store, vec![new("a", "send", None, 3), changed]).await;
        assert_eq!(ids(store, "ada").await, ["b"]);
        assert_eq!(store.find_grant("ada", "helper", "send", "as it was", "c").await.unwrap(), None);
        let many = (0..i64::from(MAX_GRANTS)).map(|n| new(&format!("n{n}"), &format!("tool{n}"), None, 10 + n));
        store
            .update_message_with_grants("ada", "d", UiMessage::user("md", "x"), Vec::new(), many.collect())
            .await
            .unwrap();
        let ids = ids(store, "ada").await;
        assert_eq!((ids.len(), ids.contains(&"b".to_owned())), (MAX_GRANTS as usize, false));
    })
    .await;
}
