//! The events of a period, as triggers of workflows find them.

use crate::admin::add;
use crate::support::{begin, end, on_each_database, turn};
use serde_json::json;
use store::{EventKind, FinishRun, NewEvent, StoredEvent, append_event};
use wire::EndReason;
use wire::api::Outcome;
use wire::change::{Feedback, Rating};

#[tokio::test]
async fn events_are_found_by_time() {
    on_each_database(async |store| {
        turn(store, "c", "early", None, 5).await;
        turn(store, "c", "m1", Some("a-early"), 10).await;
        let epoch = begin(store, "c", "m2", Some("a-m1"), 11).await;
        let waits = FinishRun { status: Outcome::Waiting, reason: EndReason::Waiting, ..end("m2", epoch, 20) };
        store.finish_run(waits).await.unwrap();
        begin(store, "d", "m3", None, 12).await;
        let rating = Some(Feedback { rating: Rating::Down, reason: Some("wrong".to_owned()) });
        store.set_feedback("ada", "c", "a-m1", rating, 15).await.unwrap();
        add(store, "grace", &[], 12).await;
        add(store, "linus", &[], 30).await;
        let check = async |kind: EventKind, after: (i64, &str), expected: &[(i64, serde_json::Value)]| {
            let found = store.events_between(kind, after, 20, 9).await.unwrap();
            let found: Vec<_> = found.into_iter().map(|StoredEvent { at, data, .. }| (at, data)).collect();
            assert_eq!(found, expected, "{kind:?} {after:?}");
        };
        let run = |name: &str, key: &str, outcome: &str, reason: &str| {
            json!({ "name": name, "runId": format!("r-{key}"), "conversationId": "c", "userId": "ada", "agentId": "agent", "outcome": outcome, "reason": reason })
        };
        check(EventKind::RunEnded, (5, "r-early"), &[(10, run("run.ended", "m1", "done", "done"))]).await;
        check(EventKind::ApprovalWaiting, (0, ""), &[(20, run("approval.waiting", "m2", "waiting", "waiting"))]).await;
        let rated = json!({ "name": "feedback.given", "conversationId": "c", "messageId": "a-m1", "userId": "ada", "agentId": "agent", "rating": "down", "reason": "wrong" });
        check(EventKind::FeedbackGiven, (0, ""), &[(15, rated)]).await;
        check(EventKind::FeedbackGiven, (15, "a-m1 15"), &[]).await;
        let created = json!({ "name": "user.created", "userId": "grace", "userName": "grace" });
        check(EventKind::UserCreated, (0, ""), &[(12, created.clone())]).await;
        check(EventKind::UserCreated, (12, "a"), &[(12, created)]).await;
        check(EventKind::UserCreated, (12, "grace"), &[]).await;
        let names: Vec<_> = EventKind::ALL.iter().map(|kind| EventKind::from_name(kind.name())).collect();
        assert_eq!(names, EventKind::ALL.map(Some));
    })
    .await;
}

#[tokio::test]
async fn emitted_events_are_stored_once_and_numbered() {
    on_each_database(async |store| {
        let emit = async |name: &str, key: &str, at: i64| {
            let event = NewEvent {
                name: name.to_owned(),
                key: key.to_owned(),
                at,
                data: json!({ "documentId": key }),
                roles: (name == "order.shipped").then(|| vec!["clerk".to_owned()]),
            };
            store.write(move |db| Box::pin(async move { append_event(db, event).await })).await.unwrap()
        };
        assert!(emit("document.ready", "a", 10).await);
        assert!(emit("order.shipped", "a", 11).await);
        assert!(!emit("document.ready", "a", 12).await);
        assert!(emit("document.ready", "b", 20).await);
        let found = store.events_between(EventKind::DocumentReady, (10, "a"), 20, 9).await.unwrap();
        let ready = json!({ "name": "document.ready", "documentId": "b" });
        assert_eq!(found.iter().map(|event| &event.data).collect::<Vec<_>>(), [&ready]);
        let after = async |name: &str, no: i64| {
            let found = store.events_after(name, no, 9).await.unwrap();
            found.into_iter().map(|found| (found.no, found.event.key, found.roles)).collect::<Vec<_>>()
        };
        assert_eq!(after("document.ready", 1).await, [(3, "b".to_owned(), None)]);
        assert_eq!(after("order.shipped", 0).await, [(2, "a".to_owned(), Some(vec!["clerk".to_owned()]))]);
        while store.prune_events(100).await.unwrap() {}
        // The newest one stays, so that its number is not taken again.
        assert_eq!(after("document.ready", 0).await, [(3, "b".to_owned(), None)]);
        assert!(emit("document.ready", "a", 30).await);
        assert_eq!(after("document.ready", 3).await, [(4, "a".to_owned(), None)]);
        let large = NewEvent {
            name: "document.ready".to_owned(),
            key: "large".to_owned(),
            at: 1,
            data: json!({ "text": "x".repeat(300 << 10) }),
            roles: None,
        };
        assert!(store.write(move |db| Box::pin(async move { append_event(db, large).await })).await.is_err());
    })
    .await;
}
