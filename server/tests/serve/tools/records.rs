//! Records from documents: from the config to the source of a value over the API.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

fn config(provider: &str) -> String {
    format!(
        "
connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: '{provider}' }} }}]
libraries:
  - id: invoices
    documents: [{{ name: acme.md, text: 'ACME Ltd, invoice no. 7. Amount due: EUR 12.50' }}]
data:
  - id: payables
    readers: [staff]
    schema:
      type: object
      properties: {{ number: {{ type: integer }}, total: {{ type: number }} }}
      required: [number]
agents:
  - id: extractor
    type: Agent
    preset: record-extractor
    connectionId: model
    properties: {{ model: m }}
    knowledge: {{ libraries: [invoices], list: true }}
    data: {{ collections: [payables], write: true, sources: true, confirmChanges: true }}
pages: [{{ id: p }}]
"
    )
}

/// Sends a message that calls a tool; returns the result, or `None` if the user is asked first.
async fn call(server: &Server, conversation: &str, text: &str) -> Option<Value> {
    let received = chunks(server.message_to("p/extractor", conversation, text).send().await.unwrap()).await;
    let result = received.iter().find(|chunk| chunk["type"] == "tool-output-available");
    result.map(|chunk| chunk["output"].clone())
}

/// Approves the open call; returns its result.
async fn approve(server: &Server, conversation: &str) -> Value {
    let mut message = server.conversation(conversation).await["messages"].as_array().unwrap().last().unwrap().clone();
    let parts = message["parts"].as_array_mut().unwrap();
    let part = parts.iter_mut().find(|part| part["state"] == "approval-requested").unwrap();
    part["state"] = "approval-responded".into();
    part["approval"]["approved"] = true.into();
    let path = format!("/api/agent/p/extractor?conversationId={conversation}");
    let body = json!({ "id": conversation, "messages": [message] });
    let received = chunks(server.request(Method::POST, &path).json(&body).send().await.unwrap()).await;
    let result = received.iter().find(|chunk| chunk["type"] == "tool-output-available");
    result.unwrap_or_else(|| panic!("{received:?}"))["output"].clone()
}

/// Waits until the document of the config can be read; returns its id.
async fn document(server: &Server) -> String {
    for attempt in 0..600 {
        let listed = call(server, &format!("list-{attempt}"), "document_list {}").await.unwrap();
        match &listed["documents"][0] {
            document if document["passages"] == 1 => return document["documentId"].as_str().unwrap().to_owned(),
            _ => tokio::time::sleep(std::time::Duration::from_millis(100)).await,
        }
    }
    panic!("the document is not read");
}

#[tokio::test]
async fn approved_records_are_stored_with_quotes_that_the_document_has() {
    let (folder, provider) = (TempDir::new().unwrap(), start_provider().await);
    fs::write(folder.path().join("chatwright.yaml"), config(&provider)).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let document = document(&server).await;
    let record = |number: i64, quote: &str| json!({ "data": { "number": number }, "sources": [{ "documentId": document, "quotes": { "number": quote } }] });
    let records =
        json!({ "collection": "payables", "records": [record(7, "Invoice  no. 7"), record(8, "invoice no. 8")] });
    assert_eq!(call(&server, "c", &format!("insert_records {records}")).await, None);
    let outcome = approve(&server, "c").await;
    let problems = json!([{ "record": 1, "problems": ["`number`: acme.md does not have this quote."] }]);
    assert_eq!((outcome["ids"].as_array().map(Vec::len), &outcome["rejected"]), (Some(1), &problems));

    let found = call(&server, "c", r#"query_data {"collection":"payables","sources":true}"#).await.unwrap();
    assert_eq!(found["total"], 1);
    let source = &found["records"][0]["sources"][0];
    let expected = json!({ "field": "number", "documentId": document, "fileName": "acme.md", "place": "line 1", "quote": "Invoice  no. 7" });
    assert_eq!(*source, expected);
}
