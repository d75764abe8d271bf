//! Triggers with a set clock, on SQLite and, if it is installed, on PostgreSQL. The runs are rows of a
//! table, which are stored and undone with the rest of a transaction.

mod console;
mod events;
mod failures;
mod hooks;
mod ticks;

use crate::active::ActiveTriggers;
use crate::engine::Triggers;
use crate::host::Host;
use crate::store;
use ::store::sql::{self, Db};
use ::store::{CapabilityTables, Migration, Store, StoreError, Table};
use capability::Waiting;
use chat::Caller;
use config::{ConnectionType, Language};
use futures::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use operators::Operators;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use workflow_definition::{Trigger, WebhookSender};
use workflows::{ReportedEvent, RunEnd, StartOutcome, TriggeredRun, TriggeredWorkflow};

const RUNS: &str = "CREATE TABLE test_runs (id TEXT NOT NULL PRIMARY KEY, run TEXT NOT NULL)";

const RUN_TABLES: CapabilityTables = CapabilityTables {
    capability: "test_runs",
    migrations: &[Migration { name: "runs", sqlite: RUNS, postgres: RUNS }],
    tables: &[Table { name: "test_runs", key: "id", owner: None }],
    user_deletion: &[],
    sqlite_baseline: None,
};

/// The secret of the connection `billing`.
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// The secret that is to replace it.
const NEXT_SECRET: &str = "whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

/// Workflows whose runs a test ends.
struct TestHost {
    store: Store,
    ended: Mutex<HashMap<String, RunEnd>>,
    is_full: Mutex<bool>,
}

impl Host for TestHost {
    fn operators(&self) -> Arc<Operators> {
        Arc::default()
    }

    fn check_input<'a>(&'a self, _: &'a str, input: &'a Value) -> BoxFuture<'a, Result<(), String>> {
        let is_object = input.is_object();
        Box::pin(async move { if is_object { Ok(()) } else { Err("The input is a JSON object.".to_owned()) } })
    }

    fn start<'a>(&'a self, db: &'a mut Db, new: TriggeredRun) -> BoxFuture<'a, Result<StartOutcome, StoreError>> {
        Box::pin(async move {
            if *self.is_full.lock() {
                return Ok(StartOutcome::Full);
            }
            let id = uuid::Uuid::now_v7().to_string();
            let mut run = json!({ "of": new.user_id, "roles": new.roles, "input": new.input });
            if !new.causes.is_empty() {
                run["causes"] = new.causes.into();
            }
            let insert = sql::query("INSERT INTO test_runs (id, run) VALUES ($1, $2)").bind(&id).bind(run.to_string());
            insert.execute(db).await?;
            Ok(StartOutcome::Started(id))
        })
    }

    fn report(&self, reported: ReportedEvent) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { Ok(reported.name == "order.paid" && reported.roles.iter().any(|role| role == "shop")) })
    }

    fn ends(&self, run_ids: Vec<String>) -> BoxFuture<'_, Result<HashMap<String, RunEnd>, StoreError>> {
        let ended = self.ended.lock();
        let found = run_ids.into_iter().filter_map(|id| Some((id.clone(), ended.get(&id)?.clone()))).collect();
        Box::pin(async move { Ok(found) })
    }
}

/// A server of a database.
struct TestServer {
    triggers: Triggers,
    host: Arc<TestHost>,
    clock: Arc<Mutex<Timestamp>>,
}

impl TestServer {
    fn new(store: &Store, triggers: Value) -> Self {
        let host = Arc::new(TestHost { store: store.clone(), ended: Mutex::default(), is_full: Mutex::default() });
        let clock = Arc::new(Mutex::new("2026-01-01T00:00:00Z".parse().unwrap()));
        let read = clock.clone();
        let active = ActiveTriggers::default();
        let (store, clock_fn) = (store.clone(), Arc::new(move || *read.lock()));
        let server = Self {
            triggers: Triggers { store, host: host.clone(), active, waiting: Waiting::default(), clock: clock_fn },
            host,
            clock,
        };
        server.configure(triggers);
        server
    }

    /// Changes the triggers of the workflow `invoices`.
    fn configure(&self, triggers: Value) {
        let language = Language::new(&[], &[ConnectionType::of::<WebhookSender>()]);
        let text = format!(
            "connections: [{{ id: billing, type: Webhook, properties: {{ scheme: Standard, secrets: [{SECRET}, \"{NEXT_SECRET}\"] }} }}]"
        );
        let (config, _) = language.read_text(&text).map_err(|problems| config::render(&problems)).unwrap();
        let triggers: Vec<Trigger> = serde_json::from_value(triggers).unwrap();
        let workflow = TriggeredWorkflow { id: "invoices".to_owned(), title: "Invoices".to_owned(), triggers };
        self.triggers.active.replace_by(&config, vec![workflow]);
    }

    fn set_clock(&self, at: &str) {
        *self.clock.lock() = at.parse().unwrap();
    }

    fn pass(&self, time: SignedDuration) {
        *self.clock.lock() += time;
    }

    /// Returns the runs of all servers, in the order in which they began.
    async fn runs(&self) -> Vec<Value> {
        let list = sql::query_scalar::<String>("SELECT run FROM test_runs ORDER BY id");
        let texts =
            self.host.store.read(move |db| Box::pin(async move { Ok(list.fetch_all(db).await?) })).await.unwrap();
        texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }

    /// Returns the inputs of the runs.
    async fn inputs(&self) -> Vec<Value> {
        self.runs().await.into_iter().map(|run| run["input"].clone()).collect()
    }

    /// Returns the outcomes of a trigger's deliveries, oldest first, each with its key and its cause.
    async fn outcomes(&self, trigger_id: &str) -> Vec<String> {
        let trigger = self.triggers.active.get("invoices", trigger_id).unwrap();
        let newest = store::newest(&self.triggers.store, &trigger.key).await.unwrap();
        let shown = newest.iter().rev().map(|delivery| {
            let detail = delivery.detail.as_deref().unwrap_or_default();
            format!("{} {} {detail}", delivery.outcome.name(), delivery.key).trim_end().to_owned()
        });
        shown.collect()
    }

    /// Ends all runs that have not ended.
    fn end_runs(&self, runs: &[String], outcome: &RunEnd) {
        self.host.ended.lock().extend(runs.iter().map(|id| (id.clone(), outcome.clone())));
    }
}

/// A signed-in user with these roles.
fn caller(id: &str, roles: Vec<String>) -> Caller {
    Caller::signed_in(id).with_roles(roles)
}

/// Runs a test with each kind of database.
async fn on_each_database(test: impl AsyncFn(&Store)) {
    test_store::on_each_database(&[RUN_TABLES, store::TABLES], test).await;
}
