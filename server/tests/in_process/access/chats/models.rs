//! The models among which users choose: who sees which, and which one answers.

use crate::access::*;

const MODELS: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
models:
  - { id: fast, title: Fast, connectionId: demo, model: demo-fast, price: { input: 1, output: 2 } }
  - id: deep
    connectionId: demo
    model: demo-deep
    thinking: true
    vision: false
    contextTokens: 9000
    whenThinking: { providerOptions: { demo: { thinking: true } } }
    whenNotThinking: { providerOptions: { demo: { thinking: false } } }
api:
  - id: e
    description: Deletes an article
    payloadSchema: { type: object, properties: { query: { type: string } } }
    routine: [{ ':return': deleted }]
agents:
  - id: chooser
    type: Agent
    title: Choose
    description: Chooses.
    models: [fast, deep]
    tools: [{ endpointId: e, name: delete_it, confirm: true }]
    auth: public
  - { id: team, type: Agent, models: [deep], auth: { roles: [editor] } }
  - { id: plain, type: Agent, connectionId: demo, properties: { model: demo }, auth: public }
  - { id: varying, type: Agent, models: [deep, fast], properties: { model: fast, temperature: { _payload: urlQuery.t } }, auth: public }
pages: [{ id: p, auth: public, blocks: [{ id: chat, type: AgentChat, properties: { agentId: chooser } }] }]
";

#[tokio::test(flavor = "multi_thread")]
async fn models_are_listed_with_the_agents_that_the_caller_may_use() {
    let routes = serve(MODELS).await;
    let listed = async |who: &Caller| {
        let (status, body) = call_route(&routes, who, get("/api/models".to_owned())).await;
        assert_eq!(status, 200);
        let list: Value = serde_json::from_str(&body).unwrap();
        let models = list["models"].as_array().unwrap().iter().map(Value::to_string);
        models.collect::<Vec<_>>().join("\n")
    };
    let (nobody, editor) = (caller(("nobody", false, &["editor"])), caller(("eve", true, &["editor"])));
    insta::assert_snapshot!(listed(&nobody).await, @r#"
    {"id":"fast","title":"Fast","model":"demo-fast","provider":"Demo","thinking":false,"price":{"input":1.0,"output":2.0},"agents":[{"id":"chooser","default":true},{"id":"varying","default":true}]}
    {"id":"deep","title":"demo-deep","model":"demo-deep","provider":"Demo","thinking":true,"vision":false,"contextTokens":9000,"agents":[{"id":"chooser","default":false},{"id":"varying","default":false}]}
    {"title":"demo","model":"demo","provider":"Demo","thinking":false,"agents":[{"id":"plain","default":true}]}
    "#);
    assert!(!listed(&nobody).await.contains("team") && listed(&editor).await.contains("team"));
}

const NAMED: &str = "
connections: [{ id: demo, type: Demo, properties: { delayMs: 0 } }]
models:
  - { id: fast, title: Fast, connectionId: demo, model: demo-fast }
  - { id: secret, connectionId: demo, model: demo-secret }
agents:
  - { id: chooser, type: Agent, models: [fast], auth: public }
  - { id: team, type: Agent, models: [secret], auth: { roles: [editor] } }
  - { id: plain, type: Agent, connectionId: demo, properties: { model: maker/demo }, auth: public }
pages: [{ id: p, auth: public }]
";

#[tokio::test(flavor = "multi_thread")]
async fn a_model_is_shown_by_its_id_or_its_name_to_those_who_may_use_it() {
    let routes = serve(NAMED).await;
    let (nobody, editor) = (caller(("nobody", false, &["editor"])), caller(("eve", true, &["editor"])));
    let check = async |who: &Caller, name: &str, expected: (u16, &str)| {
        let (status, body) = call_route(&routes, who, get(format!("/api/models/{name}"))).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        assert_eq!((status, body["title"].as_str().unwrap_or_default()), expected, "{name}: {body}");
    };
    check(&nobody, "fast", (200, "Fast")).await;
    check(&nobody, "demo-fast", (200, "Fast")).await;
    check(&nobody, "maker%2Fdemo", (200, "maker/demo")).await;
    check(&editor, "secret", (200, "demo-secret")).await;
    check(&nobody, "secret", (404, "")).await;
    check(&nobody, "demo-secret", (404, "")).await;
    check(&nobody, "none", (404, "")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_listed_as_far_as_the_caller_may_use_them() {
    let routes = serve(MODELS).await;
    let listed = async |who: &Caller| {
        let (status, body) = call_route(&routes, who, get("/api/agents".to_owned())).await;
        assert_eq!(status, 200);
        let list: Value = serde_json::from_str(&body).unwrap();
        list["agents"].as_array().unwrap().iter().map(Value::to_string).collect::<Vec<_>>().join("\n")
    };
    let (nobody, editor) = (caller(("nobody", false, &["editor"])), caller(("eve", true, &["editor"])));
    insta::assert_snapshot!(listed(&nobody).await, @r#"
    {"id":"chooser","title":"Choose","description":"Chooses.","page":"p"}
    {"id":"plain","title":"plain","page":"p"}
    {"id":"varying","title":"varying","page":"p"}
    "#);
    assert!(listed(&editor).await.contains(r#"{"id":"team","title":"team","page":"p"}"#));
}

/// A client that asks an agent in one conversation.
struct Client {
    routes: Router,
    who: Caller,
    agent: &'static str,
}

impl Client {
    async fn new(agent: &'static str) -> Self {
        Self { routes: serve(MODELS).await, who: caller(("ada", true, &[])), agent }
    }

    /// Sends a body with these keys; returns the status and the stream.
    async fn send(&self, mut body: Value, keys: Value) -> (u16, String) {
        body.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        call_route(&self.routes, &self.who, post(format!("/api/agent/p/{}?conversationId=c", self.agent), body)).await
    }

    /// Returns which model answers a message, and whether it thinks by its metadata and by its stream.
    async fn ask(&self, text: &str, keys: Value) -> (String, String, bool, bool) {
        answered(self.send(json!({ "messages": [message(text)] }), keys).await)
    }

    async fn refusal(&self, keys: Value) -> String {
        let (status, body) = self.send(json!({ "messages": [message("Hello")] }), keys).await;
        let body: Value = serde_json::from_str(&body).unwrap();
        format!("{status} {} {}", body["error"]["path"], body["error"]["message"])
    }
}

fn answered((status, stream): (u16, String)) -> (String, String, bool, bool) {
    assert_eq!(status, 200, "{stream}");
    let events = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data: ")?).ok());
    let start = events.into_iter().find(|event| event["type"] == "start").unwrap();
    let text = |key: &str| start["messageMetadata"][key].as_str().unwrap_or_default().to_owned();
    let thinks = start["messageMetadata"]["thinking"] == true;
    (text("modelId"), text("model"), thinks, stream.contains(r#""delta":"Third, ""#))
}

fn of(id: &str, thinks: bool) -> (String, String, bool, bool) {
    (id.to_owned(), format!("demo/demo-{id}"), thinks, thinks)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_choice_holds_for_the_conversation_until_it_is_changed() {
    let client = Client::new("chooser").await;
    assert_eq!(client.ask("Hello", json!({})).await, of("fast", false));
    assert_eq!(client.ask("Hello", json!({ "model": "deep" })).await, of("deep", false));
    assert_eq!(client.ask("Hello", json!({ "thinking": true })).await, of("deep", true));
    assert_eq!(client.ask("Hello", json!({})).await, of("deep", true));
    let regenerate = async |keys| {
        let (_, view) = call_route(&client.routes, &client.who, get("/api/conversations/c".to_owned())).await;
        let view: Value = serde_json::from_str(&view).unwrap();
        let messages = view["messages"].as_array().unwrap();
        let body = json!({ "messages": [messages[messages.len() - 2]], "trigger": "regenerate-message" });
        answered(client.send(body, keys).await)
    };
    assert_eq!(regenerate(json!({})).await, of("deep", true));
    assert_eq!(regenerate(json!({ "model": "fast" })).await, of("fast", false));
    assert_eq!(client.ask("Hello", json!({ "model": "deep", "thinking": true })).await, of("deep", true));

    let (_, usage) = call_route(&client.routes, &client.who, get("/api/conversations/c/usage".to_owned())).await;
    let usage: Value = serde_json::from_str(&usage).unwrap();
    let steps = usage["requests"].as_array().unwrap().iter();
    // Only the price of the fast model is known.
    let models: Vec<_> = steps.map(|step| (step["model"].as_str().unwrap(), step["costUsd"].is_null())).collect();
    let (fast, deep) = (("demo-fast", false), ("demo-deep", true));
    assert_eq!(models, [fast, deep, deep, deep, deep, fast, deep], "{usage}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_goes_on_with_the_model_that_made_it() {
    let client = Client::new("chooser").await;
    let keys = json!({ "model": "deep", "thinking": true });
    assert_eq!(client.ask("Delete the article about refunds", keys).await.0, "deep");
    let (_, view) = call_route(&client.routes, &client.who, get("/api/conversations/c".to_owned())).await;
    let view: Value = serde_json::from_str(&view).unwrap();
    let mut answer = view["messages"][1].clone();
    let parts = answer["parts"].as_array_mut().unwrap();
    let call = parts.iter_mut().find(|part| part["state"] == "approval-requested").unwrap();
    call["state"] = "approval-responded".into();
    call["approval"]["approved"] = true.into();
    let sent = client.send(json!({ "messages": [answer] }), json!({ "model": "fast", "thinking": false })).await;
    let (model_id, model, thinks, _) = answered(sent);
    assert_eq!((model_id.as_str(), model.as_str(), thinks), ("deep", "demo/demo-deep", true));
}

#[tokio::test(flavor = "multi_thread")]
async fn models_that_the_agent_does_not_have_are_refused() {
    let chooser = Client::new("chooser").await;
    let plain = Client::new("plain").await;
    let refusals = [
        chooser.refusal(json!({ "model": "nowhere" })).await,
        chooser.refusal(json!({ "thinking": true })).await,
        plain.refusal(json!({ "model": "fast" })).await,
        plain.refusal(json!({ "thinking": true })).await,
    ];
    insta::assert_snapshot!(refusals.join("\n"), @r#"
    422 "/model" "This agent does not have this model. It has `fast`, `deep`."
    422 "/thinking" "The model `fast` does not think."
    422 "/model" "This agent has one model: its config has no `models`."
    422 "/thinking" "Thinking cannot be switched on here: the agent's config has no `models`."
    "#);
    assert_eq!(plain.ask("Hello", json!({ "thinking": false })).await.1, "demo/demo");
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_with_operators_answer_with_the_chosen_model() {
    let client = Client::new("varying").await;
    let keys = |keys: Value| {
        let mut all = json!({ "urlQuery": { "t": 1 } });
        all.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        all
    };
    assert_eq!(client.ask("Hello", keys(json!({}))).await, of("fast", false));
    assert_eq!(client.ask("Hello", keys(json!({ "model": "deep", "thinking": true }))).await, of("deep", true));
}
