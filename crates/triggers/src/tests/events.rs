//! Events of the product, and those that programs report.

use super::{TestServer, caller, on_each_database};
use crate::happened;
use crate::routes::event_routes;
use ::store::{AddUserOutcome, NewEvent, NewUser, Store, append_event};
use axum::Extension;
use axum::body::Body;
use axum::http::Request;
use jiff::SignedDuration;
use serde_json::{Value, json};
use tower::ServiceExt;

async fn add_user(store: &Store, name: &str, now: i64) {
    let user = NewUser {
        id: format!("id-{name}"),
        name: name.to_owned(),
        name_key: name.to_owned(),
        password: String::new(),
        must_change_password: false,
        roles: Vec::new(),
        now,
    };
    assert_eq!(store.add_user(user, false, None).await.unwrap(), AddUserOutcome::Done);
}

#[tokio::test]
async fn events_of_the_product_start_one_run_each() {
    on_each_database(async |store| {
        let welcome = json!([{
            "id": "welcome", "type": "event", "event": "user.created", "runAs": { "roles": [] },
            "if": { "_not": { "_eq": [{ "_event": "userName" }, "robot"] } },
            "input": { "name": { "_event": "userName" } },
        }]);
        let servers = [TestServer::new(store, welcome.clone()), TestServer::new(store, welcome)];
        let look = async || {
            for server in &servers {
                happened::look(&server.triggers).await.unwrap();
            }
        };
        add_user(store, "early", servers[0].triggers.now() - 3_600_000).await;
        look().await;
        assert_eq!(servers[0].inputs().await, [json!(null); 0], "it was there before the trigger");
        add_user(store, "ada", servers[0].triggers.now()).await;
        add_user(store, "robot", servers[0].triggers.now()).await;
        look().await;
        // No server runs for a day.
        servers.iter().for_each(|server| server.pass(SignedDuration::from_hours(24)));
        add_user(store, "grace", servers[0].triggers.now() - 7_200_000).await;
        look().await;
        servers.iter().for_each(|server| server.pass(SignedDuration::from_mins(5)));
        look().await;
        assert_eq!(servers[0].inputs().await, [json!({ "name": "ada" }), json!({ "name": "grace" })]);
        assert_eq!(servers[0].outcomes("welcome").await, ["running id-ada", "filtered id-robot", "running id-grace"]);
    })
    .await;
}

/// An event that a run emits does not start a workflow whose run led to it.
#[tokio::test]
async fn events_of_workflows_do_not_feed_themselves() {
    on_each_database(async |store| {
        let ended = json!([{
            "id": "ended", "type": "event", "event": "workflow.ended", "runAs": { "roles": [] },
            "input": { "of": { "_event": "workflowId" } },
        }]);
        let server = TestServer::new(store, ended);
        happened::look(&server.triggers).await.unwrap();
        for (key, chain) in [
            ("1", json!(["orders"])),
            ("2", json!(["invoices"])),
            ("3", json!(["invoices", "orders"])),
            ("4", json!(["a", "b", "orders"])),
            ("5", json!(["a", "b", "c", "orders"])),
        ] {
            let event = NewEvent {
                name: "workflow.ended".to_owned(),
                key: key.to_owned(),
                at: server.triggers.now(),
                data: json!({ "workflowId": "orders", "chain": chain }),
                roles: None,
            };
            store.write(move |db| Box::pin(async move { append_event(db, event).await })).await.unwrap();
        }
        happened::look(&server.triggers).await.unwrap();
        happened::look(&server.triggers).await.unwrap();
        let expected = [
            "running 1",
            "filtered 2 A run of this workflow led to the event: invoices.",
            "filtered 3 A run of this workflow led to the event: invoices → orders.",
            "running 4",
            "filtered 5 The event is the last of a chain of 4 workflows: a → b → c → orders.",
        ];
        assert_eq!(server.outcomes("ended").await, expected);
        let causes: Vec<_> = server.runs().await.into_iter().map(|run| run["causes"].clone()).collect();
        assert_eq!(causes, [json!(["orders"]), json!(["a", "b", "orders"])]);
    })
    .await;
}

#[tokio::test]
async fn many_events_at_once_are_all_found() {
    on_each_database(async |store| {
        let welcome = json!([{ "id": "welcome", "type": "event", "event": "user.created", "runAs": { "roles": [] } }]);
        let server = TestServer::new(store, welcome);
        happened::look(&server.triggers).await.unwrap();
        for number in 0..450 {
            add_user(store, &format!("user{number}"), server.triggers.now()).await;
        }
        for _ in 0..3 {
            happened::look(&server.triggers).await.unwrap();
            server.pass(SignedDuration::from_secs(10));
        }
        assert_eq!(server.runs().await.len(), 450);
    })
    .await;
}

#[tokio::test]
async fn reported_events_start_runs_if_the_reporter_may() {
    on_each_database(async |store| {
        let shipped = json!([
            { "id": "shipped", "type": "event", "event": "order.shipped", "senders": ["shop"], "runAs": { "roles": [] } },
            { "id": "admins", "type": "event", "event": "order.shipped", "runAs": { "roles": [] }, "input": {} },
        ]);
        let server = TestServer::new(store, shipped);
        let report = async |roles: &[&str], name: &str, body: Value| {
            let roles = roles.iter().map(|role| (*role).to_owned()).collect();
            let caller = caller("ada", roles);
            let routes = event_routes(server.triggers.clone()).mount(&mut Vec::new()).layer(Extension(caller));
            let request = Request::post(format!("/api/events/{name}")).header("content-type", "application/json");
            routes.oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap().status().as_u16()
        };
        let body = json!({ "id": "order-7", "data": { "number": 7 } });
        assert_eq!(report(&["shop"], "order.shipped", body.clone()).await, 202);
        assert_eq!(report(&["shop"], "order.shipped", body.clone()).await, 202, "it is reported again");
        let event = json!({ "name": "order.shipped", "id": "order-7", "by": "ada", "data": { "number": 7 } });
        assert_eq!(server.inputs().await, [event]);
        assert_eq!(report(&["shop", "admin"], "order.shipped", json!({})).await, 202);
        assert_eq!(server.runs().await.len(), 3, "both triggers");
        assert_eq!(report(&[], "order.shipped", body.clone()).await, 404);
        assert_eq!(report(&["shop"], "order.lost", body).await, 404);
        assert_eq!(report(&["shop"], "user.created", json!({})).await, 404);
        assert_eq!(report(&["shop"], "order.shipped", json!({ "date": 1 })).await, 422);
        assert_eq!(report(&["shop"], "order.shipped", json!({ "id": "" })).await, 422);
        assert_eq!(server.runs().await.len(), 3);
    })
    .await;
}
