//! Waits for events, and reminders.

use super::fake::{Server, shown, workflow};
use crate::engine::{look_for_events, match_soon, remind};
use crate::service::{self, CurrentConfig, RetryRequest, Viewer};
use ::store::{EventKind, NewEvent, append_event};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use web::times::now_millis;

async fn servers(definition: &Value) -> Vec<Server> {
    let mut servers = vec![Server::open("sqlite::memory:", vec![workflow(definition.clone())], None).await];
    if let Some(url) = test_postgres::new_database().await {
        servers.push(Server::open(&url, vec![workflow(definition.clone())], None).await);
    }
    servers
}

/// Reports an event, as a program with this role.
async fn report(server: &Server, key: &str, role: &str, data: Value) {
    let new = NewEvent {
        name: "order.paid".to_owned(),
        key: key.to_owned(),
        at: now_millis(),
        data: json!({ "name": "order.paid", "id": key, "data": data }),
        roles: Some(vec![role.to_owned()]),
    };
    let jobs = server.runs.jobs.clone();
    let write = server.runs.store.write(move |db| {
        Box::pin(async move {
            append_event(db, new).await?;
            match_soon(&jobs, db, "order.paid").await
        })
    });
    write.await.unwrap();
}

fn waiting() -> Value {
    json!({ "id": "test", "steps": [
        { "id": "order", "type": "endpoint", "endpointId": "e", "payload": "$.input.n" },
        { "id": "paid", "type": "wait", "event": "order.paid", "senders": ["shop"],
          "where": { "_eq": [{ "_event": "data.order" }, "$.order.got"] } } ],
      "output": "$.paid.id" })
}

#[tokio::test(flavor = "multi_thread")]
async fn run_waits_for_the_event_that_meets_its_condition() {
    for server in servers(&waiting()).await {
        let (first, second) =
            (server.start("test", json!({ "n": 1 })).await, server.start("test", json!({ "n": 2 })).await);
        server.rest(&first).await;
        server.rest(&second).await;
        // Not by whoever may not report it.
        report(&server, "a", "reader", json!({ "order": 1 })).await;
        report(&server, "b", "shop", json!({ "order": 2 })).await;
        assert_eq!(server.ended(&second).await.run.output, "b");
        assert_eq!(server.rest(&first).await.run.state.name(), "waiting");
        report(&server, "c", "shop", json!({ "order": 1 })).await;
        let detail = server.ended(&first).await;
        assert_eq!(shown(&detail), "done \"c\"\norder Done 1\npaid Done 1");
        assert_eq!(detail.steps[1].input, json!({ "event": "order.paid", "until": null }));
    }
}

/// The event may happen before the wait is stored, because of the step before.
#[tokio::test(flavor = "multi_thread")]
async fn event_counts_that_happens_before_the_wait_is_stored() {
    for server in servers(&waiting()).await {
        report(&server, "old", "shop", json!({ "order": 7 })).await;
        tokio::time::sleep(Duration::from_millis(20)).await;
        let id = server.start("test", json!({ "n": 7 })).await;
        let detail = server.rest(&id).await;
        assert_eq!(detail.run.state.name(), "waiting", "an event before the run does not count");
        let since = detail.steps[0].ended_at.unwrap();
        service::stop(&server.runs, Viewer::Admin, &id, None).await.unwrap();
        server.ended(&id).await;
        let new = NewEvent {
            name: "order.paid".to_owned(),
            key: "between".to_owned(),
            at: since,
            data: json!({ "id": "between", "data": { "order": 7 } }),
            roles: Some(vec!["shop".to_owned()]),
        };
        // Nothing is woken here: the wait finds the event itself.
        server.runs.store.write(move |db| Box::pin(async move { append_event(db, new).await })).await.unwrap();
        let current = CurrentConfig { workflow: |_: &str| None, operators: Arc::default() };
        service::retry(&server.runs, Viewer::Admin, &id, RetryRequest::default(), current, None).await.unwrap();
        assert_eq!(server.ended(&id).await.run.output, "between");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn wait_for_an_event_ends_in_time_and_events_of_the_product_end_it() {
    let steps = json!([
        { "id": "never", "type": "wait", "event": "order.paid", "timeoutSeconds": 1,
          "onError": [{ "id": "why", "type": "if", "test": { "_eq": [{ "_error": "kind" }, "timeout"] } }] },
        { "id": "ready", "type": "wait", "event": "document.ready", "where": { "_eq": [{ "_event": "documentId" }, "d1"] } },
    ]);
    for server in servers(&json!({ "id": "test", "steps": steps, "output": "$.ready.documentId" })).await {
        let id = server.start("test", json!({})).await;
        for _ in 0..500 {
            if server.rest(&id).await.steps.len() == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        for (key, name) in [("1", "d2"), ("2", "d1")] {
            let new = NewEvent {
                name: EventKind::DocumentReady.name().to_owned(),
                key: key.to_owned(),
                at: now_millis(),
                data: json!({ "documentId": name }),
                roles: None,
            };
            server.runs.store.write(move |db| Box::pin(async move { append_event(db, new).await })).await.unwrap();
        }
        look_for_events(&server.runs, &Arc::default()).await.unwrap();
        assert_eq!(server.ended(&id).await.run.output, "d1");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_reminded_as_often_as_the_step_says() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "remindSeconds": 1, "reminders": 2,
        "dueSeconds": 60, "onLapse": { "fail": "Too late." } });
    for server in servers(&json!({ "id": "test", "steps": [ask] })).await {
        let id = server.start("test", json!({})).await;
        server.rest(&id).await;
        remind(&server.runs).await.unwrap();
        assert_eq!(server.rest(&id).await.tasks[0].reminders, 0);
        for _ in 0..300 {
            remind(&server.runs).await.unwrap();
            if server.rest(&id).await.tasks[0].reminders == 2 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let task = server.rest(&id).await.tasks.remove(0);
        assert_eq!((task.reminders, task.reminded_at.is_some()), (2, true));
        let events = server.runs.store.events_after(EventKind::TaskReminded.name(), 0, 9).await.unwrap();
        let numbers: Vec<_> = events.iter().map(|found| found.event.data["number"].clone()).collect();
        assert_eq!(numbers, [1, 2]);
        let data = &events[0].event.data;
        assert_eq!((&data["title"], &data["roles"]), (&json!("OK?"), &json!(["manager"])));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn question_that_lapses_fails_or_goes_on_with_other_steps() {
    let check = async |on_lapse: Value, expected: &str| {
        let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "dueSeconds": 1, "onLapse": on_lapse });
        let server =
            Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": [ask] }))], None).await;
        let id = server.start("test", json!({})).await;
        assert_eq!(shown(&server.ended(&id).await), expected);
    };
    check(json!({ "fail": "Too late." }), "failed null lapsed: Too late. (ask)\nask Failed 1").await;
    let steps = json!([{ "id": "tell", "type": "endpoint", "endpointId": "e", "payload": "$.input" }, { "id": "end", "type": "return", "value": "nobody" }]);
    check(json!({ "steps": steps }), "done \"nobody\"\nask Failed 1\nask/onLapse/tell Done 1").await;
}
