//! Questions of an agent to its user, over the AI SDK's protocol.

use crate::http::{chunks, reply_text};
use crate::process::Server;
use serde_json::{Value, json};

/// Returns the open question of a conversation.
async fn open_question(server: &Server, conversation: &str) -> Option<Value> {
    let record = server.conversation(conversation).await["messages"][1].clone();
    let mut parts = record["parts"].as_array().unwrap().iter();
    parts.find(|part| part["type"] == "tool-ask-user" && part["state"] == "input-available").cloned()
}

#[tokio::test]
async fn an_answer_resumes_the_conversation() {
    let server = Server::start();
    let asked = chunks(server.message("c1", "Ask me something").send().await.unwrap()).await;
    let call = asked.iter().find(|chunk| chunk["type"] == "tool-input-available").unwrap();
    assert_eq!((&call["toolName"], &call["input"]["kind"]), (&json!("ask-user"), &json!("approach_choice")));
    assert!(!asked.iter().any(|chunk| chunk["type"] == "tool-output-available"));
    let question = open_question(&server, "c1").await.unwrap();

    let record = server.conversation("c1").await["messages"][1].clone();
    let answer = |call_id: &Value| {
        let mut message = record.clone();
        for part in message["parts"].as_array_mut().unwrap() {
            if part["type"] == "tool-ask-user" {
                part["toolCallId"] = call_id.clone();
                part["state"] = "output-available".into();
                part["output"] = json!({ "option": "In one sentence" });
            }
        }
        server.submit_messages("c1", json!([message]))
    };
    // An answer to an unknown question changes nothing.
    chunks(answer(&json!("forged")).send().await.unwrap()).await;
    assert_eq!(open_question(&server, "c1").await.as_ref(), Some(&question));
    let resumed = chunks(answer(&question["toolCallId"]).send().await.unwrap()).await;
    assert!(reply_text(&resumed).starts_with("You chose *In one sentence*."), "{}", reply_text(&resumed));
    assert_eq!(resumed[0]["messageId"], record["id"]);
    // A repeated answer has no effect.
    let again = chunks(answer(&question["toolCallId"]).send().await.unwrap()).await;
    assert_eq!(reply_text(&again), "");
}

#[tokio::test]
async fn new_message_closes_an_open_question() {
    let server = Server::start();
    chunks(server.message("c1", "Ask me with a form").send().await.unwrap()).await;
    assert!(open_question(&server, "c1").await.is_some());
    let next = chunks(server.message("c1", "hello").send().await.unwrap()).await;
    assert!(reply_text(&next).starts_with("Hello!"), "{}", reply_text(&next));
    let record = server.conversation("c1").await["messages"][1].clone();
    let parts = record["parts"].as_array().unwrap();
    let question = parts.iter().find(|part| part["type"] == "tool-ask-user").unwrap();
    assert_eq!(question["state"], "output-error");
    assert_eq!(question["errorText"], "The user did not answer and sent a new message instead.");
}
