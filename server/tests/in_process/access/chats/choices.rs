//! The user's choices for an answer: whether documents and the web are used, and which libraries.

use crate::access::capabilities::knowledge::Site;
use crate::access::{TestRequest, caller, get, message, post};
use chat::Caller;
use serde_json::{Value, json};
use std::path::PathBuf;
use tempfile::TempDir;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
libraries:
  - { id: pumps, title: Pumps, documents: [{ name: pumps.md, text: 'The pumps run from 22:00 to 6:00.' }] }
  - { id: bread, title: Bread, documents: [{ name: bread.md, text: 'The cooks make bread for all pumps.' }] }
  - id: closed
    title: Salaries
    documents: [{ name: salaries.md, text: 'The gardener of the pumps earns a salary.' }]
    readers: [staff]
agents:
  - { id: fixed, type: Agent, connectionId: demo, knowledge: [pumps], auth: public, properties: { model: demo } }
  - id: listed
    type: Agent
    connectionId: demo
    knowledge: { libraries: [pumps, closed], choose: listed }
    auth: public
    properties: { model: demo }
  - id: all
    type: Agent
    connectionId: demo
    knowledge: { libraries: [pumps], choose: all, documents: optOut }
    webFetch: {}
    web: optIn
    auth: public
    properties: { model: demo }
  - { id: asked, type: Agent, connectionId: demo, knowledge: { choose: all, documents: optIn }, properties: { model: demo } }
  - { id: plain, type: Agent, connectionId: demo, properties: { model: demo } }
pages: [{ id: home, auth: public }]
";

/// Serves the config, once its documents are read.
async fn serve(folder: &TempDir) -> Site {
    let path: PathBuf = folder.path().join("chatwright.yaml");
    std::fs::write(&path, CONFIG).unwrap();
    Site::serve(&path, &[("pumps", 1), ("bread", 1), ("closed", 1)]).await
}

/// Returns a question with what the user has chosen.
fn question(agent: &str, conversation: &str, chosen: &Value) -> TestRequest {
    let mut body = json!({ "id": "chat", "messages": [message("Tell me about the pumps, the bread and the salary")] });
    body.as_object_mut().unwrap().extend(chosen.as_object().unwrap().clone());
    post(format!("/api/agent/home/{agent}?conversationId={conversation}"), body)
}

/// Asks in a new conversation; returns the names of the files that were found, or the path of the refused choice.
async fn asked(site: &Site, who: &Caller, agent: &str, chosen: &Value) -> Result<Vec<String>, Value> {
    let conversation = uuid::Uuid::now_v7().simple().to_string();
    let (status, answer) = site.call_as(who, question(agent, &conversation, chosen)).await;
    if status != 200 {
        assert_eq!(status, 422, "{answer}");
        return Err(answer["error"]["path"].clone());
    }
    let (_, view) = site.call_as(who, get(format!("/api/conversations/{conversation}"))).await;
    let parts = view["messages"][1]["parts"].as_array().unwrap().clone();
    let results = parts.iter().filter_map(|part| part["output"]["results"].as_array()).flatten();
    let mut files: Vec<_> = results.map(|result| result["file"].as_str().unwrap().to_owned()).collect();
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_user_chooses_what_an_agent_searches() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder).await;
    let [ada, bob] = [("ada", true, &["staff"][..]), ("bob", true, &[])].map(caller);
    let visitor = caller(("visitor", false, &[]));
    let check = async |who: &Caller, agent: &str, chosen: Value, expected: Result<&[&str], &str>| {
        let expected = expected.map(|files| files.iter().map(|file| (*file).to_owned()).collect());
        let found = asked(&site, who, agent, &chosen).await;
        assert_eq!(found, expected.map_err(Value::from), "{} {agent} {chosen}", who.user_id);
    };
    let (pumps, bread, salaries) = ("pumps.md", "bread.md", "salaries.md");
    // Without a choice, it is as the config says.
    check(&ada, "fixed", json!({}), Ok(&[pumps])).await;
    check(&ada, "listed", json!({}), Ok(&[pumps, salaries])).await;
    check(&bob, "listed", json!({}), Ok(&[pumps])).await;
    check(&ada, "all", json!({}), Ok(&[pumps])).await;
    check(&bob, "asked", json!({}), Ok(&[])).await;
    check(&bob, "asked", json!({ "documents": true }), Ok(&[bread, pumps])).await;
    check(&ada, "asked", json!({ "documents": true }), Ok(&[bread, pumps, salaries])).await;
    // The chosen libraries, and no others.
    check(&ada, "listed", json!({ "libraries": ["closed"] }), Ok(&[salaries])).await;
    check(&ada, "all", json!({ "libraries": ["bread", "closed"] }), Ok(&[bread, salaries])).await;
    check(&bob, "all", json!({ "libraries": ["bread"] }), Ok(&[bread])).await;
    check(&bob, "all", json!({ "libraries": [] }), Ok(&[])).await;
    check(&visitor, "all", json!({ "libraries": ["pumps"] }), Ok(&[pumps])).await;
    // Documents are switched off.
    check(&ada, "all", json!({ "documents": false }), Ok(&[])).await;
    check(&ada, "all", json!({ "documents": false, "libraries": ["closed"] }), Ok(&[])).await;
    // A library that the user may not read is rejected like one that does not exist.
    check(&bob, "listed", json!({ "libraries": ["pumps", "closed"] }), Err("/libraries/1")).await;
    check(&bob, "all", json!({ "libraries": ["closed"] }), Err("/libraries/0")).await;
    check(&bob, "all", json!({ "libraries": ["nowhere"] }), Err("/libraries/0")).await;
    check(&visitor, "all", json!({ "libraries": ["bread"] }), Err("/libraries/0")).await;
    check(&ada, "listed", json!({ "libraries": ["bread"] }), Err("/libraries/0")).await;
    check(&ada, "all", json!({ "libraries": vec!["pumps"; 21] }), Err("/libraries")).await;
    // The agent does not allow these choices.
    check(&ada, "fixed", json!({ "libraries": ["pumps"] }), Err("/libraries")).await;
    check(&ada, "plain", json!({ "libraries": [] }), Err("/libraries")).await;
    check(&ada, "listed", json!({ "documents": false }), Err("/documents")).await;
    check(&ada, "listed", json!({ "documents": true }), Ok(&[pumps, salaries])).await;
    check(&ada, "plain", json!({ "documents": true }), Err("/documents")).await;
    check(&ada, "plain", json!({ "documents": false, "web": false }), Ok(&[])).await;
    check(&ada, "plain", json!({ "web": true }), Err("/web")).await;
    check(&ada, "all", json!({ "web": true }), Ok(&[pumps])).await;
    // Libraries of users.
    let (_, own) = site.call_as(&ada, post("/api/libraries".to_owned(), json!({ "name": "Ada's" }))).await;
    check(&ada, "all", json!({ "libraries": [own["id"]] }), Ok(&[])).await;
    check(&bob, "all", json!({ "libraries": [own["id"]] }), Err("/libraries/0")).await;
    check(&ada, "listed", json!({ "libraries": [own["id"]] }), Err("/libraries/0")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn users_see_the_libraries_among_which_they_choose() {
    let folder = TempDir::new().unwrap();
    let site = serve(&folder).await;
    let check = async |who: (&str, bool, &[&str]), agent: &str, expected: Result<&[&str], u16>| {
        let (status, list) = site.call_as(&caller(who), get(format!("/api/libraries?agentId={agent}"))).await;
        let ids = list["items"].as_array().map(|items| items.iter().map(|item| item["id"].as_str().unwrap()).collect());
        assert_eq!(ids.ok_or(status), expected.map(<[_]>::to_vec), "{who:?} {agent}");
    };
    check(("ada", true, &["staff"]), "all", Ok(&["pumps", "bread", "closed"])).await;
    check(("bob", true, &[]), "all", Ok(&["pumps", "bread"])).await;
    check(("visitor", false, &[]), "all", Ok(&["pumps"])).await;
    check(("ada", true, &["staff"]), "listed", Ok(&["pumps", "closed"])).await;
    check(("bob", true, &[]), "listed", Ok(&["pumps"])).await;
    check(("ada", true, &[]), "fixed", Ok(&[])).await;
    check(("ada", true, &[]), "plain", Err(404)).await;
    check(("ada", true, &[]), "nowhere", Err(404)).await;
    check(("visitor", false, &[]), "asked", Err(404)).await;
}
