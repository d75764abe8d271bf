//! The workflow of `examples/invoices`, from the request to the database, and who may reach what.

use super::{call_route, caller, get, post, state};
use crate::compose::Composition;
use crate::router::caller_routes;
use axum::Router;
use capability::Job;
use chat::Caller;
use serde_json::{Value, json};
use std::time::Duration;

const CONFIG: &str = include_str!("../../../examples/invoices/chatwright.yaml");
const TABLE: &str = include_str!("../../../examples/invoices/invoices.sql");

struct Site {
    routes: Router,
    boss: Caller,
}

impl Site {
    async fn open() -> Self {
        let table = serde_json::to_string(TABLE).unwrap();
        let state = state(&CONFIG.replace("{ _ref: invoices.sql }", &table)).await;
        let Composition { chat, current, .. } = &*state.composition;
        for job in current.capabilities().jobs(&state.composition.context()) {
            if let Job::Queued(handler) = job {
                chat.workers().add(handler);
            }
        }
        let routes = caller_routes(&state).mount(&mut Vec::new()).with_state(state);
        Self { routes, boss: caller(("boss", true, &["admin"])) }
    }

    async fn ask(&self, path: String, body: Option<Value>) -> Value {
        let request = match body {
            Some(body) => post(path, body),
            None => get(path),
        };
        let (status, answer) = call_route(&self.routes, &self.boss, request).await;
        assert!(status < 300, "{status} {answer}");
        serde_json::from_str(&answer).unwrap_or(Value::Null)
    }

    /// Starts a run and returns its id.
    async fn start(&self, text: &str) -> String {
        let run = self.ask("/api/workflows/invoice/runs".to_owned(), Some(json!({ "input": { "text": text } }))).await;
        run["id"].as_str().unwrap().to_owned()
    }

    /// Returns the run once this is true.
    async fn run(&self, id: &str, is_there: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..500 {
            let run = self.ask(format!("/api/workflows/runs/{id}"), None).await;
            if is_there(&run) {
                return run;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        panic!("the run does not get there");
    }

    async fn posted(&self) -> Value {
        self.ask("/api/endpoints/home/invoices".to_owned(), Some(json!({}))).await
    }
}

fn has_ended(run: &Value) -> bool {
    !run["endedAt"].is_null()
}

#[tokio::test(flavor = "multi_thread")]
async fn invoice_is_read_approved_and_posted() {
    let site = Site::open().await;
    let small = site.start("Number: 2026-1, supplier: Acme, total: 300").await;
    let run = site.run(&small, has_ended).await;
    assert_eq!(run["output"], json!({ "posted": true, "number": "2026-1", "total": 300 }), "{run}");
    let large = site.start("Number: 2026-2, supplier: Bolt, total: 6200").await;
    let run = site.run(&large, |run| run["tasks"][0].is_object()).await;
    let task = &run["tasks"][0];
    assert_eq!((&task["title"], &task["state"]), (&json!("Pay 6200 to Bolt?"), &json!("open")));
    assert_eq!(site.ask("/api/workflows/tasks".to_owned(), None).await["items"][0]["id"], task["id"]);
    let path = format!("/api/workflows/tasks/{}", task["id"].as_str().unwrap());
    // Whoever was not asked does not learn that there is a question, nor of the run.
    let eve = caller(("eve", true, &["reader"]));
    let stranger = async |request| call_route(&site.routes, &eve, request).await.0;
    assert_eq!(stranger(post(path.clone(), json!({ "approved": true }))).await, 404);
    assert_eq!(stranger(get(format!("/api/workflows/runs/{large}"))).await, 404);
    assert_eq!(stranger(post(format!("/api/workflows/runs/{large}/stop"), json!({}))).await, 404);
    site.ask(path, Some(json!({ "approved": true, "comment": "As agreed." }))).await;
    let run = site.run(&large, has_ended).await;
    assert_eq!(run["output"], json!({ "posted": true, "number": "2026-2", "total": 6200 }), "{run}");
    assert_eq!(run["used"]["requests"], 1);
    let posted = site.posted().await;
    let numbers: Vec<_> = posted.as_array().unwrap().iter().map(|row| (&row["number"], &row["approved_by"])).collect();
    assert_eq!(numbers, [(&json!("2026-1"), &json!("the limit")), (&json!("2026-2"), &json!("a person"))]);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_and_incomplete_invoices_are_not_posted() {
    let site = Site::open().await;
    let large = site.start("Number: 2026-3, supplier: Bolt, total: 9000").await;
    let run = site.run(&large, |run| run["tasks"][0].is_object()).await;
    let path = format!("/api/workflows/tasks/{}", run["tasks"][0]["id"].as_str().unwrap());
    site.ask(path, Some(json!({ "approved": false, "comment": "Too much." }))).await;
    let run = site.run(&large, has_ended).await;
    assert_eq!(run["output"], json!({ "posted": false, "reason": "Too much." }), "{run}");
    let broken = site.start("Dear Sir or Madam").await;
    let run = site.run(&broken, has_ended).await;
    assert_eq!(
        (&run["state"], &run["error"]["message"]),
        (&json!("failed"), &json!("The invoice has no number or no total."))
    );
    assert_eq!(site.posted().await, json!([]));
    let (status, answer) =
        call_route(&site.routes, &site.boss, post("/api/workflows/invoice/runs".to_owned(), json!({ "input": {} })))
            .await;
    assert_eq!(status, 422, "{answer}");
}
