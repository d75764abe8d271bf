//! Databases: the same statements on both, and what is each one's own. PostgreSQL is a real one that the tests start.

mod both;
mod connections;
mod postgres;
mod server;
mod sqlite;

use endpoints::{CallContext, Connection, Endpoint, Endpoints, Sql};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const INIT: &str = "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('first')";

/// An endpoint `e` with one statement, whose parameters are the payload.
fn endpoints(db: &Sql, kind: &str, query: &str, time: Duration) -> Result<Endpoints, String> {
    let routine = json!([
        { "id": "s", "type": kind, "connectionId": "db", "properties": { "query": query, "parameters": { "_payload": true } } },
        { ":return": { "_step": "s" } },
    ]);
    let endpoint = Endpoint {
        id: "e".to_owned(),
        description: None,
        payload_schema: None,
        routine: serde_json::from_value(routine).unwrap(),
    };
    Endpoints::new(vec![endpoint], HashMap::from([("db".to_owned(), Connection::Sql(db.clone()))]), time)
}

/// Runs one statement: its answer, or what the caller is told.
async fn run(db: &Sql, kind: &str, query: &str, payload: Value) -> String {
    let endpoints = match endpoints(db, kind, query, Duration::from_secs(20)) {
        Ok(endpoints) => endpoints,
        Err(refused) => return refused,
    };
    let context = CallContext {
        user_id: "ada".to_owned(),
        gate: std::sync::Arc::new(|_: &str| Ok(())),
        models: contract::ModelUse::default(),
        cancel: CancellationToken::new(),
    };
    let answer = endpoints.call("e", payload, &context).await;
    answer.map_or_else(
        |error| {
            let told = error.to_string();
            told.strip_prefix("The step `s` failed: ").map_or(told.clone(), |told| format!("failed: {told}"))
        },
        |value| value.to_string(),
    )
}
