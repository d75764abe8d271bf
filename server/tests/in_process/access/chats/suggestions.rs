//! Suggestions of what to ask next: for whom, how many, and what counts.

use crate::access::*;

const CONFIG: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
limits: { quotas: [{ users: [poor], per: day, tokens: 5000 }] }
agents:
  - { id: helper, type: Agent, connectionId: demo, properties: { model: demo }, followUps: true, auth: public }
  - { id: brief, type: Agent, connectionId: demo, properties: { model: demo }, followUps: { count: 1, when: always }, auth: public }
  - { id: plain, type: Agent, connectionId: demo, properties: { model: demo }, auth: public }
  - { id: team, type: Agent, connectionId: demo, properties: { model: demo }, followUps: true, auth: { roles: [editor] } }
pages: [{ id: p, auth: public, blocks: [{ id: chat, type: AgentChat, properties: { agentId: brief } }] }]
";

struct Asked {
    routes: Router,
    who: Caller,
}

impl Asked {
    async fn new(name: &str) -> Self {
        Self { routes: serve(CONFIG).await, who: caller((name, true, &["editor"])) }
    }

    async fn say(&self, agent: &str, text: &str) {
        let (status, answer) = call_route(&self.routes, &self.who, send("p", agent, agent, text)).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// Returns the suggestions in the conversation with an agent, or the status and the message.
    async fn suggest(&self, agent: &str, body: Value) -> Result<Vec<String>, String> {
        self.suggest_to(&self.who, agent, body).await
    }

    async fn suggest_to(&self, who: &Caller, agent: &str, body: Value) -> Result<Vec<String>, String> {
        let asked = post(format!("/api/conversations/{agent}/suggestions"), body);
        let (status, answer) = call_route(&self.routes, who, asked).await;
        let answer: Value = serde_json::from_str(&answer).unwrap();
        match status {
            200 => Ok(serde_json::from_value(answer["suggestions"].clone()).unwrap()),
            _ => Err(format!("{status} {}", answer["error"]["message"])),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_unasked_questions_are_suggested() {
    let asked = Asked::new("ada").await;
    asked.say("helper", "What can you do?").await;
    let three = ["Show me a table and some code.", "Count to 20.", "Write a long answer."];
    assert_eq!(asked.suggest("helper", json!({})).await.unwrap(), three);
    for (n, expected) in [(1, 1), (5, 5), (0, 1), (-3, 1), (99, 5)] {
        assert_eq!(asked.suggest("helper", json!({ "n": n })).await.unwrap().len(), expected, "{n}");
    }
    asked.say("brief", "Hello!").await;
    assert_eq!(asked.suggest("brief", json!({})).await.unwrap(), ["What can you do?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_of_the_request_are_read_instead() {
    let asked = Asked::new("ada").await;
    asked.say("helper", "Hello!").await;
    let rich = json!([{ "type": "text", "text": "Count to 20." }, { "type": "image", "url": "x" }]);
    let of = |role: &str, content: Value| json!({ "role": role, "content": content });
    let body = json!({ "n": 2, "messages": [of("human", rich), of("ai", json!("1 2 3"))] });
    assert_eq!(asked.suggest("helper", body).await.unwrap(), ["What can you do?", "Show me a table and some code."]);
    // There is no answer yet, or nothing to read.
    for messages in [json!([]), json!([of("user", json!("Hello!"))]), json!([of("assistant", json!(null))])] {
        assert_eq!(asked.suggest("helper", json!({ "messages": messages })).await.unwrap(), [""; 0]);
    }
    let many: Vec<_> = (0..201).map(|_| of("ai", json!("x"))).collect();
    let refused = asked.suggest("helper", json!({ "messages": many })).await;
    assert_eq!(refused.unwrap_err(), "422 \"At most 200 messages are read.\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_may_use_the_agent_gets_suggestions() {
    let asked = Asked::new("ada").await;
    for agent in ["helper", "plain", "team"] {
        asked.say(agent, "Hello!").await;
    }
    assert_eq!(asked.suggest("team", json!({})).await.unwrap().len(), 3);
    let refused = asked.suggest("plain", json!({})).await.unwrap_err();
    assert!(refused.starts_with("422 \"This agent suggests no questions"), "{refused}");
    let stranger = caller(("eve", true, &["editor"]));
    let former = caller(("ada", true, &[]));
    for (who, agent) in [(&stranger, "helper"), (&former, "team")] {
        let refused = asked.suggest_to(who, agent, json!({})).await.unwrap_err();
        assert!(refused.starts_with("404"), "{refused}");
    }
}

/// The requests count in the usage of the user, and end with their quota.
#[tokio::test(flavor = "multi_thread")]
async fn suggestions_count_in_quotas() {
    let asked = Asked::new("poor").await;
    asked.say("helper", "Hello!").await;
    let mut suggested = 0;
    let refused = loop {
        match asked.suggest("helper", json!({})).await {
            Ok(_) if suggested < 200 => suggested += 1,
            Ok(_) => panic!("the quota is never used up"),
            Err(refused) => break refused,
        }
    };
    assert!(suggested > 2 && refused.starts_with("429"), "{suggested} {refused}");
}
