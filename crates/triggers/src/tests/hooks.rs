//! Webhooks.

use super::console::Console;
use super::{NEXT_SECRET, SECRET, TestServer, on_each_database};
use crate::routes::hook_routes;
use ::store::AuditFilter;
use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tower::ServiceExt;
use webhooks::{Scheme, sign};

fn arrived() -> Value {
    json!([{
        "id": "arrived", "type": "webhook", "connectionId": "billing", "runAs": { "roles": ["billing"] },
        "if": { "_eq": [{ "_event": "body.type" }, "invoice.created"] },
        "input": { "invoice": { "_event": "body.invoice" }, "from": { "_event": "headers.x-sender" } },
    }])
}

/// A sender with a secret, at the time of the server.
struct Sender<'s> {
    server: &'s TestServer,
    routes: Router,
}

impl<'s> Sender<'s> {
    fn new(server: &'s TestServer) -> Self {
        Self { server, routes: hook_routes(server.triggers.clone()).mount(&mut Vec::new()) }
    }

    async fn send(&self, secret: &str, id: &str, body: &Value, age: i64) -> u16 {
        let signed_at = self.server.triggers.now() / 1_000 - age;
        let text = body.to_string();
        let headers = sign(Scheme::Standard, secret, id, text.as_bytes(), signed_at).unwrap();
        let request = Request::post("/api/hooks/invoices/arrived").header("x-sender", "shop");
        let request = headers.into_iter().fold(request, |request, (name, value)| request.header(name, value));
        self.answer(request.body(text.into()).unwrap()).await
    }

    async fn answer(&self, request: Request<Body>) -> u16 {
        self.routes.clone().oneshot(request).await.unwrap().status().as_u16()
    }
}

fn created(number: u32) -> Value {
    json!({ "type": "invoice.created", "invoice": { "number": number } })
}

#[tokio::test]
async fn signed_requests_start_one_run_each() {
    on_each_database(async |store| {
        let server = TestServer::new(store, arrived());
        let sender = Sender::new(&server);
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
        // The sender has not seen the answer, and sends it again a minute later.
        server.pass(SignedDuration::from_mins(1));
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
        assert_eq!(sender.send(NEXT_SECRET, "msg_2", &created(2), 0).await, 202, "the secrets are being changed");
        assert_eq!(sender.send(SECRET, "msg_3", &json!({ "type": "invoice.paid" }), 0).await, 202);
        let expected: Vec<_> = [1, 2].map(|number| json!({ "invoice": { "number": number }, "from": "shop" })).into();
        assert_eq!(server.inputs().await, expected);
        assert_eq!(server.outcomes("arrived").await, ["running msg_1", "running msg_2", "filtered msg_3"]);
    })
    .await;
}

/// After the config was mended, the sender delivers again what could not start a run.
#[tokio::test]
async fn webhook_that_started_nothing_starts_a_run_when_it_comes_again() {
    on_each_database(async |store| {
        let mut wrong = arrived();
        wrong[0]["input"] = json!({ "_event": "body.type" });
        let server = TestServer::new(store, wrong);
        let sender = Sender::new(&server);
        for _ in 0..2 {
            assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
            assert_eq!(server.outcomes("arrived").await, ["failed msg_1 The input is a JSON object."]);
        }
        server.configure(arrived());
        for _ in 0..2 {
            assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
            assert_eq!(server.outcomes("arrived").await, ["running msg_1"]);
        }
        assert_eq!(server.runs().await.len(), 1);
    })
    .await;
}

/// After the config was mended, an administrator delivers again what could not start a run.
#[tokio::test]
async fn webhook_that_started_nothing_is_delivered_again_by_an_administrator() {
    on_each_database(async |store| {
        let mut wrong = arrived();
        wrong[0]["input"] = json!({ "_event": "body.type" });
        let server = TestServer::new(store, wrong);
        let (sender, console) = (Sender::new(&server), Console(&server));
        let path = "/admin/triggers/invoices/arrived";
        let newest = async || {
            let trigger = server.triggers.active.get("invoices", "arrived").unwrap();
            crate::store::newest(store, &trigger.key).await.unwrap().remove(0).id
        };
        let again =
            async |id: &str| console.ask(Method::POST, &format!("/api{path}/deliveries/{id}/again"), Value::Null).await;
        let pages = async || console.ask(Method::GET, path, Value::Null).await.1;
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
        let first = newest().await;
        assert!(pages().await.contains("Deliver again"));

        // The cause is still there. A repeated delivery counts as no further failure of the trigger.
        let (status, said) = again(&first).await;
        assert_eq!((status, said.contains("The input is a JSON object.")), (200, true), "{said}");
        assert_eq!(server.outcomes("arrived").await, ["failed msg_1 The input is a JSON object."]);
        assert_eq!(again(&first).await.0, 404, "it has a new id");
        let trigger = server.triggers.active.get("invoices", "arrived").unwrap();
        assert_eq!(crate::store::find(store, &trigger.key).await.unwrap().unwrap().failures, 1);

        server.configure(arrived());
        let failed = newest().await;
        *server.host.is_full.lock() = true;
        assert_eq!(again(&failed).await.0, 503);
        *server.host.is_full.lock() = false;
        assert_eq!(server.outcomes("arrived").await, ["failed msg_1 The input is a JSON object."], "it is not lost");
        assert_eq!(console.ask(Method::POST, &format!("/api{path}/pause"), Value::Null).await.0, 204);
        let (status, page) = console.ask(Method::POST, &format!("{path}/deliveries/{failed}/again"), Value::Null).await;
        assert_eq!((status, page.contains("A run was started.")), (200, true), "{page}");
        assert_eq!(server.inputs().await, [json!({ "invoice": { "number": 1 }, "from": "shop" })]);
        assert_eq!(console.ask(Method::POST, &format!("/api{path}/resume"), Value::Null).await.0, 204);

        // A delivery that has started a run cannot be repeated.
        assert_eq!(again(&newest().await).await.0, 409);
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
        assert_eq!(sender.send(SECRET, "msg_2", &json!({ "type": "invoice.paid" }), 0).await, 202);
        assert_eq!(again(&newest().await).await.0, 409, "it did not fail");
        assert_eq!(server.outcomes("arrived").await, ["running msg_1", "filtered msg_2"]);
        assert!(!pages().await.contains("Deliver again"));
        let entries = store.audit_list(AuditFilter::default(), 9, None).await.unwrap();
        let said = |action: &str| entries.iter().filter(|entry| entry.tool == format!("admin:{action}")).count();
        assert_eq!((said("deliver_again"), said("pause_trigger")), (2, 1));
    })
    .await;
}

#[tokio::test]
async fn others_are_refused_and_the_operator_sees_why() {
    on_each_database(async |store| {
        let server = TestServer::new(store, arrived());
        let sender = Sender::new(&server);
        let stranger = format!("whsec_{}", "B".repeat(40));
        assert_eq!(sender.send(&stranger, "msg_1", &created(1), 0).await, 401);
        // Others follow too soon to be recorded: a stranger cannot fill the table.
        assert_eq!(sender.send(SECRET, "msg_2", &created(2), 301).await, 401);
        let outcomes = server.outcomes("arrived").await;
        assert_eq!(outcomes.len(), 1);
        assert!(
            outcomes[0].starts_with("refused ") && outcomes[0].ends_with("No signature fits a secret."),
            "{outcomes:?}"
        );
        let post = |path: &str| Request::post(path).body(Body::empty()).unwrap();
        assert_eq!(sender.answer(post("/api/hooks/invoices/unknown")).await, 404);
        assert_eq!(sender.answer(post("/api/hooks/unknown/arrived")).await, 404);
        let large = Request::post("/api/hooks/invoices/arrived").body("x".repeat((1 << 20) + 1).into()).unwrap();
        assert_eq!(sender.answer(large).await, 413);
        assert_eq!(server.runs().await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn senders_try_again_while_there_is_too_much_to_do() {
    on_each_database(async |store| {
        let server = TestServer::new(store, arrived());
        let sender = Sender::new(&server);
        *server.host.is_full.lock() = true;
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 503);
        assert_eq!(server.outcomes("arrived").await, [""; 0]);
        *server.host.is_full.lock() = false;
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
        assert_eq!(server.runs().await.len(), 1);
    })
    .await;
}

#[tokio::test]
async fn bodies_of_the_last_fifty_deliveries_are_kept() {
    on_each_database(async |store| {
        let server = TestServer::new(store, arrived());
        let sender = Sender::new(&server);
        for number in 0..60 {
            assert_eq!(sender.send(SECRET, &format!("msg_{number}"), &created(number), 0).await, 202);
        }
        let trigger = server.triggers.active.get("invoices", "arrived").unwrap();
        let newest = crate::store::newest(store, &trigger.key).await.unwrap();
        assert_eq!((newest.len(), newest.iter().all(|delivery| delivery.has_body)), (50, true));
        let (_, body) = crate::store::body(store, &trigger.key, &newest[0].id).await.unwrap().unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap(), created(59));
        let count = ::store::sql::query_scalar::<i64>("SELECT count(*) FROM trigger_deliveries WHERE body IS NOT NULL");
        let kept = store.read(move |db| Box::pin(async move { Ok(count.fetch_one(db).await?) })).await.unwrap();
        assert_eq!(kept, 50);
        // Older ones are known by their keys for a week.
        assert_eq!(sender.send(SECRET, "msg_1", &created(1), 0).await, 202);
        assert_eq!(server.runs().await.len(), 60);
        server.end_runs(
            &newest.iter().filter_map(|delivery| delivery.run_id.clone()).collect::<Vec<_>>(),
            &workflows::RunEnd::Done,
        );
        crate::settle::settle(&server.triggers).await.unwrap();
        server.pass(SignedDuration::from_hours(24 * 8));
        while crate::store::prune(store, vec![trigger.key.clone()], server.triggers.now()).await.unwrap() {}
        assert_eq!(crate::store::newest(store, &trigger.key).await.unwrap().len(), 50, "the newest are shown");
    })
    .await;
}
