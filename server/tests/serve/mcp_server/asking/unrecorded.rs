//! Answers to questions that are taken and cannot be recorded.

use super::{accepted, ask, audited, reply, session_with_forms, status, wait_for_no_questions};
use crate::mcp_server::{SECTION, call, config, message, start};
use crate::process::Server;
use crate::provider::{start_provider, start_silent_provider};
use serde_json::json;
use sqlx::{Connection, SqliteConnection};
use std::time::Duration;
use tempfile::TempDir;

/// The server that took an answer may be killed before it has recorded it. The call does not wait for it until the approval
/// expires.
#[tokio::test(flavor = "multi_thread")]
async fn call_does_not_wait_for_an_answer_that_a_killed_server_took() {
    let (server, _folder) = start(&start_provider().await, SECTION);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, "send {}").await;
    let question = stream.next().await;
    // This is all that such a server leaves.
    let mut database = SqliteConnection::connect(&server.database).await.unwrap();
    let taken = sqlx::query("UPDATE mcp_client_questions SET is_answered = 1").execute(&mut database).await.unwrap();
    assert_eq!(taken.rows_affected(), 1);
    let approved = accepted(json!({ "decision": "approve" }));
    assert_eq!(status(reply(&server, &session, &question, &approved)).await, 400, "it has an answer");
    let result = stream.result().await;
    assert_eq!(result["structuredContent"]["outcome"], "waiting", "{result}");
    wait_for_no_questions(&server).await;
    assert!(audited(&server).await.is_empty());
}

/// Waits until the user has two conversations.
async fn wait_for_second_conversation(server: &Server) {
    for _ in 0..3_000 {
        if server.get("/api/conversations").await["items"].as_array().unwrap().len() == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the second conversation has not begun");
}

/// A decision that a limit refuses has no effect, so the audit log does not have it, and the user can decide later.
#[tokio::test(flavor = "multi_thread")]
async fn refused_decision_is_not_in_the_audit_log() {
    let rest = "mcpApi: { agents: [helper, second] }\nlimits: { runsPerUser: 1 }";
    let connection =
        format!("id: silent, type: OpenAICompatible, properties: {{ baseURL: '{}' }}", start_silent_provider().await);
    let text = [
        ("connections: [", format!("connections: [{{ {connection} }}, ")),
        ("second, type: Agent, connectionId: model", "second, type: Agent, connectionId: silent".to_owned()),
        ("blocks: [", "blocks: [{ id: other, type: AgentChat, properties: { agentId: second } }, ".to_owned()),
    ]
    .into_iter()
    .fold(config(&start_provider().await, rest), |text, (from, to)| text.replace(from, &to));
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
    let session = session_with_forms(&server).await;
    let mut stream = ask(&server, &session, "send {}").await;
    let question = stream.next().await;
    // Its answer does not end, and the user may have no other one meanwhile.
    let busy = tokio::spawn(message(&server, &call(8, "second", &json!({ "message": "Hello" }))).send());
    wait_for_second_conversation(&server).await;
    let approved = accepted(json!({ "decision": "approve" }));
    assert_eq!(status(reply(&server, &session, &question, &approved)).await, 429);
    let result = stream.result().await;
    assert_eq!(result["structuredContent"]["outcome"], "waiting", "{result}");
    assert!(audited(&server).await.is_empty());
    busy.abort();
}
