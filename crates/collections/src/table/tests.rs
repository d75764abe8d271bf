//! Tables of connections: filters against the interpreter in memory, and all operations, on each database.

use crate::failure::DataError;
use crate::filter::Filter;
use crate::records::{Data, Records};
use crate::section::Collection;
use crate::tests::{any_combination, data, passes, sorted_texts};
use ::store::{Schema, Store};
use chat::{Caller, Viewer};
use contract::RunScope;
use endpoints::{OpenDatabases, SqlConnection, SqlSettings};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::Duration;

const TABLE: &str = r#"CREATE TABLE "the things" (
    "id" INTEGER PRIMARY KEY, "user" TEXT, a TEXT, "b""b" DOUBLE PRECISION, c BOOLEAN, d DATE
);"#;

/// Opens a table in each kind of database, as the connection `shop`.
async fn databases(table: &str) -> Vec<Data> {
    let mut urls = vec![("sqlite::memory:".to_owned(), table.to_owned())];
    let of_postgres = table.replace("INTEGER PRIMARY KEY", "SERIAL PRIMARY KEY");
    urls.extend(test_postgres::new_database().await.map(|url| (url, of_postgres)));
    let mut all = Vec::new();
    for (url, init) in urls {
        let settings = SqlSettings { url: url.into(), read_only: false, init: Some(init) };
        let databases = OpenDatabases::default();
        databases.replace(HashMap::from([("shop".to_owned(), SqlConnection::open(&settings).await.unwrap())]));
        let store: Store = Schema::new(&[]).open("sqlite::memory:", "", Duration::ZERO).await.unwrap();
        all.push(Data { databases, ..data(&store) });
    }
    all
}

fn collection(records: &str, owner: Option<&str>) -> Collection {
    let value = json!({
        "id": "things",
        "records": records,
        "schema": {
            "type": "object",
            "properties": {
                "a": { "type": "string" },
                "b": { "type": ["number", "null"] },
                "c": { "type": "boolean" },
                "day": { "type": "string", "format": "date" },
            },
            "additionalProperties": false,
        },
        "source": {
            "connectionId": "shop",
            "table": "the things",
            "ownerColumn": owner,
            "columns": { "b": "b\"b", "day": "d" },
            "write": true,
        },
    });
    serde_json::from_value(value).unwrap()
}

fn agent(user: &str) -> Viewer {
    Viewer::from(&RunScope { user_id: user.to_owned(), ..RunScope::default() })
}

fn read<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

async fn insert(records: &Records<'_>, all: Value) -> Result<Value, DataError> {
    records.insert(read(json!({ "records": all }))).await.map(|inserted| json!(inserted))
}

async fn query(records: &Records<'_>, query: Value) -> Result<Value, DataError> {
    records.query(read(query)).await.map(|found| json!(found))
}

fn any_record() -> impl Strategy<Value = Map<String, Value>> {
    let number = prop_oneof![(-3..4_i64).prop_map(Value::from), Just(json!(0.5)), Just(json!(1e300))];
    let text = "[aAbBzä%_\\\\' ]{0,3}".prop_map(Value::from);
    let fields = (prop::option::of(text), prop::option::of(number), prop::option::of(any::<bool>()));
    fields.prop_map(|(a, b, c)| {
        let all = [("a", a), ("b", b), ("c", c.map(Value::from))];
        all.into_iter().filter_map(|(field, value)| Some((field.to_owned(), value?))).collect()
    })
}

fn any_condition() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec!["eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "startsWith", "exists"]);
    let field = prop::sample::select(vec!["a", "b", "c"]);
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        Just(json!(0.5)),
        Just(json!(9_007_199_254_740_991_i64)),
        // SQLite knows the lower case of ASCII letters only.
        "[aAbB%_\\\\' ]{0,3}".prop_map(Value::from),
    ];
    let list = prop::collection::vec(scalar.clone(), 0..3).prop_map(Value::from);
    let compare = (field, op, prop_oneof![4 => scalar, 1 => list])
        .prop_map(|(field, op, value)| json!({ "field": field, "op": op, "value": value }));
    any_combination(compare)
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_mean_the_same_in_memory_and_in_each_table() {
    let (all, things) = (databases(TABLE).await, collection("own", Some("user")));
    let mut runner = TestRunner::new(Config { cases: 100, failure_persistence: None, ..Config::default() });
    let cases = (prop::collection::vec(any_record(), 1..6), prop::collection::vec(any_condition(), 0..3));
    let (handle, number) = (tokio::runtime::Handle::current(), std::cell::Cell::new(0));
    let run = tokio::task::block_in_place(|| {
        runner.run(&cases, |(records, conditions)| {
            let Ok(filter) = Filter::read(&conditions) else { return Ok(()) };
            number.set(number.get() + 1);
            let viewer = agent(&format!("user {}", number.get()));
            let records: Vec<_> = records.into_iter().filter(|record| !record.is_empty()).collect();
            let expected: Vec<_> = records.iter().filter(|record| passes(&filter, record)).cloned().collect();
            for data in &all {
                let found = handle.block_on(async {
                    let of_user = data.records(&things, &viewer).unwrap();
                    if !records.is_empty() {
                        insert(&of_user, json!(records)).await.unwrap();
                    }
                    query(&of_user, json!({ "where": conditions, "limit": 100 })).await.unwrap()
                });
                let found = found["records"].as_array().unwrap().iter().map(|record| record["data"].clone());
                let expected = expected.iter().cloned().map(Value::Object);
                prop_assert_eq!(sorted_texts(found), sorted_texts(expected), "{:?}", conditions);
            }
            Ok(())
        })
    });
    run.unwrap();
    assert!(number.get() > 40, "{} filters were usable", number.get());
}

#[tokio::test]
async fn rows_are_read_and_changed_in_each_table() {
    let things = collection("own", Some("user"));
    let mut seen = Vec::new();
    for data in databases(TABLE).await {
        let (ada, bob) = (data.records(&things, &agent("ada")).unwrap(), data.records(&things, &agent("bob")).unwrap());
        let added = json!([
            { "a": "x", "b": 2, "c": true, "day": "2024-02-29" },
            { "a": "B", "b": 0.1 },
            { "a": "x", "b": 0.2, "c": false, "day": "2025-01-01" },
            { "b": 10 },
        ]);
        let ids = insert(&ada, added).await.unwrap();
        let mut lines = vec![ids.clone()];
        let order = json!({ "orderBy": [{ "field": "a" }, { "field": "b", "descending": true }], "limit": 3 });
        lines.push(query(&ada, order).await.unwrap());
        let later = json!({ "where": [{ "field": "day", "op": "gt", "value": "2024-12-31" }], "select": ["day", "c"] });
        lines.push(query(&ada, later).await.unwrap());
        let sums = json!({ "groupBy": ["a"], "aggregate": [
            { "op": "count" }, { "op": "sum", "field": "b" }, { "op": "max", "field": "b" }, { "op": "count", "field": "a" },
        ] });
        lines.push(json!(ada.aggregate(&read(sums)).await.unwrap()));
        lines.push(json!(ada.facets(&read(json!({ "fields": ["a", "c", "day"] }))).await.unwrap()));
        let set = json!({ "where": [{ "field": "a", "op": "eq", "value": "x" }], "set": { "a": "y", "c": null } });
        lines.push(json!(ada.update(read(set)).await.unwrap()));
        // Another user's ids mean nothing.
        lines.push(json!(bob.delete(read(ids.clone())).await.unwrap()));
        lines.push(json!(
            bob.record(ids["ids"][0].as_str().unwrap().to_owned()).await.unwrap_err() == DataError::NotFound
        ));
        lines.push(json!(ada.record(ids["ids"][0].as_str().unwrap().to_owned()).await.unwrap()));
        lines.push(json!(ada.delete(read(ids)).await.unwrap()));
        let mistake = json!({ "where": [{ "field": "user", "op": "eq", "value": "bob" }] });
        lines.push(json!(format!("{:?}", query(&ada, mistake).await.unwrap_err())));
        let lines = lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        seen.push(lines);
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{}", seen.join("\n\n"));
    insta::assert_snapshot!(seen[0], @r#"
    {"ids":["1","2","3","4"]}
    {"records":[{"id":"2","data":{"a":"B","b":0.1}},{"id":"1","data":{"a":"x","b":2,"c":true,"day":"2024-02-29"}},{"id":"3","data":{"a":"x","b":0.2,"c":false,"day":"2025-01-01"}}],"total":4,"nextOffset":3}
    {"records":[{"id":"3","data":{"c":false,"day":"2025-01-01"}}],"total":1}
    {"groups":[{"count":2,"group":{"a":"x"},"sum(b)":2.2,"max(b)":2,"count(a)":2},{"count":1,"group":{"a":"B"},"sum(b)":0.1,"max(b)":0.1,"count(a)":1},{"count":1,"group":{"a":null},"sum(b)":10,"max(b)":10,"count(a)":0}]}
    {"facets":{"a":[{"value":"x","count":2},{"value":"B","count":1}],"c":[{"value":false,"count":1},{"value":true,"count":1}],"day":[{"value":"2024-02-29","count":1},{"value":"2025-01-01","count":1}]}}
    {"updated":2}
    {"deleted":0,"left":0}
    true
    {"id":"1","data":{"a":"y","b":2,"day":"2024-02-29"}}
    {"deleted":4,"left":0}
    "Invalid(\"There is no field `user`. The fields are a, b, c, day.\")"
    "#);
}

#[tokio::test]
async fn tables_are_bounded_by_rights_and_report_database_errors() {
    let limited = |write: bool| {
        let mut limited = collection("shared", None);
        limited.source.as_mut().unwrap().write = write;
        limited
    };
    for data in databases(&TABLE.replace("a TEXT", "a TEXT UNIQUE")).await {
        let (writable, readable) = (limited(true), limited(false));
        let one = json!([{ "a": "x" }]);
        let records = data.records(&writable, &agent("ada")).unwrap();
        insert(&records, one.clone()).await.unwrap();
        let DataError::Invalid(message) = insert(&records, json!([{ "a": "z" }, { "a": "x" }])).await.unwrap_err()
        else {
            panic!("it is refused");
        };
        assert!(message.to_lowercase().contains("unique"), "{message}");
        let records = data.records(&readable, &agent("ada")).unwrap();
        assert_eq!(insert(&records, one.clone()).await, Err(DataError::ReadOnly));
        assert_eq!(query(&records, json!({})).await.unwrap()["total"], 1);
        // Shared records that no role may read are only for agents.
        let user = Viewer::from(&Caller::signed_in("ada"));
        assert_eq!(data.records(&writable, &user).err(), Some(DataError::NotFound));
        data.databases.replace(HashMap::new());
        assert_eq!(data.records(&writable, &agent("ada")).err(), Some(DataError::Unavailable));
    }
}
