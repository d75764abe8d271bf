//! Tests with databases: those that run on both, and those for one of them. The PostgreSQL server
//! is real and started by the tests.

mod both;
mod connections;
mod postgres;
mod server;
mod sqlite;

use endpoints::{CallContext, Connection, Endpoint, Endpoints, SqlConnection};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const INIT: &str = "CREATE TABLE notes (text TEXT); INSERT INTO notes VALUES ('first')";

/// Returns endpoints with one, `e`, that runs one statement with the payload as its parameters.
fn endpoints(db: &SqlConnection, kind: &str, query: &str, time: Duration) -> Result<Endpoints, String> {
    let routine = json!([
        { "id": "s", "type": kind, "connectionId": "db", "properties": { "query": query, "parameters": { "_payload": true } } },
        { ":return": { "_step": "s" } },
    ]);
    let endpoint = Endpoint {
        id: "e".to_owned(),
        description: None,
        payload_schema: None,
        routine: serde_json::from_value(routine).unwrap(),
        ..Endpoint::default()
    };
    Endpoints::new(vec![endpoint], HashMap::from([("db".to_owned(), Connection::Sql(db.clone()))]), time)
}

/// Runs one statement and returns its result, or the caller's error message.
async fn run(db: &SqlConnection, kind: &str, query: &str, payload: Value) -> String {
    let endpoints = match endpoints(db, kind, query, Duration::from_secs(20)) {
        Ok(endpoints) => endpoints,
        Err(refused) => return refused,
    };
    let context = CallContext {
        agent: None,
        user_id: "ada".to_owned(),
        gate: std::sync::Arc::new(|_: &str| Ok(())),
        models: contract::ModelUse::default(),
        idempotency_key: None,
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
    };
    let answer = endpoints.call("e", payload, &context).await;
    answer.map_or_else(
        |error| {
            let message = error.to_string();
            message
                .strip_prefix("The step `s` failed: ")
                .map_or(message.clone(), |message| format!("failed: {message}"))
        },
        |value| value.to_string(),
    )
}
