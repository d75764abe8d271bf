//! Who sees entities: rights are those of the library, also for tools.

use super::*;
use crate::section::AgentKnowledge;
use crate::tools::{self, EXPLORE, QUERY};
use contract::{CallReports, ModelUse, RunScope, Tool, ToolContext};
use test_postgres::database_files_of_each_kind;

async fn call(
    tools: &[Arc<dyn Tool>],
    name: &str,
    (user, roles): (&str, &[&str]),
    input: Value,
) -> Result<Value, String> {
    let roles = roles.iter().map(|role| (*role).to_owned()).collect();
    let scope = RunScope { user_id: user.to_owned(), is_authenticated: true, roles, ..RunScope::default() };
    let context = ToolContext {
        call_id: "call".to_owned(),
        scope: Arc::new(scope),
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
        may_repeat: false,
        models: ModelUse::default(),
    };
    let tool = tools.iter().find(|tool| tool.spec().name == name).unwrap();
    tool.call(input, context).await.map_err(|error| error.message)
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_answer_with_the_rights_of_the_user() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let server = Server::open(&url).await;
        let [open, bare] = [server.library(true).await, server.library(false).await];
        server.add(&open, "lines.txt", "Jonas reports to Aiko\nAiko leads Pumps\n").await;
        server.add(&bare, "other.txt", "Jonas reports to Nobody\n").await;
        server.extracted(&open, 1).await;
        let agent = format!(
            "{CONFIG}agents: [{{ id: a, type: Agent, connectionId: demo, properties: {{ model: m }}, knowledge: {{ libraries: ['{open}', '{bare}'], graph: true }} }}]\n"
        );
        let config = parsed(&agent);
        server.knowledge.use_config(&config);
        let options = config.agents["a"].section().map(AgentKnowledge::options).unwrap();
        let tools = tools::tools(&server.knowledge, options).tools;
        let ada: (&str, &[&str]) = ("ada", &[]);
        let found = call(&tools, QUERY, ada, json!({ "type": "person" })).await.unwrap();
        let names: Vec<_> =
            found["entities"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["Aiko", "Jonas"]);
        let reports =
            call(&tools, QUERY, ada, json!({ "name": "jon", "relation": "reports to", "fileName": "*.TXT" })).await;
        let reports = reports.unwrap();
        let relation = &reports["relations"][0];
        assert_eq!(
            (&relation["from"], &relation["to"], &relation["quote"]),
            (&json!("Jonas"), &json!("Aiko"), &json!("Jonas reports to Aiko"))
        );
        // Relations that can be cited are among the results.
        assert_eq!(reports["results"][0]["id"], relation["source"]);
        assert_eq!(reports["results"][0]["file"], "lines.txt");
        let none = call(&tools, QUERY, ada, json!({ "fileName": "x%" })).await.unwrap();
        assert!(none["note"].is_string() && none["entities"] == json!([]), "{none}");
        let explored = call(&tools, EXPLORE, ada, json!({ "entity": "jonas" })).await.unwrap();
        let reached: Vec<_> = explored["entities"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| (one["name"].clone(), one["distance"].clone()))
            .collect();
        assert_eq!(reached, [(json!("Aiko"), json!(1)), (json!("Pumps"), json!(2))]);
        assert_eq!(
            call(&tools, EXPLORE, ("bob", &["staff"]), json!({ "entity": "Pumps" }))
                .await
                .map(|found| found["entity"]["name"].clone()),
            Ok(json!("Pumps"))
        );
        let refused = call(&tools, EXPLORE, ada, json!({ "entity": "nobody" })).await.unwrap_err();
        assert!(refused.starts_with("There is no such entity."), "{refused}");
        // A stranger learns nothing, not even by an id.
        let id = explored["entity"]["id"].clone();
        for (name, input) in [(EXPLORE, json!({ "entity": id })), (QUERY, json!({}))] {
            let refused = call(&tools, name, ("eve", &[]), input).await.unwrap_err();
            assert_eq!(refused, "No entities are extracted from the documents that the user may read.");
        }
        let eve = server.knowledge.library_with_graph(&viewer("eve"), &open).await.unwrap_err();
        assert_eq!(eve.code, wire::ErrorCode::NotFound);
        let bob = viewer_with_roles("bob", &["staff"]);
        assert_eq!(server.knowledge.redo_graph(&bob, &open).await.unwrap_err().code, wire::ErrorCode::Forbidden);
        server.close().await;
    }
}
