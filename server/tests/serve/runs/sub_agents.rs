//! The policy of an agent also applies to its sub-agents.

use crate::http::chunks;
use crate::process::Server;
use crate::provider::start_provider;
use reqwest::Method;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

async fn serve() -> (Server, TempDir) {
    let (folder, provider) = (TempDir::new().unwrap(), start_provider().await);
    let agent = |id: &str, more: &str| {
        format!("  - {{ id: {id}, type: Agent, connectionId: models, properties: {{ model: m }}, {more} }}\n")
    };
    let above = |id: &str, policy: &str| agent(id, &format!("agents: [middle], policy: {policy}"));
    let agents = [
        agent("mailer", "tools: [send_mail]"),
        agent("middle", "agents: [mailer]"),
        agent("free", "agents: [middle]"),
        above("strict", "{ rules: [{ tools: ['send_*'], action: deny, reason: not by mail. }] }"),
        above("careful", "{ rules: [{ tools: ['send_*'], action: ask }] }"),
        above("judged", "{ endpoint: judge }"),
        above("broken", "{ endpoint: fails }"),
    ];
    let config = format!(
        "
connections:
  - {{ id: models, type: OpenAICompatible, properties: {{ baseURL: '{provider}' }} }}
  - {{ id: db, type: Sql, properties: {{ url: 'sqlite::memory:', init: 'create table sent (text text)' }} }}
api:
  - {{ id: send_mail, description: Mail, payloadSchema: {{ type: object, properties: {{ text: {{ type: string }} }} }}, routine: [{{ id: s, type: SqlExecute, connectionId: db, properties: {{ query: 'insert into sent values (:t)', parameters: {{ t: {{ _payload: text }} }} }} }}, {{ ':return': sent }}] }}
  - {{ id: count, routine: [{{ id: n, type: SqlQuery, connectionId: db, properties: {{ query: 'select count(*) as n from sent' }} }}, {{ ':return': {{ _step: n.0.n }} }}] }}
  - id: judge
    routine:
      - ':if': {{ _eq: [{{ _payload: toolName }}, send_mail] }}
        ':then': {{ ':return': {{ allow: false, reasons: [{{ message: {{ _template: '{{{{ payload.agentId }}}} may not, {{{{ payload.isSubAgent }}}}.' }} }}] }} }}
      - ':return': {{ allow: true }}
  - id: fails
    routine:
      - ':if': {{ _eq: [{{ _payload: toolName }}, send_mail] }}
        ':then': {{ ':throw': broken }}
      - ':return': {{ allow: true }}
agents:
{}
pages: [{{ id: p }}]
",
        agents.concat()
    );
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

async fn count_sent_mails(server: &Server) -> u64 {
    let count = server.request(Method::POST, "/api/endpoints/p/count").json(&json!({})).send().await.unwrap();
    count.json::<Value>().await.unwrap().as_u64().unwrap()
}

/// Asks an agent to send a mail through two levels of sub-agents.
async fn send_mail_task(server: &Server, agent: &str) -> Vec<Value> {
    let mail = r#"send_mail {"text":"hello"}"#;
    let mailer = format!("mailer {}", json!({ "task": mail }));
    let middle = format!("middle {}", json!({ "task": mailer }));
    let received = server.message_to(&format!("p/{agent}"), agent, &middle).send().await.unwrap();
    chunks(received).await
}

#[tokio::test]
async fn policy_of_a_parent_applies_to_sub_agents() {
    let (server, _folder) = serve().await;
    let check = async |agent: &str, expected: &str, count: u64| {
        let received = send_mail_task(&server, agent).await;
        let text: String = received.iter().filter_map(|chunk| chunk["delta"].as_str()).collect();
        assert!(text.contains(expected), "{agent}: {text}");
        assert_eq!(count_sent_mails(&server).await, count, "{agent}");
    };
    check("strict", "Not allowed: not by mail.", 0).await;
    check("judged", "Not allowed: mailer may not, True.", 0).await;
    check("broken", "Not allowed: the policy could not be evaluated for this call.", 0).await;
    check("free", "sent", 1).await;
}

#[tokio::test]
async fn ask_policy_of_a_parent_asks_the_user() {
    let (server, _folder) = serve().await;
    let received = send_mail_task(&server, "careful").await;
    assert!(received.iter().any(|chunk| chunk["type"] == "tool-approval-request"), "{received:?}");
    assert_eq!(count_sent_mails(&server).await, 0);
    let mut message = server.conversation("careful").await["messages"].as_array().unwrap().last().unwrap().clone();
    let part =
        message["parts"].as_array_mut().unwrap().iter_mut().find(|part| part["state"] == "approval-requested").unwrap();
    part["state"] = "approval-responded".into();
    part["approval"]["approved"] = true.into();
    let body = json!({ "id": "careful", "messages": [message] });
    let yes =
        server.request(Method::POST, "/api/agent/p/careful?conversationId=careful").json(&body).send().await.unwrap();
    chunks(yes).await;
    assert_eq!(count_sent_mails(&server).await, 1);
}
