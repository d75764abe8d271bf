//! Filters against an interpreter in memory, and the tools, on each database.

use crate::filter::{Filter, Test};
use crate::read::{self, Aggregate, AggregateOperator, Order};
use crate::records::Data;
use crate::section::{AgentData, Collection};
use crate::store::{PreparedRecord, RecordSet, TABLES, insert};
use crate::tools::tools;
use crate::value::{Scalar, values};
use ::store::{CapabilityTables, Schema, Store};
use capability::Quotes;
use contract::{CallReports, ModelUse, RunScope, Tool, ToolContext};
use endpoints::OpenDatabases;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Map, Value, json};
use std::cmp::Ordering;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

/// Opens each kind of database.
pub(crate) async fn databases() -> Vec<Store> {
    let mut stores = Vec::new();
    for url in test_postgres::databases_of_each_kind().await {
        stores.push(Schema::new(&ALL_TABLES).open(&url, "", Duration::ZERO).await.unwrap());
    }
    stores
}

fn set(collection: &str, owner: &str) -> RecordSet {
    RecordSet { collection: collection.to_owned(), owner: owner.to_owned() }
}

async fn fill(store: &Store, set: &RecordSet, records: &[Map<String, Value>]) {
    let prepared = records.iter().map(|record| PreparedRecord::new(record, None).unwrap()).collect();
    assert!(insert(store, set.clone(), prepared, 1_000).await.unwrap());
}

/// Returns records as texts, to compare them in any order.
pub(crate) fn sorted_texts(records: impl Iterator<Item = Value>) -> Vec<String> {
    let mut texts: Vec<_> = records.map(|record| record.to_string()).collect();
    texts.sort();
    texts
}

/// Evaluates a filter without a database, as the reference.
pub(crate) fn passes(filter: &Filter, record: &Map<String, Value>) -> bool {
    let scalars = |field: &String| {
        let all = values(record).unwrap();
        all.into_iter().filter(|value| value.field == *field).map(|value| value.scalar).collect::<Vec<_>>()
    };
    match filter {
        Filter::All(filters) => filters.iter().all(|filter| passes(filter, record)),
        Filter::Any(filters) => filters.iter().any(|filter| passes(filter, record)),
        Filter::Not(filter) => !passes(filter, record),
        Filter::Ids(_) => unreachable!(),
        Filter::Exists(field) => !scalars(field).is_empty(),
        Filter::Value(field, test) => scalars(field).iter().any(|scalar| holds(test, scalar)),
    }
}

fn holds(test: &Test, scalar: &Scalar) -> bool {
    let folded = scalar.text().map(str::to_lowercase);
    match test {
        Test::Equals(other) => compare(scalar, other) == Some(Ordering::Equal),
        Test::Greater(other) => compare(scalar, other) == Some(Ordering::Greater),
        Test::GreaterOrEqual(other) => compare(scalar, other).is_some_and(Ordering::is_ge),
        Test::Less(other) => compare(scalar, other) == Some(Ordering::Less),
        Test::LessOrEqual(other) => compare(scalar, other).is_some_and(Ordering::is_le),
        Test::Contains(text) => folded.is_some_and(|folded| folded.contains(text)),
        Test::StartsWith(text) => folded.is_some_and(|folded| folded.starts_with(text)),
    }
}

fn compare(one: &Scalar, other: &Scalar) -> Option<Ordering> {
    match (one, other) {
        (Scalar::Text(one), Scalar::Text(other)) => Some(one.as_bytes().cmp(other.as_bytes())),
        _ if one.kind() == other.kind() => one.number()?.partial_cmp(&other.number()?),
        _ => None,
    }
}

fn any_scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3..4_i64).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(-0.0), Just(1e300), Just(1e-9)].prop_map(Value::from),
        "[aAbä%_\\\\'ß🦀 ]{0,3}".prop_map(Value::from),
    ]
}

fn any_record() -> impl Strategy<Value = Map<String, Value>> {
    let value = prop_oneof![
        4 => any_scalar(),
        1 => prop::collection::vec(any_scalar(), 0..3).prop_map(Value::from),
        1 => any_scalar().prop_map(|value| json!({ "b": value })),
    ];
    prop::collection::btree_map("[abc]", value, 0..4).prop_map(|fields| fields.into_iter().collect())
}

/// Conditions that combine these.
pub(crate) fn any_combination(condition: impl Strategy<Value = Value> + 'static) -> impl Strategy<Value = Value> {
    condition.prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|any| json!({ "any": any })),
            prop::collection::vec(inner.clone(), 0..3).prop_map(|all| json!({ "all": all })),
            inner.prop_map(|not| json!({ "not": not })),
        ]
    })
}

fn any_condition() -> impl Strategy<Value = Value> {
    let op = prop::sample::select(vec!["eq", "ne", "gt", "gte", "lt", "lte", "in", "contains", "startsWith", "exists"]);
    let field = prop::sample::select(vec!["a", "b", "c", "a.b", "x"]);
    let value = prop_oneof![4 => any_scalar(), 1 => prop::collection::vec(any_scalar(), 0..3).prop_map(Value::from)];
    let compare = (field, op, value).prop_map(|(field, op, value)| json!({ "field": field, "op": op, "value": value }));
    any_combination(compare)
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_mean_the_same_in_memory_and_in_each_database() {
    let stores = databases().await;
    let mut runner = TestRunner::new(Config { cases: 150, failure_persistence: None, ..Config::default() });
    let cases = (prop::collection::vec(any_record(), 1..6), prop::collection::vec(any_condition(), 0..3));
    let mut number = 0;
    let (handle, stores) = (tokio::runtime::Handle::current(), &stores);
    let run = tokio::task::block_in_place(|| {
        let number = std::cell::RefCell::new(&mut number);
        runner.run(&cases, |(records, conditions)| {
            // Conditions that do not fit together are refused.
            let Ok(filter) = Filter::read(&conditions) else { return Ok(()) };
            **number.borrow_mut() += 1;
            let set = set(&format!("c{}", number.borrow()), "ada");
            let expected: Vec<_> = records.iter().filter(|record| passes(&filter, record)).cloned().collect();
            for store in stores {
                let found = handle.block_on(async {
                    fill(store, &set, &records).await;
                    read::list(store, &set, &filter, &[], (100, 0)).await.unwrap()
                });
                let found: Vec<_> = found.into_iter().map(|record| record.data).collect();
                let sorted = |records: Vec<_>| sorted_texts(records.into_iter().map(Value::Object));
                prop_assert_eq!(sorted(found), sorted(expected.clone()), "{:?} {:?}", conditions, records);
            }
            Ok(())
        })
    });
    run.unwrap();
    assert!(number > 50, "{number} filters were usable");
}

fn records(values: Value) -> Vec<Map<String, Value>> {
    serde_json::from_value(values).unwrap()
}

#[tokio::test]
async fn orders_sums_and_facets_are_the_same_in_each_database() {
    let (set, everything) = (set("things", "ada"), Filter::All(Vec::new()));
    let records = records(json!([
        { "name": "b", "kind": "x", "price": 2, "tags": ["red", "blue"] },
        { "name": "B", "kind": "x", "price": 0.1, "tags": ["red"] },
        { "name": "ä", "kind": "y", "price": 0.2 },
        { "name": null, "kind": "y", "price": "free" },
        { "kind": true, "price": 10 },
    ]));
    let mut seen = Vec::new();
    for store in databases().await {
        fill(&store, &set, &records).await;
        let list = async |field: &str, descending: bool| {
            let order = Order { field: field.to_owned(), descending };
            let found = read::list(&store, &set, &everything, &[order], (4, 1)).await.unwrap();
            found.into_iter().map(|record| record.data.get(field).cloned().unwrap_or_default()).collect::<Vec<_>>()
        };
        let sum = |op, field: Option<&str>| Aggregate { op, field: field.map(str::to_owned) };
        let aggregates = [
            sum(AggregateOperator::Count, None),
            sum(AggregateOperator::Sum, Some("price")),
            sum(AggregateOperator::Avg, Some("price")),
            sum(AggregateOperator::Max, Some("price")),
            sum(AggregateOperator::Count, Some("price")),
            sum(AggregateOperator::Count, Some("name")),
        ];
        let groups = ["kind".to_owned()];
        seen.push(json!([
            list("name", false).await,
            list("name", true).await,
            list("price", false).await,
            read::aggregate(&store, &set, &everything, &groups, (&aggregates, 10)).await.unwrap(),
            read::aggregate(&store, &set, &everything, &[], (&aggregates, 10)).await.unwrap(),
            json!(read::facets(&store, &set, &everything, "tags", 10).await.unwrap()),
            json!(read::facets(&store, &set, &everything, "kind", 1).await.unwrap()),
        ]));
    }
    assert!(seen.windows(2).all(|pair| pair[0] == pair[1]), "{seen:?}");
    let lines = seen[0].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
    insta::assert_snapshot!(lines, @r#"
    ["b","ä",null,null]
    ["b","B",null,null]
    [0.2,2,10,"free"]
    [{"count":2,"group":{"kind":"x"},"sum(price)":2.1,"avg(price)":1.05,"max(price)":2,"count(price)":2,"count(name)":2},{"count":2,"group":{"kind":"y"},"sum(price)":0.2,"avg(price)":0.2,"max(price)":0.2,"count(price)":2,"count(name)":1},{"count":1,"group":{"kind":true},"sum(price)":10,"avg(price)":10,"max(price)":10,"count(price)":1,"count(name)":0}]
    [{"count":5,"sum(price)":12.3,"avg(price)":3.075,"max(price)":10,"count(price)":5,"count(name)":3}]
    [{"value":"red","count":2},{"value":"blue","count":1}]
    [{"value":"x","count":2}]
    "#);
}

/// The tools of an agent over two collections, which may delete without asking.
fn agent(store: &Store) -> Vec<Arc<dyn Tool>> {
    let schema = json!({
        "type": "object",
        "properties": { "title": { "type": "string" }, "done": { "type": "boolean" }, "hours": { "type": "number" } },
        "required": ["title"],
        "additionalProperties": false,
    });
    let collections = json!([
        { "id": "todos", "schema": schema, "maxRecords": 3 },
        { "id": "board", "schema": schema, "records": "shared" },
    ]);
    let collections: Vec<Collection> = serde_json::from_value(collections).unwrap();
    let section: AgentData =
        serde_json::from_value(json!({ "collections": ["todos", "board"], "write": true })).unwrap();
    tools(&data(store), "helper", &collections, &section, false)
}

/// Returns the records of a database, without documents.
pub(crate) fn data(store: &Store) -> Data {
    Data { store: store.clone(), databases: OpenDatabases::default(), quotes: Quotes::default() }
}

pub(crate) async fn call(tools: &[Arc<dyn Tool>], user: &str, name: &str, input: Value) -> Result<Value, String> {
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    let context = ToolContext {
        call_id: "call".to_owned(),
        scope: Arc::new(RunScope { user_id: user.to_owned(), ..RunScope::default() }),
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
        may_repeat: false,
        models: ModelUse::default(),
    };
    tool.call(input, context).await.map_err(|error| error.message)
}

#[tokio::test]
async fn users_see_their_own_records_and_shared_ones() {
    for store in databases().await {
        let tools = agent(&store);
        let call = async |user: &str, name: &str, input: Value| call(&tools, user, name, input).await;
        let todo = |title: &str| json!({ "title": title, "hours": 1 });
        let add = |collection: &str, records: &[Value]| json!({ "collection": collection, "records": records });
        let added = call("ada", "insert_records", add("todos", &[todo("a"), todo("b")])).await.unwrap();
        call("ada", "insert_records", add("board", &[todo("c")])).await.unwrap();
        let count = async |user: &str, collection: &str| {
            call(user, "query_data", json!({ "collection": collection })).await.unwrap()["total"].clone()
        };
        assert_eq!((count("ada", "todos").await, count("bob", "todos").await), (json!(2), json!(0)));
        assert_eq!((count("ada", "board").await, count("bob", "board").await), (json!(1), json!(1)));
        // Another user's ids mean nothing.
        let foreign = json!({ "collection": "todos", "ids": added["ids"] });
        assert_eq!(call("bob", "delete_records", foreign.clone()).await, Ok(json!({ "deleted": 0, "left": 0 })));
        let full = call("ada", "insert_records", add("todos", &[todo("d"), todo("e")])).await;
        assert_eq!(full, Err("A collection has at most 3 records, so none was added.".to_owned()));
        let update = json!({ "collection": "todos", "where": [{ "field": "title", "op": "eq", "value": "a" }], "set": { "done": true, "hours": null } });
        assert_eq!(call("ada", "update_records", update).await, Ok(json!({ "updated": 1 })));
        let done = json!({ "collection": "todos", "where": [{ "field": "done", "op": "eq", "value": true }], "select": ["title", "done"] });
        let done = call("ada", "query_data", done).await.unwrap();
        assert_eq!(done["records"][0]["data"], json!({ "title": "a", "done": true }));
        assert_eq!(call("ada", "delete_records", foreign).await, Ok(json!({ "deleted": 2, "left": 0 })));
        store.close().await;
    }
}

#[tokio::test]
async fn mistakes_of_a_model_are_explained_and_change_nothing() {
    let store = databases().await.remove(0);
    let tools = agent(&store);
    let check = async |name: &str, input: Value, expected: &str| {
        let error = call(&tools, "ada", name, input).await.unwrap_err();
        assert!(error.contains(expected), "{error}");
    };
    let filter = |condition: Value| json!({ "collection": "todos", "where": [condition] });
    check("delete_records", json!({ "collection": "todos" }), "Name the records").await;
    check(
        "insert_records",
        json!({ "collection": "todos", "records": [{ "title": "a" }, { "titel": "b" }] }),
        "Record 1: ",
    )
    .await;
    check("insert_records", json!({ "collection": "todos", "records": [{ "title": "a\0" }] }), "NUL").await;
    check("query_data", json!({ "collection": "others" }), "There is no such collection.").await;
    check("query_data", filter(json!("1 = 1")), "A condition is").await;
    check("query_data", filter(json!({ "field": "a", "op": "like", "value": "x" })), "A condition is").await;
    check("query_data", filter(json!({ "field": "title", "op": "gt", "value": true })), "have no order").await;
    check("query_data", filter(json!({ "field": "title", "op": "contains", "value": 1 })), "needs a text").await;
    check("query_data", filter(json!({ "field": "title", "op": "eq", "value": { "b": 1 } })), "no single value").await;
    for limit in [0, 101] {
        check("query_data", json!({ "collection": "todos", "limit": limit }), "`limit` is 1 to 100.").await;
    }
    let unknown = "There is no field `amount`. The fields are title, done, hours.";
    check("query_data", filter(json!({ "not": { "field": "amount", "op": "gt", "value": 1 } })), unknown).await;
    check("query_data", json!({ "collection": "todos", "orderBy": [{ "field": "amount" }] }), unknown).await;
    check("query_data", json!({ "collection": "todos", "select": ["amount"] }), unknown).await;
    let sum = json!([{ "op": "sum", "field": "amount" }]);
    check("aggregate_data", json!({ "collection": "todos", "aggregate": sum }), unknown).await;
    let count = json!([{ "op": "count" }]);
    let grouped = json!({ "collection": "todos", "aggregate": count, "groupBy": ["amount"] });
    check("aggregate_data", grouped, unknown).await;
    check("get_facets", json!({ "collection": "todos", "fields": ["amount"] }), unknown).await;
    let set = json!({ "collection": "todos", "ids": ["x"], "set": { "amount": 1 } });
    check("update_records", set, unknown).await;
    check("delete_records", filter(json!({ "field": "amount", "op": "exists" })), unknown).await;
    let mut deep = json!({ "field": "title", "op": "exists" });
    for _ in 0..5 {
        deep = json!({ "not": deep });
    }
    check("query_data", filter(deep), "at most 4 levels").await;
    assert_eq!(call(&tools, "ada", "query_data", json!({ "collection": "todos" })).await.unwrap()["total"], 0);
    let spec = |name: &str| tools.iter().find(|tool| tool.spec().name == name).unwrap().spec();
    assert!(spec("delete_records").needs_approval && !spec("update_records").needs_approval);
    assert!(spec("query_data").annotations.reads_private && spec("query_data").annotations.returns_untrusted);
    let own: Collection = serde_json::from_value(json!({ "id": "own", "schema": { "type": "object" } })).unwrap();
    let section: AgentData = serde_json::from_value(json!({ "collections": ["own"] })).unwrap();
    for from_documents in [true, false] {
        let tools = crate::tools::tools(&data(&store), "reader", std::slice::from_ref(&own), &section, from_documents);
        assert_eq!(tools[0].spec().annotations.returns_untrusted, from_documents);
    }
}
