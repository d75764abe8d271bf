//! Quotes, and the list of documents, as agents of a config have them.

use super::*;
use crate::section::AgentKnowledge;
use crate::tools;
use capability::FindQuotes;
use contract::{CallReports, ModelUse, RunScope, Tool, ToolContext};
use serde_json::{Value, json};
use std::sync::Arc;
use test_postgres::database_files_of_each_kind;
use tokio_util::sync::CancellationToken;

/// Uses a config whose agent `a` searches a library; agent `b` searches another one.
fn use_config(server: &Server, library: &str) -> Arc<config::Config> {
    let agent = |id: &str, library: &str| {
        format!(
            "  - {{ id: {id}, type: Agent, connectionId: demo, properties: {{ model: m }}, knowledge: {{ libraries: ['{library}'], list: true }} }}\n"
        )
    };
    let text =
        format!("connections: [{{ id: demo, type: Demo }}]\nagents:\n{}{}", agent("a", library), agent("b", "another"));
    let (config, _) = capability::language(&[crate::DEFINITION]).read_text(&text).unwrap();
    let config = Arc::new(config);
    server.knowledge.use_config(&config);
    config
}

fn scope(user: &str) -> RunScope {
    RunScope { user_id: user.to_owned(), is_authenticated: true, ..RunScope::default() }
}

#[tokio::test(flavor = "multi_thread")]
async fn quotes_are_found_in_documents_that_the_agent_may_read_for_the_user() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        use_config(&server, &library);
        let long: String =
            (0..400).map(|number| format!("# Section {number}\n\nThe code is {number}-x.\n\n")).collect();
        let document = server.add(&library, "codes.md", &long, false).await.unwrap();
        server.settled(&library).await;
        let find = async |user: &str, agent: &str, id: &str, quotes: &[&str]| {
            let quotes: Vec<_> = quotes.iter().map(|quote| (*quote).to_owned()).collect();
            server.knowledge.find(agent, &scope(user), id, &quotes).await.map_err(|error| error.message)
        };
        let found = find("ada", "a", &document.id, &["the CODE  is 399-x", "The code is 400-x", "Section 0"]).await;
        let found = found.unwrap();
        assert_eq!(found.file_name, "codes.md");
        assert!(found.places[0].as_ref().unwrap().starts_with("line"), "{found:?}");
        assert_eq!((found.places[1].as_ref(), found.places[2].is_some()), (None, true));
        let none = Err("There is no such document.".to_owned());
        assert_eq!(find("bob", "a", &document.id, &["Section 0"]).await, none);
        assert_eq!(find("ada", "b", &document.id, &["Section 0"]).await, none);
        assert_eq!(find("ada", "a", "other", &["Section 0"]).await, none);
        assert_eq!(find("ada", "c", &document.id, &[]).await, Err("This agent has no documents.".to_owned()));
        server.close().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn documents_are_listed_in_pages() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let library = server.library().await;
        let config = use_config(&server, &library);
        for number in 0..51 {
            server.add(&library, &format!("{number}.md"), &format!("Document {number}"), false).await.unwrap();
        }
        server.settled(&library).await;
        let options = config.agents["a"].section().map(AgentKnowledge::options).unwrap();
        let tools = tools::tools(&server.knowledge, options).tools;
        let list = tools.iter().find(|tool| tool.spec().name == tools::LIST).unwrap();
        let first = list_as(&**list, "ada", json!({})).await.unwrap();
        let second = list_as(&**list, "ada", json!({ "cursor": first["nextCursor"] })).await.unwrap();
        let files = |answer: &Value| answer["documents"].as_array().unwrap().len();
        assert_eq!((files(&first), files(&second), second.get("nextCursor")), (50, 1, None));
        assert_eq!(
            (&first["documents"][0]["passages"], &first["documents"][0]["library"]),
            (&json!(1), &json!("Library"))
        );
        assert_eq!(files(&list_as(&**list, "bob", json!({})).await.unwrap()), 0);
        server.close().await;
    }
}

async fn list_as(list: &dyn Tool, user: &str, input: Value) -> Result<Value, String> {
    let context = ToolContext {
        call_id: "call".to_owned(),
        scope: Arc::new(scope(user)),
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
        may_repeat: false,
        models: ModelUse::default(),
    };
    list.call(input, context).await.map_err(|error| error.message)
}
