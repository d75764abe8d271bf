//! Records from documents, on each database.

use crate::records::Data;
use crate::section::{AgentData, Collection};
use crate::tests::{call, data, databases};
use crate::tools::tools;
use ::store::Store;
use capability::{FindQuotes, QuotedDocument};
use contract::{RunScope, Tool, ToolError};
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::sync::Arc;

/// Documents of one page each, for Ada.
struct Pages(&'static [(&'static str, &'static str)]);

impl FindQuotes for Pages {
    fn find<'a>(
        &'a self,
        agent_id: &'a str,
        scope: &'a RunScope,
        document_id: &'a str,
        quotes: &'a [String],
    ) -> BoxFuture<'a, Result<QuotedDocument, ToolError>> {
        assert_eq!(agent_id, "extractor");
        let found = self.0.iter().find(|(id, _)| *id == document_id && scope.user_id == "ada");
        let found = found.map(|(id, text)| {
            let place = |quote: &String| text.contains(quote.as_str()).then(|| "page 1".to_owned());
            QuotedDocument { file_name: format!("{id}.pdf"), places: quotes.iter().map(place).collect() }
        });
        Box::pin(std::future::ready(found.ok_or_else(|| ToolError::new("There is no such document."))))
    }
}

const PAGES: Pages =
    Pages(&[("d1", "Invoice 7 of ACME Ltd, Paris. Total: EUR 12.50."), ("d2", "Paid on 3 March 2026 by transfer.")]);

fn agent(store: &Store) -> Vec<Arc<dyn Tool>> {
    let schema = json!({
        "type": "object",
        "properties": {
            "number": { "type": "integer" },
            "supplier": { "type": "object", "properties": { "name": { "type": "string" }, "city": { "type": "string" } } },
            "total": { "type": "number" },
            "paid": { "type": ["string", "null"] },
        },
        "required": ["number"],
        "additionalProperties": false,
    });
    let collection: Collection = serde_json::from_value(json!({ "id": "invoices", "schema": schema })).unwrap();
    let section = json!({ "collections": ["invoices"], "write": true, "sources": true, "confirmChanges": true });
    let section: AgentData = serde_json::from_value(section).unwrap();
    let data = data(store);
    data.quotes.provide(Arc::new(PAGES));
    tools(&data, "extractor", &[collection], &section, true)
}

fn insertion(records: Value) -> Value {
    json!({ "collection": "invoices", "records": records })
}

#[tokio::test]
async fn values_are_stored_with_the_documents_that_say_them() {
    for store in databases().await {
        let tools = agent(&store);
        let record = json!({
            "data": { "number": 7, "supplier": { "name": "ACME Ltd", "city": "Paris" }, "total": 12.5, "paid": "2026-03-03" },
            "sources": [
                { "documentId": "d1", "quotes": { "number": "Invoice 7", "supplier": "ACME Ltd, Paris", "total": " EUR 12.50 " } },
                { "documentId": "d2", "quotes": { "paid": "Paid on 3 March 2026" } },
            ],
        });
        let added = call(&tools, "ada", "insert_records", insertion(json!([record]))).await.unwrap();
        assert_eq!((added["ids"].as_array().unwrap().len(), added.get("rejected")), (1, None));
        let query = json!({ "collection": "invoices", "sources": true, "select": ["number"] });
        let found = call(&tools, "ada", "query_data", query).await.unwrap();
        let source = |field: &str, document: &str, quote: &str| json!({ "field": field, "documentId": document, "fileName": format!("{document}.pdf"), "place": "page 1", "quote": quote });
        let expected = json!([
            source("number", "d1", "Invoice 7"),
            source("paid", "d2", "Paid on 3 March 2026"),
            source("supplier", "d1", "ACME Ltd, Paris"),
            source("total", "d1", "EUR 12.50"),
        ]);
        assert_eq!(
            (&found["records"][0]["data"], &found["records"][0]["sources"]),
            (&json!({ "number": 7 }), &expected)
        );
        let found = call(&tools, "ada", "query_data", json!({ "collection": "invoices" })).await.unwrap();
        assert_eq!(found["records"][0].get("sources"), None);

        // A new value has no source, and a deleted record leaves none.
        let id = added["ids"][0].as_str().unwrap();
        let records = Records::of(&store);
        records.update(id, json!({ "supplier": { "name": "Other" }, "paid": null })).await;
        assert_eq!(records.sourced_fields(id).await, ["number", "total"]);
        call(&tools, "ada", "delete_records", json!({ "collection": "invoices", "ids": [id] })).await.unwrap();
        assert!(super::for_records(&store, vec![id.to_owned()]).await.unwrap().is_empty());
        store.close().await;
    }
}

/// The collection as a program sees it that may write.
struct Records {
    data: Data,
    collection: Collection,
}

impl Records {
    fn of(store: &Store) -> Self {
        let collection = json!({ "id": "invoices", "schema": { "type": "object" } });
        Self { data: data(store), collection: serde_json::from_value(collection).unwrap() }
    }

    fn seen(&self) -> crate::records::Records<'_> {
        let scope = RunScope { user_id: "ada".to_owned(), ..RunScope::default() };
        self.data.records(&self.collection, &chat::Viewer::from(&scope)).unwrap()
    }

    async fn update(&self, id: &str, set: Value) {
        let update = serde_json::from_value(json!({ "ids": [id], "set": set })).unwrap();
        self.seen().update(update).await.unwrap();
    }

    async fn sourced_fields(&self, id: &str) -> Vec<String> {
        let record = self.seen().record(id.to_owned()).await.unwrap();
        record.sources.into_iter().map(|source| source.field).collect()
    }
}

#[tokio::test]
async fn records_without_proof_are_rejected_and_the_others_are_stored() {
    for store in databases().await {
        let tools = agent(&store);
        let add = async |user: &str, records: Value| call(&tools, user, "insert_records", insertion(records)).await;
        let good = json!({ "data": { "number": 7 }, "sources": [{ "documentId": "d1", "quotes": { "number": "Invoice 7" } }] });
        let check = async |user: &str, data: Value, document: &str, quotes: Value, expected: &[&str]| {
            let bad = json!({ "data": data, "sources": [{ "documentId": document, "quotes": quotes }] });
            let outcome = add(user, json!([bad])).await.unwrap();
            assert_eq!(outcome["ids"], json!([]));
            assert_eq!(outcome["rejected"], json!([{ "record": 0, "problems": expected }]));
        };
        let misquoted = json!({ "number": "Invoice 8" });
        check("ada", json!({ "number": 8 }), "d1", misquoted, &["`number`: d1.pdf does not have this quote."]).await;
        let quote = json!({ "number": "Invoice 7" });
        check("ada", json!({ "number": 7, "total": 1, "paid": null }), "d1", quote.clone(), &["`total` has no quote."])
            .await;
        check("ada", json!({ "number": 7 }), "d9", quote.clone(), &["`number`: There is no such document."]).await;
        check("bob", json!({ "number": 7 }), "d1", quote, &["`number`: There is no such document."]).await;
        let short = "`number`: a quote has 4 to 300 characters; quote the words around a value.";
        check("ada", json!({ "number": 7 }), "d1", json!({ "number": " 7 " }), &[short]).await;
        let more = json!({ "number": "Invoice 7", "num": "Invoice" });
        check("ada", json!({ "number": 7 }), "d1", more, &["`num` has a quote, but no value."]).await;
        let text = json!({ "number": "Invoice 7" });
        check("ada", json!({ "number": "7" }), "d1", text, &["/number \"7\" is not of type \"integer\""]).await;

        let twice = json!({ "documentId": "d1", "quotes": { "number": "Invoice 7" } });
        let twice = json!([{ "data": { "number": 7 }, "sources": [twice, twice] }]);
        let problems = json!(["`number` has two quotes of one document; keep one of them."]);
        assert_eq!(add("ada", twice).await.unwrap()["rejected"][0]["problems"], problems);

        let many: Vec<_> = (0..21)
            .map(|id| json!({ "data": { "number": id }, "sources": [{ "documentId": id.to_string(), "quotes": { "number": "Invoice" } }] }))
            .collect();
        let error = add("ada", json!(many)).await.unwrap_err();
        assert!(error.contains("more than 20 documents"), "{error}");

        let outcome = add("ada", json!([{ "data": { "total": 1 }, "sources": [] }, good])).await.unwrap();
        assert_eq!(outcome["ids"].as_array().unwrap().len(), 1);
        assert_eq!(outcome["rejected"][0]["record"], 0);
        store.close().await;
    }
}

#[tokio::test]
async fn agents_that_quote_documents_have_no_updates_and_ask_as_others_do() {
    let tools = agent(&databases().await[0]);
    let names: Vec<_> = tools.iter().map(|tool| tool.spec().name.as_str()).collect();
    assert_eq!(names, ["query_data", "aggregate_data", "get_facets", "insert_records", "delete_records"]);
    assert!(tools[3].spec().needs_approval && tools[0].spec().annotations.returns_untrusted);
    // Its result says what documents have.
    assert!(tools[3].spec().annotations.reads_private && tools[3].spec().annotations.returns_untrusted);
}
