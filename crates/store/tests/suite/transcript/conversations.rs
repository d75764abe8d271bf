//! The list, its order and its pages; renaming and deleting.

use crate::support::{batch, begin, end, journal, on_each_database, submission, turn};
use store::{BeginRunOutcome, ConversationCursor, FinishRun, MAX_CONVERSATIONS, RunRow, Store, StoreError};
use wire::api::{ConversationSummary, Outcome};
use wire::organize::{ConversationChange, ListFilter};

async fn page(store: &Store, limit: u32, before: Option<ConversationCursor>) -> (String, Option<ConversationCursor>) {
    let rows = store.conversations("ada", ListFilter::default(), limit, before).await.unwrap();
    let cursor = rows.last().map(|row| ConversationCursor {
        pinned: row.summary.pinned,
        updated_at: row.summary.updated_at,
        id: row.summary.id.clone(),
    });
    (rows.iter().map(|row| row.summary.id.as_str()).collect::<Vec<_>>().join(" "), cursor)
}

#[tokio::test]
async fn the_list_is_newest_first_and_pages_through_equal_times() {
    on_each_database(async |store| {
        for (id, now) in [("a", 10), ("b", 20), ("c", 20), ("d", 20), ("e", 30)] {
            turn(store, id, &format!("m{id}"), None, now).await;
        }
        assert_eq!(page(store, 100, None).await.0, "e d c b a");
        for (limit, expected) in [(1, "e/d/c/b/a"), (2, "e d/c b/a"), (3, "e d c/b a")] {
            let (mut pages, mut cursor) = (Vec::new(), None);
            loop {
                let (ids, next) = page(store, limit, cursor).await;
                if ids.is_empty() {
                    break;
                }
                pages.push(ids);
                cursor = next;
            }
            assert_eq!(pages.join("/"), expected, "pages of {limit}");
        }
        // A new turn moves a conversation to the top.
        turn(store, "a", "ma2", Some("a-ma"), 40).await;
        assert_eq!(page(store, 2, None).await.0, "a e");
        // An earlier time, from a clock that was set back, changes nothing.
        turn(store, "a", "ma3", Some("a-ma2"), 5).await;
        assert_eq!(page(store, 2, None).await.0, "a e");
        assert_eq!(page(store, 0, None).await.0, "");
    })
    .await;
}

#[tokio::test]
async fn page_size_is_limited() {
    on_each_database(async |store| {
        for number in 0..MAX_CONVERSATIONS + 5 {
            begin(store, &format!("c{number}"), &format!("m{number}"), None, 1).await;
        }
        assert_eq!(
            store.conversations("ada", ListFilter::default(), u32::MAX, None).await.unwrap().len(),
            MAX_CONVERSATIONS as usize
        );
    })
    .await;
}

#[tokio::test]
async fn conversation_has_head_and_active_run() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 10).await;
        let summary = ConversationSummary {
            id: "c".to_owned(),
            title: "title of m".to_owned(),
            page_id: "page".to_owned(),
            agent_id: "agent".to_owned(),
            created_at: 10,
            updated_at: 10,
            running: true,
            waiting: false,
            pinned: false,
            archived: false,
            unread: false,
            temporary: false,
            folder_id: None,
        };
        let found = store.conversation("ada", "c").await.unwrap().unwrap();
        assert_eq!(found.summary, summary);
        assert_eq!(found.head.as_deref(), Some("a-m"));
        assert_eq!(found.active_run, Some(RunRow { id: "r-m".to_owned(), epoch, message_id: "a-m".to_owned() }));
        assert_eq!(store.conversations("ada", ListFilter::default(), 1, None).await.unwrap()[0].summary, summary);

        store.finish_run(end("m", epoch, 20)).await.unwrap();
        let found = store.conversation("ada", "c").await.unwrap().unwrap();
        assert_eq!(found.active_run, None);
        assert_eq!(found.summary, ConversationSummary { updated_at: 20, running: false, unread: true, ..summary });
        assert_eq!(store.conversation("ada", "d").await.unwrap(), None);
    })
    .await;
}

#[tokio::test]
async fn rename_keeps_the_position_in_the_list() {
    on_each_database(async |store| {
        turn(store, "old", "m1", None, 1).await;
        turn(store, "new", "m2", None, 2).await;
        let rename = async |id: &str, title: &str| {
            let change = ConversationChange { title: Some(title.to_owned()), ..ConversationChange::default() };
            store.change_conversations("ada", vec![id.to_owned()], change, 9).await
        };
        rename("old", "Ünïcode; DROP TABLE \"x\"'").await.unwrap();
        let rows = store.conversations("ada", ListFilter::default(), 10, None).await.unwrap();
        assert_eq!(rows[1].summary.title, "Ünïcode; DROP TABLE \"x\"'");
        assert_eq!(rename("nothing", "x").await, Err(StoreError::NotFound));
        // The end of a run may set a better title, but never replaces the user's.
        let title = async |id| store.conversation("ada", id).await.unwrap().unwrap().summary.title;
        for (id, asks, answer, expected) in
            [("old", "m3", "a-m1", "Ünïcode; DROP TABLE \"x\"'"), ("new", "m4", "a-m2", "better")]
        {
            let epoch = begin(store, id, asks, Some(answer), 3).await;
            store.finish_run(FinishRun { title: Some("better".to_owned()), ..end(asks, epoch, 3) }).await.unwrap();
            assert_eq!(title(id).await, expected);
        }
        turn(store, "new", "m5", Some("a-m4"), 4).await;
        assert_eq!(title("new").await, "better");
    })
    .await;
}

#[tokio::test]
async fn delete_removes_all_data_and_fences_the_run() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 1).await;
        begin(store, "other", "n", None, 1).await;
        let events = vec![batch("m", epoch, 1, 3), batch("n", 1, 1, 2)];
        assert!(store.append_events(events).await.unwrap().is_empty());
        let input = serde_json::json!({});
        store.tool_started("ada", "r-m", "call", "tool", &input, 1).await.unwrap();

        assert!(store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert!(!store.delete_conversation("ada", "c", Vec::new()).await.unwrap());
        assert_eq!(store.conversation("ada", "c").await.unwrap(), None);
        assert_eq!(store.messages("ada", "c").await.unwrap(), []);
        assert_eq!(store.events("ada", "r-m", 0, 10).await.unwrap(), []);
        assert_eq!(store.tool_call_state("ada", "c", "call").await.unwrap(), None);
        assert_eq!(journal(store, "n", 0, 10).await, "1-2", "another conversation's events stay");
        // The run that was writing is fenced.
        assert_eq!(store.append_events(vec![batch("m", epoch, 4, 4)]).await.unwrap(), ["r-m"]);
        assert_eq!(store.finish_run(end("m", epoch, 2)).await, Err(StoreError::Fenced));
        assert_eq!(store.open_runs().await.unwrap().len(), 1);
        // The id is free for any user, and no old data reappear.
        let again = store.begin_run("bob", submission("c", "m", None, 3)).await.unwrap();
        assert_eq!(again, BeginRunOutcome::Started { epoch: 1 });
        assert_eq!(store.messages("bob", "c").await.unwrap().len(), 2);
        assert_eq!(store.events("bob", "r-m", 0, 10).await.unwrap(), []);
    })
    .await;
}

#[tokio::test]
async fn waiting_flag_means_waiting_for_the_user() {
    on_each_database(async |store| {
        let epoch = begin(store, "c", "m", None, 10).await;
        let with = |part: serde_json::Value| {
            let message = serde_json::json!({ "id": "a-m", "role": "assistant", "parts": [part] });
            let message = serde_json::from_value(message).unwrap();
            FinishRun { status: Outcome::Waiting, message, ..end("m", epoch, 20) }
        };
        let asks = serde_json::json!({ "type": "tool-pay", "toolCallId": "a", "state": "approval-requested", "input": {}, "approval": { "id": "q" } });
        store.finish_run(with(asks.clone())).await.unwrap();
        let waits = async || {
            let listed = store.conversations("ada", ListFilter::default(), 1, None).await.unwrap()[0].summary.waiting;
            assert_eq!(store.conversation("ada", "c").await.unwrap().unwrap().summary.waiting, listed);
            listed
        };
        assert!(waits().await);
        let update = async |part: serde_json::Value| {
            let message = with(part).message;
            store.update_message("ada", "c", message, Vec::new()).await.unwrap();
        };
        // The approval request has expired.
        let mut expired = asks;
        expired["approval"]["terms"] = serde_json::json!({ "expiresAt": 1 });
        update(expired).await;
        assert!(!waits().await);
        update(serde_json::json!({ "type": "tool-ask-user", "toolCallId": "a", "state": "input-available", "input": {} })).await;
        assert!(waits().await);
        // A call that the page executes.
        update(serde_json::json!({ "type": "tool-offer", "toolCallId": "a", "state": "input-available", "input": {} })).await;
        assert!(!waits().await);
        update(serde_json::json!({ "type": "tool-ask-user", "toolCallId": "a", "state": "input-available", "input": {} })).await;
        begin(store, "c", "n", Some("a-m"), 30).await;
        assert!(!waits().await, "the user has gone on");
    })
    .await;
}
