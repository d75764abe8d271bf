//! The events that runs emit.

use super::fake::{Server, call, workflow};
use ::store::EventKind;
use serde_json::{Value, json};
use test_postgres::database_files_of_each_kind;

async fn emitted(server: &Server, kind: EventKind) -> Vec<Value> {
    let found = server.runs.store.events_between(kind, (0, ""), i64::MAX, 9).await.unwrap();
    found.into_iter().map(|event| event.data).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_and_ends_are_events_that_name_their_workflows() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let ask = json!({ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"], "users": ["bob"] });
        let below = json!({ "id": "below", "type": "workflow", "workflowId": "child" });
        let workflows = vec![
            workflow(json!({ "id": "test", "steps": [below] })),
            workflow(json!({ "id": "child", "steps": [ask] })),
            workflow(json!({ "id": "broken", "steps": [call("post", json!({ "fails": 9 }))] })),
        ];
        let server = Server::open(&url, workflows, None).await;
        let id = server.start("test", json!({})).await;
        let child = loop {
            if let Some(child) = server.rest(&id).await.steps.first().and_then(|step| step.child_id.clone()) {
                break child;
            }
        };
        let task = server.rest(&child).await.tasks.remove(0);
        let waiting = json!({
            "name": "task.waiting", "taskId": task.id, "runId": child, "workflowId": "child", "step": "ask", "title": "OK?",
            "dueAt": null, "roles": ["manager"], "users": ["bob"], "chain": ["test", "child"],
        });
        assert_eq!(emitted(&server, EventKind::TaskWaiting).await, [waiting]);
        server.stop(&id).await;
        server.ended(&id).await;
        server.ended(&child).await;
        let broken = server.start("broken", json!({})).await;
        server.ended(&broken).await;
        let stopped = json!({
            "name": "workflow.ended", "runId": id, "workflowId": "test", "userId": "ada", "outcome": "stopped",
            "cause": "The run was stopped.", "step": "", "chain": ["test"],
        });
        let failed = json!({
            "name": "workflow.ended", "runId": broken, "workflowId": "broken", "userId": "ada", "outcome": "failed",
            "cause": "it failed the 1. time", "step": "post", "chain": ["broken"],
        });
        assert_eq!(emitted(&server, EventKind::WorkflowEnded).await, [stopped, failed], "the child is a step");
        assert_eq!(*server.host.causes.lock(), [["broken"]], "what a call starts has the same chain");
    }
}
