//! The console: what it shows, pausing, resuming and tests.

use super::{TestServer, caller, on_each_database};
use crate::console::section;
use crate::ticks::Ticker;
use ::store::AuditFilter;
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::http::{Method, Request};
use jiff::SignedDuration;
use serde_json::{Value, json};
use tower::ServiceExt;

fn nightly() -> Value {
    json!([{
        "id": "nightly", "type": "cron", "cron": "30 2 * * *", "timeZone": "Europe/Berlin", "runAs": { "roles": [] },
        "if": { "_not": { "_event": "late" } },
    }])
}

/// The console of an administrator.
pub(super) struct Console<'s>(pub(super) &'s TestServer);

impl Console<'_> {
    pub(super) async fn ask(&self, method: Method, path: &str, body: Value) -> (u16, String) {
        let roles = vec!["admin".to_owned()];
        let caller = caller("boss", roles);
        let routes = section(self.0.triggers.clone()).routes.mount(&mut Vec::new()).layer(Extension(caller));
        let request = Request::builder().method(method).uri(path).header("content-type", "application/json");
        let response = routes.oneshot(request.body(Body::from(body.to_string())).unwrap()).await.unwrap();
        let status = response.status().as_u16();
        (status, String::from_utf8(to_bytes(response.into_body(), usize::MAX).await.unwrap().into()).unwrap())
    }

    async fn get(&self, path: &str) -> Value {
        let (status, text) = self.ask(Method::GET, path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {text}");
        serde_json::from_str(&text).unwrap()
    }

    async fn post(&self, action: &str, body: Value) -> (u16, String) {
        self.ask(Method::POST, &format!("/api/admin/triggers/invoices/nightly/{action}"), body).await
    }
}

#[tokio::test]
async fn next_five_times_are_shown() {
    on_each_database(async |store| {
        let server = TestServer::new(store, nightly());
        server.set_clock("2026-03-28T12:00:00Z");
        let console = Console(&server);
        let listed = console.get("/api/admin/triggers").await;
        let times: Vec<_> = listed["items"][0]["nextTimes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|time| time.as_i64().unwrap() / 60_000 % 1_440)
            .collect();
        // In UTC, over the change to daylight saving time.
        assert_eq!(times, [60, 30, 30, 30, 30]);
        assert_eq!(listed["items"][0]["waitsFor"], "30 2 * * * (Europe/Berlin)");
        let (status, page) = console.ask(Method::GET, "/admin/triggers/invoices/nightly", Value::Null).await;
        assert_eq!(
            (status, page.contains("<li>29 Mar 2026, 01:00</li><li>30 Mar 2026, 00:30</li>")),
            (200, true),
            "{page}"
        );
        let (status, page) = console.ask(Method::GET, "/admin/triggers", Value::Null).await;
        assert_eq!((status, page.contains(r#"href="/admin/triggers/invoices/nightly""#)), (200, true), "{page}");
        assert_eq!(console.ask(Method::GET, "/api/admin/triggers/invoices/unknown", Value::Null).await.0, 404);
    })
    .await;
}

#[tokio::test]
async fn operator_pauses_resumes_and_tests_a_trigger() {
    on_each_database(async |store| {
        let server = TestServer::new(store, nightly());
        let (console, ticker) = (Console(&server), Ticker::new(server.triggers.clone()));
        let state = async || console.get("/api/admin/triggers/invoices/nightly").await;
        ticker.look().await.unwrap();
        assert_eq!(console.post("pause", Value::Null).await.0, 204);
        assert_eq!(console.post("pause", Value::Null).await.0, 204);
        assert_eq!(state().await["pausedBy"], "boss");
        assert_eq!(console.get("/api/admin/triggers?state=paused").await["items"].as_array().unwrap().len(), 1);
        server.pass(SignedDuration::from_hours(48));
        ticker.look().await.unwrap();
        assert_eq!(server.runs().await.len(), 0);
        // A test is possible all the same.
        let (status, tested) = console.post("test", json!({ "event": { "late": false, "number": 1 } })).await;
        assert_eq!((status, tested.contains(r#""outcome":"running""#)), (200, true), "{tested}");
        assert_eq!(server.inputs().await, [json!({ "late": false, "number": 1 })]);
        let (_, tested) = console.post("test", json!({ "event": { "late": true } })).await;
        assert!(tested.contains(r#""outcome":"filtered""#), "{tested}");
        assert_eq!(console.post("test", json!({ "events": 1 })).await.0, 422);
        assert_eq!(console.post("resume", Value::Null).await.0, 204);
        assert_eq!(state().await.get("pausedAt"), None);
        // Ticks during the pause are not made up for.
        ticker.look().await.unwrap();
        assert_eq!(server.runs().await.len(), 1);
        server.pass(SignedDuration::from_hours(24));
        ticker.look().await.unwrap();
        let entries = store.audit_list(AuditFilter::default(), 9, None).await.unwrap();
        let actions: Vec<_> = entries.iter().rev().map(|entry| entry.tool.as_str()).collect();
        assert_eq!(
            actions,
            ["admin:pause_trigger", "admin:test_trigger", "admin:test_trigger", "admin:resume_trigger"]
        );
    })
    .await;
}
