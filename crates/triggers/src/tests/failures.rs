//! Triggers that fail are paused.

use super::{TestServer, on_each_database};
use crate::settle;
use crate::store;
use crate::ticks::Ticker;
use ::store::sql::Db;
use ::store::{AuditFilter, StoreError};
use capability::{TellOfWaiting, WaitingKind};
use futures::future::BoxFuture;
use jiff::SignedDuration;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use workflows::RunEnd;

fn minutely(input: Value) -> Value {
    json!([{ "id": "tick", "type": "cron", "cron": "* * * * *", "runAs": { "roles": [] }, "input": input }])
}

/// The ids of the paused triggers of which people are notified.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl TellOfWaiting for Told {
    fn begins<'a>(&'a self, _: &'a mut Db, kind: WaitingKind, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        assert_eq!(kind, WaitingKind::PausedTrigger);
        self.0.lock().push(id.to_owned());
        Box::pin(std::future::ready(Ok(())))
    }
}

#[tokio::test]
async fn trigger_is_paused_after_five_failures_in_a_row() {
    on_each_database(async |store| {
        let server = TestServer::new(store, minutely(json!({})));
        let told = Arc::new(Told::default());
        server.triggers.waiting.tell_with(told.clone());
        let ticker = Ticker::new(server.triggers.clone());
        ticker.look().await.unwrap();
        let trigger = server.triggers.active.get("invoices", "tick").unwrap();
        let next = async |outcome: RunEnd| {
            server.pass(SignedDuration::from_mins(1));
            ticker.look().await.unwrap();
            let run = store::newest(store, &trigger.key).await.unwrap()[0].run_id.clone().unwrap();
            server.end_runs(&[run], &outcome);
            settle::settle(&server.triggers).await.unwrap();
            settle::settle(&server.triggers).await.unwrap();
            let state = store::find(store, &trigger.key).await.unwrap().unwrap();
            (state.failures, state.paused_at.is_some())
        };
        let failed = RunEnd::Failed("the service is down".to_owned());
        for failures in 1..=4 {
            assert_eq!(next(failed.clone()).await, (failures, false));
        }
        assert_eq!(next(RunEnd::Stopped).await, (4, false), "an operator stopped it");
        assert_eq!(next(RunEnd::Done).await, (0, false));
        for failures in 1..=4 {
            assert_eq!(next(failed.clone()).await, (failures, false));
        }
        assert_eq!(store::count_paused(store).await.unwrap(), 0);
        assert_eq!(*told.0.lock(), [""; 0]);
        assert_eq!(next(failed.clone()).await, (5, true));
        assert_eq!(store::count_paused(store).await.unwrap(), 1);
        assert_eq!(*told.0.lock(), ["invoices/tick"]);
        let runs = server.runs().await.len();
        server.pass(SignedDuration::from_mins(10));
        ticker.look().await.unwrap();
        assert_eq!(server.runs().await.len(), runs);
        let entry = &store.audit_list(AuditFilter::default(), 9, None).await.unwrap()[0];
        assert_eq!(
            (entry.tool.as_str(), entry.user_id.as_str()),
            ("admin:trigger_paused_itself", "trigger:invoices/tick")
        );
        assert!(entry.arguments.contains("the service is down"), "{}", entry.arguments);
    })
    .await;
}

#[tokio::test]
async fn values_that_cannot_be_evaluated_count_as_failures() {
    on_each_database(async |store| {
        let server = TestServer::new(store, minutely(json!({ "_number.toFixed": ["x", 2] })));
        let ticker = Ticker::new(server.triggers.clone());
        ticker.look().await.unwrap();
        for _ in 0..7 {
            server.pass(SignedDuration::from_mins(1));
            ticker.look().await.unwrap();
        }
        let outcomes = server.outcomes("tick").await;
        assert_eq!(outcomes.len(), 5, "{outcomes:?}");
        assert!(outcomes[0].starts_with("failed 2026-01-01T00:01:00Z `input`: "), "{outcomes:?}");
        assert_eq!(server.runs().await.len(), 0);
        // An input that the workflow does not accept is a failure, too.
        let text = TestServer::new(
            store,
            json!([{ "id": "text", "type": "cron", "cron": "* * * * *", "runAs": { "roles": [] }, "input": "text" }]),
        );
        let ticker = Ticker::new(text.triggers.clone());
        ticker.look().await.unwrap();
        text.pass(SignedDuration::from_mins(1));
        ticker.look().await.unwrap();
        assert_eq!(text.outcomes("text").await, ["failed 2026-01-01T00:01:00Z The input is a JSON object."]);
    })
    .await;
}
