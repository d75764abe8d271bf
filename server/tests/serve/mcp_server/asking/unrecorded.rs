//! Answers to questions that are taken and cannot be recorded.

use super::{accepted, ask, audited, reply, session_with_forms, status, wait_for_no_questions};
use crate::mcp_server::{SECTION, start};
use crate::provider::start_provider;
use serde_json::json;
use sqlx::{Connection, SqliteConnection};

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
