//! Connections to model providers that an administrator adds while the server runs, and the first steps.

use crate::http::chunks;
use crate::process::Server;
use crate::sign_in::accounts::{self, create_first_account, form_request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use reqwest::Method;
use reqwest::header::{COOKIE, LOCATION};
use serde_json::{Value, json};
use std::fs::File;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::net::TcpListener;

const CANARY: &str = "sk-canary-7c1f0d2e9a";
const KEY: (&str, &str) = ("CHATWRIGHT_SECRETS_KEY", "0123456789abcdef0123456789abcdef");

/// Starts a provider that names two models and says which of them was asked, if the key is right.
async fn provider() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}/v1", listener.local_addr().unwrap());
    let has_key = |headers: &HeaderMap| {
        headers.get("authorization").is_some_and(|value| value == format!("Bearer {CANARY}").as_str())
    };
    let list = async move |headers: HeaderMap| {
        if has_key(&headers) {
            Json(json!({ "object": "list", "data": [{ "id": "small-1" }, { "id": "large-1" }] })).into_response()
        } else {
            StatusCode::UNAUTHORIZED.into_response()
        }
    };
    let complete = async move |headers: HeaderMap, Json(request): Json<Value>| {
        if !has_key(&headers) {
            return StatusCode::UNAUTHORIZED.into_response();
        }
        let text = format!("I am {}", request["model"].as_str().unwrap());
        let choice = |delta: Value, reason: Value| json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        let events = [
            json!({ "choices": choice(json!({ "content": text }), Value::Null) }),
            json!({ "choices": choice(json!({}), json!("stop")) }),
            json!({ "choices": [], "usage": { "prompt_tokens": 12, "completion_tokens": 3 } }),
        ];
        let events = events.map(|event| format!("data: {event}\n\n")).concat();
        ([("content-type", "text/event-stream")], format!("{events}data: [DONE]\n\n")).into_response()
    };
    let router = Router::new().route("/v1/models", get(list)).route("/v1/chat/completions", post(complete));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    address
}

fn write_config(more: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let text = format!(
        "
connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}]
models: [{{ id: quick, connectionId: demo, model: demo-quick }}]
prices: {{ small: {{ input: 1, output: 2 }} }}
agents:
  - {{ id: helper, type: Agent, connectionId: demo, properties: {{ model: demo }} }}
  - {{ id: chooser, type: Agent, models: [quick] }}
pages:
  - {{ id: home, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: helper }} }}, {{ id: other, type: AgentChat, properties: {{ agentId: chooser }} }}] }}
{more}"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), text).unwrap();
    folder
}

/// Returns the answer of an agent.
async fn ask(server: &Server, page: &str, id: &str) -> String {
    let response = server.message_to(page, id, "Who are you?").send().await.unwrap();
    if response.status() != 200 {
        return response.status().to_string();
    }
    chunks(response).await.iter().filter_map(|chunk| chunk["delta"].as_str()).collect()
}

#[tokio::test]
async fn administrator_adds_a_model_and_agents_answer_with_it() {
    let url = provider().await;
    let folder = write_config("");
    let log = folder.path().join("log");
    let config = folder.path().to_str().unwrap();
    let server = Server::start_logging_with_env(&[KEY], &["--config", config], File::create(&log).unwrap());
    let path = "/api/admin/models/llm";
    let page = async |path: &str| server.request(Method::GET, path).send().await.unwrap().text().await.unwrap();
    assert!(page("/admin").await.contains("/admin/start"), "the owner is led to the first steps");
    assert!(page("/admin/start").await.contains("Only the built-in demo model answers so far."));

    // With a wrong key it is stored, and what is wrong is said.
    let mut connection = json!({ "provider": "compatible", "baseURL": url, "apiKey": "wrong-canary" });
    let body = json!({ "name": "llm", "connection": connection });
    let (status, created) = server.call(Method::POST, "/api/admin/models", body.clone()).await;
    assert_eq!((status, &created["connection"]["apiKey"]), (201, &json!("***")), "{created}");
    assert_eq!(server.call(Method::POST, "/api/admin/models", body).await.0, 409);
    let (_, listed) = server.call(Method::POST, &format!("{path}/list"), Value::Null).await;
    assert!(listed["error"].as_str().unwrap().contains("rejects the API key (status 401)"), "{listed}");
    let (status, refused) = server.call(Method::POST, &format!("{path}/test"), json!({})).await;
    assert_eq!(status, 422, "{refused}");

    // With the right one, the provider's models are known, one is chosen, tested and used.
    connection["apiKey"] = CANARY.into();
    let change = |version: i64, connection: &Value| json!({ "version": version, "connection": connection });
    assert_eq!(server.call(Method::PUT, path, change(1, &connection)).await.0, 200);
    assert_eq!(server.call(Method::PUT, path, change(1, &connection)).await.0, 409);
    let (_, listed) = server.call(Method::POST, &format!("{path}/list"), Value::Null).await;
    assert_eq!(listed["models"], json!(["large-1", "small-1"]));
    connection["apiKey"] = "***".into();
    connection["models"] = json!(["small-1", "large-1"]);
    connection["agents"] = json!(["helper", "chooser"]);
    connection["agent"] = json!({ "name": "Assistant", "instructions": "Be brief." });
    let (status, changed) = server.call(Method::PUT, path, change(2, &connection)).await;
    assert_eq!((status, &changed["version"], &changed["problems"]), (200, &json!(3), &json!([])), "{changed}");
    assert_eq!(changed["usedBy"], json!(["helper", "chooser", "assistant"]));
    let (_, tested) = server.call(Method::POST, &format!("{path}/test"), json!({})).await;
    let found = ["model", "answer", "inputTokens", "outputTokens", "costMicroUsd"].map(|key| tested[key].clone());
    assert_eq!(found, [json!("small-1"), json!("I am small-1"), json!(12), json!(3), json!(18)], "{tested}");
    let (_, tested) = server.call(Method::POST, &format!("{path}/test"), json!({ "model": "large-1" })).await;
    assert_eq!((&tested["answer"], &tested["costMicroUsd"]), (&json!("I am large-1"), &Value::Null));

    assert_eq!(ask(&server, "home/helper", "c1").await, "I am small-1");
    assert!(!ask(&server, "home/chooser", "c2").await.contains("small-1"), "its default stays");
    assert_eq!(ask(&server, "assistant/assistant", "c3").await, "I am small-1");
    let (_, models) = server.call(Method::GET, "/api/models", Value::Null).await;
    let large = models["models"].as_array().unwrap().iter().find(|model| model["id"] == "llm-large-1").unwrap();
    assert!(large["agents"].to_string().contains("chooser"), "{models}");
    assert!(page("/admin/start").await.contains("href=\"/home\""), "{}", page("/admin/start").await);
    assert!(!page("/admin").await.contains("/admin/start"));
    assert!(page("/admin/models/llm").await.contains("Ask the first question"));

    // Off, agents answer as the config says, and its own agent is gone.
    connection["enabled"] = false.into();
    assert_eq!(server.call(Method::PUT, path, change(3, &connection)).await.0, 200);
    assert!(!ask(&server, "home/helper", "c4").await.contains("small-1"));
    assert!(ask(&server, "assistant/assistant", "c5").await.contains("404"));

    // The key was sent to the provider, and is nowhere else.
    let (_, yaml) = server.call(Method::GET, "/api/admin/model-connections.yaml", Value::Null).await;
    assert!(yaml.as_str().unwrap().contains("_secret: LLM_API_KEY"), "{yaml}");
    let (_, list) = server.call(Method::GET, "/api/admin/models", Value::Null).await;
    let pages = [page("/admin/models").await, page("/admin/models/llm").await, page("/admin/models.csv").await];
    assert_eq!(server.call(Method::DELETE, path, Value::Null).await.0, 204);
    assert_eq!(server.call(Method::DELETE, path, Value::Null).await.0, 404);
    let (_, audit) = server.call(Method::GET, "/api/admin/audit?kind=administration", Value::Null).await;
    for action in
        ["add_model_connection", "change_model_connection", "delete_model_connection", "test_model_connection"]
            .into_iter()
            .chain(["list_provider_models", "export_model_connections"])
    {
        assert!(audit.to_string().contains(action), "{action}: {audit}");
    }
    let file = server.database.trim_start_matches("sqlite://");
    let database =
        [file.to_owned(), format!("{file}-wal")].map(|file| std::fs::read(file).unwrap_or_default()).concat();
    let database = String::from_utf8_lossy(&database).into_owned();
    assert!(database.contains("large-1"));
    let texts = [created, refused, changed, tested, yaml, list, audit].iter().map(Value::to_string).collect::<Vec<_>>();
    for text in texts.into_iter().chain(pages).chain([std::fs::read_to_string(&log).unwrap(), database]) {
        let at = text.find("canary").map(|at| text[text.floor_char_boundary(at.saturating_sub(200))..at].to_owned());
        assert_eq!(at, None);
    }
}

#[tokio::test]
async fn another_server_of_the_database_answers_with_an_added_model() {
    let Some(database) = test_postgres::new_database().await else { return };
    let url = provider().await;
    let folder = write_config("");
    let config = folder.path().to_str().unwrap();
    let start = || Server::start_with_env(&[KEY], &["--config", config, "--database", &database]);
    let (a, b) = (start(), start());
    let connection =
        json!({ "provider": "compatible", "baseURL": url, "apiKey": CANARY, "models": ["m"], "agents": ["helper"] });
    let body = json!({ "name": "llm", "connection": connection });
    assert_eq!(a.call(Method::POST, "/api/admin/models", body).await.0, 201);
    let becomes = async |expected: bool| {
        let begun = Instant::now();
        for number in 0.. {
            let said = ask(&b, "home/helper", &format!("c{expected}{number}")).await;
            if said.contains("I am m") == expected {
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{said}");
        }
    };
    becomes(true).await;
    assert_eq!(a.call(Method::DELETE, "/api/admin/models/llm", Value::Null).await.0, 204);
    becomes(false).await;
}

#[tokio::test]
async fn config_may_forbid_it() {
    let folder = write_config("modelConnections: { atRunTime: false }\n");
    let server = Server::start_with_env(&[KEY], &["--config", folder.path().to_str().unwrap()]);
    let body = json!({ "name": "x", "connection": { "provider": "openai", "apiKey": CANARY } });
    let (status, refused) = server.call(Method::POST, "/api/admin/models", body).await;
    assert_eq!(status, 422);
    assert!(refused.to_string().contains("modelConnections.atRunTime"), "{refused}");
}

/// Private addresses are refused on a server with accounts, and the missing key is explained.
#[tokio::test]
async fn first_administrator_is_led_to_the_first_steps() {
    let (server, _folder) = accounts::serve("");
    let session = create_first_account(&server).await;
    let page = async |method: Method, path: &str, form: &str| {
        let request = server.request(method, path).header(COOKIE, &session).header("origin", &server.origin);
        let form = request.header("content-type", "application/x-www-form-urlencoded").body(form.to_owned());
        let response = form.send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, new) = page(Method::GET, "/admin/models/new", "").await;
    assert_eq!(status, 200);
    assert!(new.contains("<code>CHATWRIGHT_SECRETS_KEY</code>"), "{new}");
    let (status, refused) = page(Method::POST, "/admin/models", &format!("provider=openai&apiKey={CANARY}")).await;
    assert!(status == 422 && refused.contains("cannot store API keys yet"), "{refused}");
    assert!(!refused.contains("canary"));
    let (status, refused) = page(Method::POST, "/admin/models", "provider=ollama").await;
    assert!(status == 422 && refused.contains("The address is not public"), "{refused}");
    let (_, steps) = page(Method::GET, "/admin/start", "").await;
    assert!(steps.contains("Invite users") && steps.contains("<code>CHATWRIGHT_SECRETS_KEY</code>"), "{steps}");
}

#[tokio::test]
async fn first_administrator_goes_where_they_wanted_if_a_provider_answers() {
    let check = async |config: String, next: &str, expected: &str| {
        let folder = TempDir::new().unwrap();
        std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
        let server = Server::start_with(&["--config", folder.path().to_str().unwrap()]);
        let token = server.first_account_token().await;
        let fields = [("token", token.as_str()), ("name", "ada"), ("password", accounts::PASSWORD), ("next", next)];
        let response = form_request(&server, "/auth/first-admin", &fields).send().await.unwrap();
        assert_eq!(response.headers()[LOCATION], expected);
    };
    check(accounts::config(""), "/", "/admin/start").await;
    check(accounts::config(""), "/open", "/open").await;
    let provider =
        "connections: [{ id: llm, type: OpenAICompatible, properties: { baseURL: 'https://llm.example.com/v1' } }, ";
    check(accounts::config("").replace("connections: [", provider), "/", "/").await;
}
