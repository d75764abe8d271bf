//! Tests of the documents of libraries, as resources of the protocol.

use super::{SECTION, answer, capabilities, message, start};
use crate::process::Server;
use crate::provider::start_provider;
use crate::sign_in::callers::TokenIssuer;
use insta::assert_json_snapshot;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use std::time::Duration;

/// A library for all, and one for editors.
const LIBRARIES: &str = "
libraries:
  - { id: handbook, title: Handbook, documents: [{ name: pump.md, text: The pump runs at night. }] }
  - { id: board, readers: [editor], documents: [{ name: sale.txt, text: The pump will be sold. }] }
";

fn sections() -> String {
    format!("{}{LIBRARIES}", SECTION.replace("agents:", "documents: true, agents:"))
}

fn request(server: &Server, method: &str, params: Value) -> RequestBuilder {
    message(server, &json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
}

fn list(server: &Server) -> RequestBuilder {
    request(server, "resources/list", json!({}))
}

fn read(server: &Server, uri: &str) -> RequestBuilder {
    request(server, "resources/read", json!({ "uri": uri }))
}

/// Waits until a list has so many resources; returns it.
async fn resources(list: impl Fn() -> RequestBuilder, count: usize) -> Vec<Value> {
    for _ in 0..600 {
        let answer = answer(list()).await;
        let found = answer["resources"].as_array().unwrap_or_else(|| panic!("{answer}"));
        if found.len() == count {
            return found.clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the documents are not read");
}

fn names(resources: &[Value]) -> Vec<&str> {
    resources.iter().map(|resource| resource["name"].as_str().unwrap()).collect()
}

fn uri(resource: &Value) -> &str {
    resource["uri"].as_str().unwrap()
}

/// Adds a document to a library; returns its id.
async fn add(request: RequestBuilder, name: &str, text: &str) -> String {
    let disposition = format!("content-disposition: form-data; name=\"file\"; filename=\"{name}\"");
    let request = request.body(format!("--part\r\n{disposition}\r\n\r\n{text}\r\n--part--\r\n"));
    let sent = request.header("content-type", "multipart/form-data; boundary=part").send().await.unwrap();
    let added: Value = sent.json().await.unwrap();
    added["documents"][0]["id"].as_str().unwrap_or_else(|| panic!("{name} {added}")).to_owned()
}

async fn new_library(request: RequestBuilder) -> String {
    let made: Value = request.json(&json!({ "name": "Own" })).send().await.unwrap().json().await.unwrap();
    made["id"].as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_listed_and_read() {
    let (server, _folder) = start(&start_provider().await, &sections());
    assert_eq!(capabilities(&server, None).await, json!({ "resources": {}, "tools": {} }));
    let mut found = resources(|| list(&server), 2).await;
    // Ids differ from run to run.
    let pump = uri(&found[1]).to_owned();
    found[1]["uri"] = pump.replace(pump.rsplit('/').next().unwrap(), "ID").into();
    assert_json_snapshot!(found[1], @r#"
    {
      "uri": "chatwright://libraries/handbook/documents/ID",
      "name": "pump.md",
      "description": "The text of a document of the library Handbook.",
      "mimeType": "text/markdown"
    }
    "#);
    assert_json_snapshot!(answer(request(&server, "resources/templates/list", json!({}))).await, @r#"
    {
      "resourceTemplates": [
        {
          "uriTemplate": "chatwright://libraries/{library}/documents/{document}{?part,offset}",
          "name": "document",
          "title": "Text of a document",
          "description": "The text that was read from a document. A long one is cut; its end names the address with which it continues."
        },
        {
          "uriTemplate": "chatwright://libraries/{library}/documents/{document}/file",
          "name": "file",
          "title": "File of a document",
          "description": "The file of a document as it was added, up to 4 MB."
        }
      ]
    }
    "#);
    let read_text = answer(read(&server, &pump)).await;
    let text = "The pump runs at night.";
    assert_eq!(read_text, json!({ "contents": [{ "uri": pump, "mimeType": "text/markdown", "text": text }] }));
    let file = format!("{pump}/file");
    let read_file = answer(read(&server, &file)).await;
    let blob = "VGhlIHB1bXAgcnVucyBhdCBuaWdodC4=";
    assert_eq!(read_file, json!({ "contents": [{ "uri": file, "mimeType": "text/markdown", "blob": blob }] }));
    for unknown in [format!("{pump}?part=2"), pump.replace("handbook", "board"), format!("{pump}0")] {
        let message = "There is no resource with this address.";
        let expected = json!({ "code": -32002, "message": message, "data": { "uri": unknown } });
        assert_eq!(answer(read(&server, &unknown)).await, expected);
    }
    let wrong = answer(request(&server, "resources/list", json!({ "cursor": "2" }))).await;
    assert_eq!(wrong, json!({ "code": -32602, "message": "This cursor is not one of this list." }));
}

/// A long text comes in pages, and a large file not at all.
#[tokio::test(flavor = "multi_thread")]
async fn long_documents_are_cut() {
    let section = SECTION.replace("agents:", "documents: true, agents:");
    let (server, _folder) = start(&start_provider().await, &section);
    let library = new_library(server.request(Method::POST, "/api/libraries")).await;
    let section = |number: u32| format!("# Section {number}\n\n{}", "The pump runs at night. ".repeat(500));
    let text: String = (0..30).map(|number| section(number) + "\n\n").collect();
    let path = format!("/api/libraries/{library}/documents");
    add(server.request(Method::POST, &path), "long.md", &text).await;
    let uri = uri(&resources(|| list(&server), 1).await[0]).to_owned();
    let text_of = async |uri: &str| {
        let read = answer(read(&server, uri)).await;
        read["contents"][0]["text"].as_str().unwrap_or_else(|| panic!("{read}")).to_owned()
    };
    let first = text_of(&uri).await;
    let end = format!("[The text is cut off here. It continues in the resource {uri}?part=22]");
    assert!(first.ends_with(&end) && first.contains("# Section 20\n") && !first.contains("# Section 21\n"), "{end}");
    let second = text_of(&format!("{uri}?part=22")).await;
    assert!(second.starts_with("# Section 21\n") && second.ends_with("at night."), "{second}");
    // Its text does not matter.
    let id = add(server.request(Method::POST, &path), "large.bin", &" ".repeat(4 * 1024 * 1024 + 1)).await;
    let large = format!("chatwright://libraries/{library}/documents/{id}");
    let refused = answer(read(&server, &format!("{large}/file"))).await;
    let message = format!(
        "This file has more than 4 MB. Read its text, {large}, or download it from {}/api/documents/{id}/file",
        server.origin
    );
    assert_eq!(refused, json!({ "code": -32602, "message": message }));
}

/// A document that a caller may not read does not exist for them.
#[tokio::test(flavor = "multi_thread")]
async fn documents_follow_the_rights_of_the_caller() {
    let issuer = TokenIssuer::new();
    let rest = format!("auth: {}\n{}", issuer.auth_config(), sections());
    let (server, _folder) = start(&start_provider().await, &rest);
    let reader = issuer.token_with_roles(("eve", &["reader"]), "chat", 60);
    let editor = issuer.token_with_roles(("ada", &["editor"]), "chat", 60);
    let library = new_library(server.request(Method::POST, "/api/libraries").bearer_auth(&editor)).await;
    let path = format!("/api/libraries/{library}/documents");
    add(server.request(Method::POST, &path).bearer_auth(&editor), "own.txt", "Of Ada.").await;
    let of_editor = resources(|| list(&server).bearer_auth(&editor), 3).await;
    let mut all = names(&of_editor);
    all.sort_unstable();
    assert_eq!(all, ["own.txt", "pump.md", "sale.txt"]);
    let of_reader = resources(|| list(&server).bearer_auth(&reader), 1).await;
    assert_eq!(names(&of_reader), ["pump.md"]);
    let got = async |uri: &str, token: &str| answer(read(&server, uri).bearer_auth(token)).await;
    for resource in &of_editor {
        let (text, file) = (uri(resource).to_owned(), format!("{}/file", uri(resource)));
        for address in [&text, &file] {
            assert!(got(address, &editor).await["contents"].is_array(), "{address}");
            let is_open = resource["name"] == "pump.md";
            let for_reader = got(address, &reader).await;
            assert_eq!(for_reader["contents"].is_array(), is_open, "{for_reader}");
            assert_eq!(for_reader["code"] == -32002, !is_open, "{for_reader}");
        }
    }
}

/// Documents are resources where they are tools, and only for keys that may read libraries.
#[tokio::test(flavor = "multi_thread")]
async fn config_and_keys_say_whether_documents_are_resources() {
    let (server, _folder) = start(&start_provider().await, &sections());
    let found = resources(|| list(&server), 2).await;
    let without = server.api_key(&["agents", "conversations"]).await;
    assert_eq!(capabilities(&server, Some(&without)).await, json!({ "tools": {} }));
    let listed = answer(list(&server).bearer_auth(&without)).await;
    assert_eq!(listed["resources"], json!([]));
    let templates = answer(request(&server, "resources/templates/list", json!({})).bearer_auth(&without)).await;
    assert_eq!(templates["resourceTemplates"], json!([]));
    assert_eq!(answer(read(&server, uri(&found[0])).bearer_auth(&without)).await["code"], -32002);
    let with = server.api_key(&["agents", "endpoints"]).await;
    assert_eq!(capabilities(&server, Some(&with)).await, json!({ "resources": {}, "tools": {} }));
    assert_eq!(answer(list(&server).bearer_auth(&with)).await["resources"].as_array().unwrap().len(), 2);

    let (server, _folder) = start(&start_provider().await, &format!("{SECTION}{LIBRARIES}"));
    assert_eq!(capabilities(&server, None).await, json!({ "tools": {} }));
    assert_eq!(answer(list(&server)).await["resources"], json!([]));
}
