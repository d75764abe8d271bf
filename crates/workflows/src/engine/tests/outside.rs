//! Actions of others while a run executes a step.

use super::fake::{Server, ada, call, workflow};
use crate::plan::StepState;
use crate::service::{self, Action, Answer, DecideRequest, Viewer};
use ::store::sql;
use serde_json::{Value, json};
use test_postgres::database_files_of_each_kind;

/// A step of the first kind waits beside a call that takes a minute; `act` ends it.
async fn check(first: Value, children: Vec<Value>, act: impl AsyncFn(&Server, &str)) {
    let branches = json!({ "a": [first, call("after", json!({}))], "b": [call("long", json!({ "sleepMs": 60_000 }))] });
    let definition = json!({ "id": "test", "steps": [{ "id": "both", "type": "parallel", "branches": branches }] });
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let all = std::iter::once(definition.clone()).chain(children.clone()).map(workflow).collect();
        let server = Server::open(&url, all, None).await;
        let id = server.start("test", json!({})).await;
        server.called("long").await;
        act(&server, &id).await;
        server.called("after").await;
        server.stop(&id).await;
        server.close().await;
    }
}

/// Answers the only question of a run.
async fn approve(server: &Server, id: &str) {
    let task = server.detail(id).await.tasks.remove(0);
    let answer = Answer { approved: Some(true), ..Answer::default() };
    service::answer(&server.runs, &ada(), &task.id, answer).await.unwrap();
}

fn question() -> Value {
    json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] })
}

#[tokio::test(flavor = "multi_thread")]
async fn answer_counts_while_another_branch_runs() {
    check(question(), Vec::new(), async |server, id| approve(server, id).await).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn end_of_a_child_counts_while_another_branch_runs() {
    let child = json!({ "id": "child", "steps": [question()] });
    let sub = json!({ "id": "sub", "type": "workflow", "workflowId": "child" });
    check(sub, vec![child], async |server, id| {
        let steps = server.detail(id).await.steps;
        let child = steps.iter().find_map(|step| step.child_id.clone()).unwrap();
        server.rest(&child).await;
        approve(server, &child).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn decision_counts_while_another_branch_runs() {
    check(question(), Vec::new(), async |server, id| {
        // As after a crash.
        let lost = "UPDATE workflow_steps SET state = 'unknown' WHERE step_id = 'ask'";
        let write = server.runs.store.write(move |db| Box::pin(async move { Ok(sql::query(lost).execute(db).await?) }));
        write.await.unwrap();
        let path = "both.a/ask".to_owned();
        let decision = DecideRequest { path, action: Action::Skip, output: json!("looked up") };
        service::decide(&server.runs, Viewer::Owner(&ada()), id, decision, None).await.unwrap();
        assert!(server.detail(id).await.steps.iter().any(|step| step.state == StepState::Done));
    })
    .await;
}
