//! Workflows while the clock of the server is set by hours: a step that runs, and steps that wait.

use crate::operation::clock::Clock;
use crate::process::Server;
use reqwest::Method;
use serde_json::{Value, json};
use std::time::Duration;

const HOUR: i64 = 3_600;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 50 } }]
agents: [{ id: helper, type: Agent, connectionId: demo, properties: { model: demo } }]
pages: [{ id: page, blocks: [] }]
workflows:
  - id: calls
    steps: [{ id: ask, type: agent, agentId: helper, prompt: count to 60 }]
  - id: waits
    output: ended
    steps:
      - id: both
        type: parallel
        branches:
          a: [{ id: short, type: wait, seconds: 4 }]
          b: [{ id: long, type: wait, seconds: 7200 }]
";

/// Returns the path of a new run.
async fn start(server: &Server, workflow: &str) -> String {
    let path = format!("/api/workflows/{workflow}/runs");
    let answer = server.request(Method::POST, &path).json(&json!({})).send().await.unwrap();
    let run: Value = answer.error_for_status().unwrap().json().await.unwrap();
    format!("/api/workflows/runs/{}", run["id"].as_str().unwrap())
}

/// Waits until a step of the run, with its attempts, has this state.
async fn until(server: &Server, run: &str, step: &str, expected: (&str, u64)) {
    let mut detail = Value::Null;
    for _ in 0..600 {
        detail = server.get(run).await;
        let steps = detail["stepRecords"].as_array().unwrap();
        let found = steps.iter().find(|record| record["stepId"] == step);
        if found.is_some_and(|found| found["state"] == expected.0 && found["attempt"] == expected.1) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("{step} is not {expected:?}: {detail}");
}

/// Waits until the run has ended, which is stored after its last step.
async fn ended(server: &Server, run: &str) -> Value {
    let mut detail = Value::Null;
    for _ in 0..600 {
        detail = server.get(run).await;
        if ["done", "failed", "stopped"].contains(&detail["state"].as_str().unwrap()) {
            return detail;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the run has not ended: {detail}");
}

#[tokio::test]
async fn clock_jumps_neither_repeat_a_step_nor_make_a_short_wait_long() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), CONFIG).unwrap();
    let clock = Clock::new(folder.path());
    let server = Server::start_with_env(&clock.variables(), &["--config", folder.path().to_str().unwrap()]);
    // The lease of the job that runs the step does not depend on the clock.
    let calls = start(&server, "calls").await;
    until(&server, &calls, "ask", ("running", 1)).await;
    for offset in [3 * HOUR, -3 * HOUR, HOUR, 0] {
        clock.set_offset(offset);
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    until(&server, &calls, "ask", ("done", 1)).await;
    // By the clock, the short wait now ends in three hours.
    let waits = start(&server, "waits").await;
    until(&server, &waits, "short", ("waiting", 1)).await;
    clock.set_offset(-3 * HOUR);
    until(&server, &waits, "short", ("done", 1)).await;
    until(&server, &waits, "long", ("waiting", 1)).await;
    // The long one counts by the clock, too.
    clock.set_offset(0);
    until(&server, &waits, "long", ("done", 1)).await;
    let run = ended(&server, &waits).await;
    assert_eq!((&run["state"], &run["output"]), (&json!("done"), &json!("ended")));
}
