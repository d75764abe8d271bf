//! The policy of the whole server: every agent has it, and none can allow more.

use crate::process::Server;
use crate::provider::start_provider;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;

async fn serve() -> (Server, TempDir) {
    let model = start_provider().await;
    let tool = |id: &str| {
        format!(
            r#"{{ id: {id}, description: D, payloadSchema: {{ type: object }}, routine: [{{ ":return": "{id}: done" }}] }}"#
        )
    };
    let agent = |id: &str, more: &str| {
        format!(
            "{{ id: {id}, type: Agent, connectionId: model, properties: {{ model: m }}, tools: [find, send, drop, judged]{more} }}"
        )
    };
    let judge = r#"{ id: judge, type: InternalApi, routine: [{ ":return": { allow: { _ne: [{ _payload: toolName }, judged] }, reasons: [{ message: "Not by the judge." }] } }] }"#;
    let config = format!(
        "connections: [{{ id: model, type: OpenAICompatible, properties: {{ baseURL: \"{model}\" }} }}]\n\
         policy: {{ rules: [{{ tools: [drop], action: deny, reason: Not on this server. }}, {{ tools: [send], action: ask }}], endpoint: judge }}\n\
         agents:\n  - {}\n  - {}\n  - {}\n  - {}\n\
         api:\n  - {}\n  - {}\n  - {}\n  - {}\n  - {judge}\n\
         pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: plain }} }}] }}]\n",
        agent("plain", ""),
        agent("mild", ", policy: { rules: [{ tools: ['*'], action: allow }] }"),
        agent("strict", ", policy: { rules: [{ tools: [find], action: deny, reason: Not by this agent. }] }"),
        agent("lead", ", agents: [plain]"),
        tool("find"),
        tool("send"),
        tool("drop"),
        tool("judged"),
    );
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

#[tokio::test]
async fn policy_of_the_server_applies_to_every_agent() {
    let (server, _folder) = serve().await;
    let check = async |agent: &str, prompt: &str, expected: &str| {
        let body = json!({ "agent_name": agent, "input": { "prompt": prompt }, "tools": true });
        let answer = server.request(Method::POST, "/api/runs/invoke").json(&body).send().await.unwrap();
        let answer: Value = answer.json().await.unwrap();
        let output = answer["output"].as_str().unwrap_or_else(|| panic!("{answer}"));
        assert!(output.starts_with(expected), "{agent}: {output}");
    };
    let (asked, denied) = ("Not run: it needs the user's approval", "Not allowed: Not on this server.");
    for agent in ["plain", "mild"] {
        check(agent, "find {}", "find: done").await;
        check(agent, "send {}", asked).await;
        check(agent, "drop {}", denied).await;
        check(agent, "judged {}", "Not allowed: Not by the judge.").await;
    }
    // An agent can deny more.
    check("strict", "find {}", "Not allowed: Not by this agent.").await;
    check("strict", "drop {}", denied).await;
    // Sub-agents have the policy as well.
    check("lead", &format!("plain {}", json!({ "task": "drop {}" })), denied).await;
    check("lead", &format!("plain {}", json!({ "task": "find {}" })), "find: done").await;
}
