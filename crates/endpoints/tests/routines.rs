//! Routines over a real database.

use endpoints::{CallContext, Endpoint, EndpointError, Endpoints, Sql, SqlSettings};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const INIT: &str = "CREATE TABLE articles (id INTEGER PRIMARY KEY, title TEXT, price REAL, body BLOB);
    INSERT INTO articles (title, price, body) VALUES ('Refunds', 1.5, NULL), ('Returns', 2, x'0102')";

async fn endpoints(read_only: bool, routine: Value) -> Endpoints {
    let settings = SqlSettings { url: "sqlite::memory:".to_owned(), read_only, init: Some(INIT.to_owned()) };
    let kb = Sql::open(&settings).await.unwrap();
    let endpoint = Endpoint {
        id: "e".to_owned(),
        description: None,
        payload_schema: Some(
            json!({ "type": "object", "properties": { "q": { "type": "string" } }, "required": ["q"] }),
        ),
        routine: serde_json::from_value(routine).unwrap(),
    };
    Endpoints::new(vec![endpoint], HashMap::from([("kb".to_owned(), kb)]), Duration::from_secs(5)).unwrap()
}

async fn check(routine: Value, payload: Value, expected: &str) {
    let endpoints = endpoints(false, routine).await;
    let context = CallContext { user_id: "ada".to_owned(), cancel: CancellationToken::new() };
    let seen = endpoints.call("e", payload, &context).await;
    assert_eq!(seen.map_or_else(|error| error.to_string(), |value| value.to_string()), expected);
}

fn sql(kind: &str, query: &str, parameters: Value) -> Value {
    json!({ "id": "s", "type": kind, "connectionId": "kb", "properties": { "query": query, "parameters": parameters } })
}

#[tokio::test]
async fn requests() {
    let hits = sql(
        "SqlQuery",
        "select title, price, body from articles where title like '%' || :q || '%'",
        json!({ "q": { "_payload": "q" } }),
    );
    let found = json!([hits, { ":return": { "hits": { "_step": "s" }, "by": { "_user": "id" } } }]);
    check(found.clone(), json!({ "q": "Re" }), r#"{"hits":[{"title":"Refunds","price":1.5,"body":null},{"title":"Returns","price":2.0,"body":{"bytes":2}}],"by":"ada"}"#).await;
    check(found, json!({ "q": "'; DROP TABLE articles; --" }), r#"{"hits":[],"by":"ada"}"#).await;
    let delete = json!([sql("SqlExecute", "delete from articles where title = :q", json!({ "q": { "_payload": "q" } })), { ":return": { "_step": "s" } }]);
    check(delete, json!({ "q": "Refunds" }), r#"{"rowsAffected":1}"#).await;
}

#[tokio::test]
async fn failures_are_for_their_reader() {
    check(json!([]), json!({}), r#"The payload does not fit at /: "q" is a required property"#).await;
    check(json!([]), json!({ "q": 7 }), r#"The payload does not fit at /q: 7 is not of type "string""#).await;
    check(
        json!([sql("SqlQuery", "selec 1", json!({}))]),
        json!({ "q": "" }),
        "The step `s` failed: near \"selec\": syntax error",
    )
    .await;
    check(
        json!([sql("SqlQuery", "select :x", json!({}))]),
        json!({ "q": "" }),
        "The step `s` failed: the parameter `x` is not given",
    )
    .await;
    check(json!([{ ":reject": "Not today." }]), json!({ "q": "" }), "Not today.").await;
}

#[tokio::test]
async fn controls() {
    let routine = json!([
        { ":set_state": { "n": { "_payload": "q" } } },
        { ":if": { "_eq": [{ "_state": "n" }, "yes"] }, ":then": [{ ":return": 1 }], ":else": [{ ":return": 2 }] },
        { ":return": 3 },
    ]);
    check(routine.clone(), json!({ "q": "yes" }), "1").await;
    check(routine, json!({ "q": "no" }), "2").await;
    check(json!([{ ":log": "hello" }]), json!({ "q": "" }), "null").await;
}

#[tokio::test]
async fn read_only_is_read_only() {
    let routine = json!([sql("SqlExecute", "delete from articles", json!({}))]);
    let endpoints = endpoints(true, routine).await;
    let context = CallContext { user_id: "ada".to_owned(), cancel: CancellationToken::new() };
    let refused = endpoints.call("e", json!({ "q": "" }), &context).await.unwrap_err();
    assert_eq!(refused.to_string(), "The step `s` failed: attempt to write a readonly database");
    context.cancel.cancel();
    assert_eq!(endpoints.call("none", json!({}), &context).await, Err(EndpointError::NotFound));
}
