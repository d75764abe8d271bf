//! Questions of runs that belong to conversations, also of the runs below them.

use super::fake::{Server, ada, workflow};
use crate::service::{self, Answer, StartRequest};
use crate::store::{self, ConversationLink, RunCaller};
use ::store::sql;
use chat::Caller;
use contract::Exposure;
use serde_json::json;

const CONVERSATION: &str = "
    INSERT INTO conversations (id, owner, page_id, agent_id, title, head, epoch, created_at, updated_at, read_at)
    VALUES ($1, 'ada', 'page', 'agent', 'A conversation', '', 0, 1, 1, 1)";

/// Adds a conversation of Ada's.
async fn converse(server: &Server, id: &str) {
    let insert = sql::query(CONVERSATION).bind(id);
    let write = server.runs.store.write(move |db| Box::pin(async move { Ok(insert.execute(db).await?) }));
    write.await.unwrap();
}

/// Starts a workflow in a conversation and returns the run's id.
async fn start(server: &Server, workflow: &str, conversation: &str) -> String {
    let link = ConversationLink {
        run_id: String::new(),
        owner: "ada".to_owned(),
        conversation_id: Some(conversation.to_owned()),
        call_key: None,
        caller: RunCaller::from(&ada()),
        goes_on: false,
        exposure: Exposure::default(),
        is_delivered: false,
    };
    let workflow = server.host.workflows.iter().find(|known| known.id.0 == workflow).unwrap().clone();
    let belongs = (Some(link), vec!["first".to_owned()]);
    let run = service::start_linked(&server.runs, &ada(), workflow, StartRequest::default(), belongs).await;
    let run = run.unwrap();
    assert_eq!(run.causes, ["first"]);
    run.id
}

#[tokio::test]
async fn questions_of_runs_below_are_found_from_the_conversation() {
    let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] });
    let step = |workflow: &str| json!([{ "id": "sub", "type": "workflow", "workflowId": workflow }]);
    let workflows = || {
        vec![
            workflow(json!({ "id": "direct", "steps": [ask] })),
            workflow(json!({ "id": "middle", "steps": step("direct") })),
            workflow(json!({ "id": "top", "steps": step("middle") })),
            workflow(json!({ "id": "silent", "steps": [{ "id": "pause", "type": "wait", "seconds": 900 }] })),
        ]
    };
    let urls = std::iter::once("sqlite::memory:".to_owned()).chain(test_postgres::new_database().await);
    for url in urls {
        let server = Server::open(&url, workflows(), None).await;
        for id in ["asks", "asks-below", "silent", "other"] {
            converse(&server, id).await;
        }
        let direct = start(&server, "direct", "asks").await;
        let top = start(&server, "top", "asks-below").await;
        start(&server, "silent", "silent").await;
        let store = &server.runs.store;
        let waiting = async |caller: &Caller| {
            let ids = ["asks", "asks-below", "silent", "other"].map(str::to_owned).to_vec();
            let mut found = store::waiting_conversations(store, caller, ids).await.unwrap();
            found.sort();
            found
        };
        while waiting(&ada()).await.len() < 2 {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(waiting(&ada()).await, ["asks", "asks-below"], "{url}");
        assert_eq!(waiting(&Caller::signed_in("ada")).await, [] as [&str; 0], "without the role, {url}");
        let tasks = async |run: &str| store::tasks_below(store, &ada(), run, 10).await.unwrap();
        assert_eq!((tasks(&direct).await.len(), tasks(&top).await.len()), (1, 1), "{url}");
        // Of each run its own question.
        let below = tasks(&top).await.remove(0);
        assert!(below.run_id != top && below.run_id != direct, "{url}");
        let answer = Answer { approved: Some(true), ..Answer::default() };
        service::answer(&server.runs, &ada(), &below.id, answer).await.unwrap();
        server.ended(&top).await;
        assert_eq!(waiting(&ada()).await, ["asks"], "{url}");
        assert_eq!(tasks(&top).await.len(), 0, "{url}");
        server.workers.shutdown(std::time::Duration::from_secs(5)).await;
        store.close().await;
    }
}
