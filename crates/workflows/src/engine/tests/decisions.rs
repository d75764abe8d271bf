//! Decisions on the calls of agents.

use super::fake::{Server, ada, workflow};
use crate::service::{self, Answer, RunDetail};
use crate::store::TaskState;
use chat::Caller;
use serde_json::json;
use test_postgres::database_files_of_each_kind;
use wire::ErrorCode;

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_need_an_approval_are_questions_to_people() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let steps = json!([{ "id": "pay", "type": "agent", "agentId": "clerk", "prompt": "pay", "tools": ["pay"] }]);
        let server = Server::open(&url, vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
        let id = server.start("test", json!({})).await;
        let waits = server.rest(&id).await;
        assert_eq!((waits.run.state.name(), waits.steps[0].attempt, waits.run.used.requests), ("waiting", 1, 1));
        let asked: Vec<_> = waits.tasks.iter().map(|task| (task.title.as_str(), task.details.clone())).collect();
        assert_eq!(asked, [("clerk: pay", json!({ "for": "one" })), ("clerk: pay", json!({ "for": "two" }))]);
        let answer = async |caller: &Caller, index: usize, approved: bool| {
            let answer = Answer { approved: Some(approved), comment: Some("Because.".to_owned()), ..Answer::default() };
            service::answer(&server.runs, caller, &waits.tasks[index].id, answer).await.map_err(|error| error.code)
        };
        let other = ada().with_roles(Vec::new());
        assert_eq!(answer(&other, 0, true).await.unwrap_err(), ErrorCode::NotFound, "the agent names the approvers");
        answer(&ada(), 0, true).await.unwrap();
        assert_eq!(server.rest(&id).await.run.state.name(), "waiting", "the other call is not decided");
        assert_eq!(answer(&ada(), 0, false).await.unwrap_err(), ErrorCode::Busy);
        answer(&ada(), 1, false).await.unwrap();
        let ended = server.ended(&id).await;
        let decisions = json!(["approved", { "denied": "Because." }]);
        assert_eq!(ended.run.output, json!({ "decisions": decisions, "suspensions": 1, "before": 1 }));
        assert_eq!((ended.steps[0].attempt, ended.steps[0].used.requests, ended.run.steps), (1, 2, 1));
        assert!(ended.tasks.iter().all(|task| task.state == TaskState::Answered));
        let kept = crate::store::resumed_step(&server.runs.store, &id, "pay").await.unwrap();
        assert_eq!(kept, None, "the state is not needed any more");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_questions_that_have_lapsed_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    for url in database_files_of_each_kind(folder.path()).await {
        let steps =
            json!([{ "id": "pay", "type": "agent", "agentId": "clerk", "prompt": "pay soon", "tools": ["pay"] }]);
        let server = Server::open(&url, vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
        let id = server.start("test", json!({})).await;
        let state = |detail: &RunDetail, call: &str| {
            detail.tasks.iter().find(|task| task.call_id.as_deref() == Some(call)).map(|task| task.state)
        };
        let lapsed = loop {
            let detail = server.rest(&id).await;
            if state(&detail, "one") == Some(TaskState::Lapsed) {
                break detail;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert_eq!((lapsed.run.ended_at, state(&lapsed, "two")), (None, Some(TaskState::Open)), "{url}");
        let open = lapsed.tasks.iter().find(|task| task.state == TaskState::Open).unwrap();
        let answer = Answer { approved: Some(true), ..Answer::default() };
        service::answer(&server.runs, &ada(), &open.id, answer).await.unwrap();
        let ended = server.ended(&id).await;
        let decisions = json!([{ "denied": "Nobody answered in time." }, "approved"]);
        assert_eq!(ended.run.output, json!({ "decisions": decisions, "suspensions": 1, "before": 1 }), "{url}");
        assert_eq!(ended.steps[0].attempt, 1, "{url}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_run_cancels_the_questions_about_calls() {
    let steps = json!([{ "id": "pay", "type": "agent", "agentId": "clerk", "prompt": "pay", "tools": ["pay"] }]);
    let server = Server::open("sqlite::memory:", vec![workflow(json!({ "id": "test", "steps": steps }))], None).await;
    let id = server.start("test", json!({})).await;
    server.rest(&id).await;
    server.stop(&id).await;
    let ended = server.ended(&id).await;
    assert_eq!(ended.run.state.name(), "stopped");
    assert!(ended.tasks.iter().all(|task| task.state == TaskState::Cancelled));
}
