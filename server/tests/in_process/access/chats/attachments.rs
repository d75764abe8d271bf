//! Documents that users attach: agents search them, and nobody else sees them.

use super::files::upload;
use crate::access::capabilities::knowledge::{Site, citation};
use crate::access::{TestRequest, caller, get, message, post};
use axum::http::Method;
use chat::Caller;
use serde_json::{Value, json};
use tempfile::TempDir;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
libraries: [{ id: bread, documents: [{ name: bread.md, text: 'The cooks make bread beside the pumps.' }] }]
agents:
  - id: reader
    type: Agent
    connectionId: demo
    knowledge: { attachments: true }
    auth: public
    properties: { model: demo }
  - id: both
    type: Agent
    connectionId: demo
    knowledge: { libraries: [bread], documents: optOut, attachments: true }
    auth: public
    properties: { model: demo }
pages: [{ id: home, auth: public }]
";

/// A text whose end the model does not read.
fn long_text() -> Vec<u8> {
    let filler = "The cellar is dry, and its door is green.\n\n".repeat(500);
    format!("# House\n\n{filler}\n\n# Pumps\n\nThe pumps run from 22:00 to 6:00.\n").into_bytes()
}

async fn serve(folder: &TempDir) -> Site {
    let path = folder.path().join("chatwright.yaml");
    std::fs::write(&path, CONFIG).unwrap();
    Site::serve(&path, &[("bread", 1)]).await
}

/// Uploads a file; returns its part of a message.
async fn attached(site: &Site, who: &Caller, name: &str, bytes: Vec<u8>) -> Value {
    let (status, file) = upload(&site.routes, who, name, bytes).await;
    assert_eq!(status, 201, "{file}");
    json!({ "type": "file", "mediaType": file["mediaType"], "filename": name, "url": file["url"] })
}

/// Asks about the pumps; returns the answer.
async fn asked(site: &Site, who: &Caller, agent: &str, conversation: &str, files: &[Value], chosen: Value) -> Value {
    let mut message = message("Tell me about the pumps");
    message["parts"].as_array_mut().unwrap().extend(files.iter().cloned());
    let mut body = json!({ "id": "chat", "messages": [message] });
    body.as_object_mut().unwrap().extend(chosen.as_object().unwrap().clone());
    let path = format!("/api/agent/home/{agent}?conversationId={conversation}");
    let (status, answer) = site.call_as(who, post(path, body)).await;
    assert_eq!(status, 200, "{answer}");
    let (_, view) = site.call_as(who, get(format!("/api/conversations/{conversation}"))).await;
    view["messages"].as_array().unwrap().last().unwrap().clone()
}

/// Returns the files that were found, each once.
fn found(message: &Value) -> Vec<&str> {
    let parts = message["parts"].as_array().unwrap().iter();
    let results = parts.filter_map(|part| part["output"]["results"].as_array()).flatten();
    let mut files: Vec<_> = results.map(|result| result["file"].as_str().unwrap()).collect();
    files.sort_unstable();
    files.dedup();
    files
}

fn delete(path: String) -> TestRequest {
    TestRequest { method: Method::DELETE, path, body: None }
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_documents_are_searched_in_their_conversation() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder).await;
    for who in [caller(("ada", true, &[])), caller(("visitor", false, &[]))] {
        let conversation = |name: &str| format!("{name}-{}", who.user_id);
        let ask = async |agent: &str, name: &str, files: &[Value], chosen: Value| {
            asked(&site, &who, agent, &conversation(name), files, chosen).await
        };
        let file = attached(&site, &who, "house.md", long_text()).await;
        let message = ask("reader", "first", std::slice::from_ref(&file), json!({})).await;
        let cited = citation(&message);
        assert!(cited["citedText"].as_str().unwrap().contains("22:00"), "{cited}");
        // It stays attached, and nothing is found where it is not.
        assert_eq!(found(&ask("reader", "first", &[], json!({})).await), ["house.md"]);
        assert!(found(&ask("reader", "second", &[], json!({})).await).is_empty());
        // The switch concerns libraries.
        let file = [attached(&site, &who, "house.md", long_text()).await];
        assert_eq!(found(&ask("both", "third", &file, json!({})).await), ["bread.md", "house.md"]);
        assert_eq!(found(&ask("both", "third", &[], json!({ "documents": false })).await), ["house.md"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn attached_documents_belong_to_their_conversation() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder).await;
    let [ada, bob] = [("ada", true, &["admin"][..]), ("bob", true, &["admin"])].map(caller);
    let file = [attached(&site, &ada, "house.md", long_text()).await];
    let source = citation(&asked(&site, &ada, "reader", "c", &file, json!({})).await)["source"].clone();
    let path = format!("/api/documents/{}", source["id"].as_str().unwrap());
    let (status, document) = site.call_as(&ada, get(path.clone())).await;
    assert_eq!(status, 200, "{document}");
    let library = format!("/api/libraries/{}", document["libraryId"].as_str().unwrap());
    let search = || post(format!("{library}/search"), json!({ "query": "pumps" }));
    let check = async |who: &Caller, request: TestRequest, expected: u16| {
        let path = format!("{} {} {}", who.user_id, request.method, request.path);
        assert_eq!(site.call_as(who, request).await.0, expected, "{path}");
    };
    for (who, read, write) in [(&ada, 200, 403), (&bob, 404, 404)] {
        check(who, get(path.clone()), read).await;
        check(who, get(format!("{path}/text?conversationId=c")), read).await;
        check(who, search(), read).await;
        // It is no library that anybody manages.
        check(who, delete(path.clone()), write).await;
        check(who, delete(library.clone()), write).await;
        let (_, list) = site.call_as(who, get("/api/libraries".to_owned())).await;
        let ids: Vec<_> = list["items"].as_array().unwrap().iter().map(|item| &item["id"]).collect();
        assert_eq!(ids, ["bread"]);
    }
    check(&ada, delete("/api/conversations/c".to_owned()), 204).await;
    check(&ada, get(path), 404).await;
    check(&ada, search(), 404).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_agent_is_told_what_cannot_be_searched() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder).await;
    let ada = caller(("ada", true, &[]));
    let files = [
        attached(&site, &ada, "house.md", long_text()).await,
        attached(&site, &ada, "house.bin", vec![0, 159, 146, 150]).await,
    ];
    let message = asked(&site, &ada, "reader", "c", &files, json!({})).await;
    let parts = message["parts"].as_array().unwrap();
    let mut outputs = parts.iter().filter_map(|part| part.get("output"));
    let unread = &outputs.next().unwrap_or_else(|| panic!("{message}"))["notSearched"];
    assert_eq!(unread.as_array().map(Vec::len), Some(1), "{unread}");
    assert_eq!(unread[0]["file"], "house.bin");
    assert!(unread[0]["reason"].as_str().unwrap().starts_with("“house.bin” could not be read"), "{unread}");
}
