//! Kills the process at many moments of a run, and lets another one continue.

use super::fake::{Server, ada, workflow};
use crate::plan::StepState;
use crate::service::{self, Action, Answer, DecideRequest, Viewer};
use crate::store::{self, RunFilter, TaskState};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use test_process::{command, run};
use workflow_definition::Workflow;

const FOLDER: &str = "WORKFLOW_KILL_FOLDER";
const TEST: &str = "engine::tests::kill::run_survives_being_killed_at_any_time";
/// Into how many parts the moments split the run.
const KILLS: u32 = 40;

fn workflows() -> Vec<Workflow> {
    let call = |id: &str| json!({ "id": id, "type": "endpoint", "endpointId": "e", "payload": { "n": id } });
    let parent = json!({ "id": "test", "steps": [
        call("first"),
        { "id": "both", "type": "parallel", "branches": {
            "a": [{ "id": "each", "type": "loop", "in": [1, 2], "max": 2, "do": [call("inner")] }],
            "b": [{ "id": "ask", "type": "human", "title": "OK?", "roles": ["manager"] }] } },
        { "id": "sub", "type": "workflow", "workflowId": "child" },
        call("last"),
    ], "output": ["$.first.got.n", "$.both.b.decision", "$.sub", "$.last.got.n"] });
    let child = json!({ "id": "child", "steps": [call("below")], "output": "$.below.got.n" });
    vec![workflow(parent), workflow(child)]
}

/// Drives the run to its end, and does what people do: answers the question, and looks up what a
/// step did that was interrupted.
async fn serve(folder: &Path) {
    let effects = folder.join("effects");
    let url = format!("sqlite://{}", folder.join("runs.db").display());
    let server = Server::open(&url, workflows(), Some(effects.clone())).await;
    let known = store::runs_of(&server.runs.store, "ada", crate::AFTER_ALL, None, 2).await.unwrap();
    let id = match known.first() {
        Some(run) => run.id.clone(),
        None => server.start("test", json!({})).await,
    };
    for _ in 0..2_000 {
        let all = store::list(&server.runs.store, crate::AFTER_ALL, RunFilter::default(), 10).await.unwrap();
        for run in &all {
            let detail = service::detail(&server.runs, Viewer::Owner(&ada()), &run.id).await.unwrap();
            for task in detail.tasks.iter().filter(|task| task.state == TaskState::Open) {
                let answer = Answer { approved: Some(true), ..Answer::default() };
                // The run may have ended meanwhile.
                let _ = service::answer(&server.runs, &ada(), &task.id, answer).await;
            }
            for step in detail.steps.iter().filter(|step| step.state == StepState::Unknown) {
                let done = std::fs::read_to_string(&effects).unwrap_or_default();
                let key = super::super::calls::idempotency_key(run.key_base(), &step.path);
                let (action, output) = if done.contains(&key) {
                    (Action::Skip, json!({ "got": { "n": step.step_id } }))
                } else {
                    (Action::RunAgain, json!(null))
                };
                let decision = DecideRequest { path: step.path.clone(), action, output };
                service::decide(&server.runs, Viewer::Owner(&ada()), &run.id, decision, None).await.unwrap();
            }
        }
        let run = store::run(&server.runs.store, &id).await.unwrap().unwrap();
        if run.ended_at.is_some() {
            assert_eq!(run.output, json!(["first", "approved", "below", "last"]), "{:?}", run.error);
            server.workers.shutdown(Duration::from_secs(1)).await;
            server.runs.store.close().await;
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the run does not end");
}

/// Checks that each step had its effect once.
fn check(folder: &Path) {
    let effects = std::fs::read_to_string(folder.join("effects")).unwrap_or_default();
    let mut counts = BTreeMap::<&str, u32>::new();
    effects.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    let ids: Vec<_> = counts.keys().map(|line| line.split(' ').next().unwrap_or_default()).collect();
    assert_eq!(ids, ["below", "first", "inner", "inner", "last"]);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

#[test]
fn run_survives_being_killed_at_any_time() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        return runtime.block_on(serve(Path::new(&folder)));
    }
    kill_at_moments(5);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn run_survives_being_killed_at_each_moment_thoroughly() {
    kill_at_moments(1);
}

/// Kills a process at every `step`-th moment.
fn kill_at_moments(step: usize) {
    let whole = tempfile::tempdir().unwrap();
    let took = run(command(TEST, FOLDER, whole.path()), None).unwrap();
    check(whole.path());
    let mut kills = 0;
    for moment in (1..KILLS).step_by(step) {
        let folder = tempfile::tempdir().unwrap();
        kills += u32::from(run(command(TEST, FOLDER, folder.path()), Some(took * moment / KILLS)).is_none());
        run(command(TEST, FOLDER, folder.path()), None);
        check(folder.path());
    }
    assert!(kills > 0, "each process was done before it was to be killed");
}
