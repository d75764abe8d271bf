//! Routines that send requests to web services and models.

use axum::extract::{Path, Query};
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};
use contract::{Bearer, RunScope};
use endpoints::{
    CallContext, Connection, Endpoint, EndpointError, Endpoints, GenerateRequest, HttpConnection, HttpSettings,
    NoUserToken, TextModels, UserTokens,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use url::Url;

/// A web service that requires a key.
async fn service() -> Url {
    let orders = |Path(id): Path<String>, Query(query): Query<BTreeMap<String, String>>, headers: HeaderMap| async move {
        let header =
            |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        Json(json!({ "id": id, "query": query, "key": header("x-key"), "trace": header("x-trace") }))
    };
    let router = Router::new()
        .route("/v1/orders/{id}", get(orders))
        .route(
            "/v1/orders",
            post(|Json(order): Json<Value>| async move { (StatusCode::CREATED, Json(json!({ "got": order }))) }),
        )
        .route("/v1/mine", get(mine))
        .route("/v1/text", get(|| async { "plain" }))
        .route("/v1/gone", get(|| async { (StatusCode::GONE, "secret details").into_response() }))
        .route("/v1/wrong", get(|| async { ([("content-type", "application/json")], "{").into_response() }))
        .route("/v1/bytes", get(|| async { vec![0xff_u8, 0xfe] }));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/v1", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    url
}

/// Returns the token, unless it is an old one.
async fn mine(headers: HeaderMap) -> axum::response::Response {
    let token = headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    if token.contains("old") {
        (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer error=\"invalid_token\"")]).into_response()
    } else {
        Json(json!({ "got": token })).into_response()
    }
}

/// Tokens of users, of which those in the list were refused before.
#[derive(Default)]
struct Tokens {
    refused: Mutex<Vec<String>>,
}

impl UserTokens for Tokens {
    fn token<'a>(&'a self, scope: &'a RunScope) -> BoxFuture<'a, Result<Bearer, NoUserToken>> {
        let is_first = self.refused.lock().unwrap().is_empty();
        let token = match scope.user_id.as_str() {
            "ada" if is_first => Ok(Bearer::new("old-token-of-ada")),
            "ada" => Ok(Bearer::new("new-token-of-ada")),
            "eve" => Ok(Bearer::new("old-token-of-eve")),
            _ => Err(NoUserToken { message: "for the model".to_owned(), for_user: Some("for the user".to_owned()) }),
        };
        async move { token }.boxed()
    }

    fn refused<'a>(&'a self, _: &'a RunScope, token: &'a Bearer, challenge: &'a str) -> BoxFuture<'a, bool> {
        assert!(challenge.contains("invalid_token"), "{challenge}");
        self.refused.lock().unwrap().push(token.expose().to_owned());
        async { true }.boxed()
    }
}

/// A model that returns its request.
struct Echo;

impl TextModels for Echo {
    fn generate(&self, question: GenerateRequest, _: contract::ModelUse) -> BoxFuture<'_, Result<Value, String>> {
        async move {
            match question.schema {
                Some(_) => Ok(json!({ "about": question.prompt })),
                None => {
                    Ok(Value::String(format!("{} / {:?} / {}", question.model, question.instructions, question.prompt)))
                }
            }
        }
        .boxed()
    }
}

async fn run(allow_private: bool, routine: Value, payload: Value) -> String {
    let settings = HttpSettings {
        base_url: service().await,
        headers: vec![("X-Key".to_owned(), "k3y".to_owned().into())],
        allow_private,
        timeout: Duration::from_secs(60),
    };
    let connections = HashMap::from([
        ("shop".to_owned(), Connection::Http(HttpConnection::new(settings).unwrap())),
        ("model".to_owned(), Connection::Models(Arc::new(Echo))),
    ]);
    let routine = serde_json::from_value(routine).unwrap();
    let endpoint = Endpoint { id: "e".to_owned(), routine, ..Endpoint::default() };
    let endpoints = Endpoints::new(vec![endpoint], connections, Duration::from_secs(60)).unwrap();
    let context = CallContext {
        agent: None,
        user_id: "ada".to_owned(),
        gate: Arc::new(|_: &str| Ok(())),
        models: contract::ModelUse::default(),
        idempotency_key: None,
        cancel: CancellationToken::new(),
        reports: contract::CallReports::default(),
    };
    endpoints.call("e", payload, &context).await.map_or_else(|error| error.to_string(), |value| value.to_string())
}

/// Checks the result of one request.
async fn check(properties: Value, expected: &str) {
    let routine = json!([
        { "id": "a", "type": "Http", "connectionId": "shop", "properties": properties },
        { ":return": { "_step": "a" } },
    ]);
    assert_eq!(run(true, routine, json!({ "id": "7", "up": "../admin" })).await, expected, "{properties}");
}

#[tokio::test]
async fn web_service_requests_return_status_and_body() {
    check(
        json!({ "path": { "_payload": "id" }, "headers": {} }),
        "The step `a` failed: the server responded with status 404",
    )
    .await;
    check(
        json!({ "path": "/orders/7", "query": { "id": { "_payload": "id" } }, "headers": { "X-Trace": "t", "X-Key": "mine" } }),
        r#"{"status":200,"body":{"id":"7","query":{"id":"7"},"key":"k3y","trace":"t"}}"#,
    )
    .await;
    check(
        json!({ "method": "POST", "path": "/orders", "body": { "of": { "_payload": "id" } } }),
        r#"{"status":201,"body":{"got":{"of":"7"}}}"#,
    )
    .await;
    check(json!({ "path": "text" }), r#"{"status":200,"body":"plain"}"#).await;
    check(json!({ "path": "gone" }), "The step `a` failed: the server responded with status 410").await;
    check(json!({ "path": "gone", "anyStatus": true }), r#"{"status":410,"body":"secret details"}"#).await;
    check(json!({ "path": "wrong" }), "The step `a` failed: the response is not valid JSON").await;
    check(json!({ "path": "bytes" }), "The step `a` failed: the response is not text").await;
    check(json!({ "path": { "_payload": "up" } }), "The step `a` failed: the path escapes the connection's base URL")
        .await;
}

#[tokio::test]
async fn values_in_paths_are_single_segments() {
    let check = async |path: Value, id: Value, expected: &str| {
        let routine = json!([
            { "id": "a", "type": "Http", "connectionId": "shop", "properties": { "path": path } },
            { ":return": { "_step": "a.body.id" } },
        ]);
        let seen = run(true, routine, json!({ "id": id })).await;
        assert_eq!(seen, expected, "{path} {id}");
    };
    let (template, reads) = (json!({ "_template": "{{ payload.id }}" }), json!({ "_payload": "id" }));
    let parts = |id: &Value| json!({ "_string.concat": ["/orders/", id] });
    check(parts(&reads), json!("7"), r#""7""#).await;
    check(parts(&reads), json!(7), r#""7""#).await;
    check(parts(&template), json!("a b"), r#""a b""#).await;
    // The service decodes the segment.
    check(parts(&reads), json!("7/approve"), r#""7/approve""#).await;
    check(parts(&template), json!("7/approve"), r#""7/approve""#).await;
    check(json!({ "_template": "/orders/{{ payload.id }}" }), json!("7/approve"), r#""7/approve""#).await;
    check(parts(&reads), json!("?x"), r#""?x""#).await;
    let out = "The step `a` failed: the path escapes the connection's base URL";
    check(parts(&reads), json!(".."), out).await;
    check(parts(&reads), json!("%c0%ae%c0%ae/x"), out).await;
    check(parts(&reads), json!(""), "The step `a` failed: a value of the path is empty").await;
    let kind = "The step `a` failed: a value of the path is neither a text nor a number";
    for id in [json!(null), json!(true), json!(["x"])] {
        check(parts(&reads), id, kind).await;
    }
}

#[tokio::test]
async fn private_addresses_are_refused_by_default() {
    let routine = json!([{ "id": "a", "type": "Http", "connectionId": "shop", "properties": { "path": "text" } }]);
    assert_eq!(
        run(false, routine, json!({})).await,
        "The step `a` failed: the address is not public, and the connection does not allow private addresses"
    );
}

#[tokio::test]
async fn model_requests_return_text_or_an_object() {
    let ask = |kind: &str, properties: Value| {
        json!([
            { "id": "a", "type": kind, "connectionId": "model", "properties": properties },
            { ":return": { "_step": "a" } },
        ])
    };
    let payload = json!({ "q": "refunds" });
    let text = ask("GenerateText", json!({ "model": "m", "instructions": "Short.", "prompt": { "_payload": "q" } }));
    assert_eq!(run(true, text, payload.clone()).await, r#""m / Some(\"Short.\") / refunds""#);
    let object = json!({ "model": "m", "prompt": { "_payload": "q" }, "schema": { "type": "object" } });
    assert_eq!(run(true, ask("GenerateObject", object), payload.clone()).await, r#"{"about":"refunds"}"#);
    let empty = ask("GenerateText", json!({ "model": "m", "prompt": { "_payload": "none" } }));
    assert_eq!(run(true, empty, payload).await, "The step `a` failed: the prompt is empty");
}

#[tokio::test]
async fn requests_are_sent_with_the_token_of_the_user() {
    let check = async |user: &str, expected: Result<&str, &str>, refused: &[&str]| {
        let settings = HttpSettings {
            base_url: service().await,
            headers: Vec::new(),
            allow_private: true,
            timeout: Duration::from_secs(60),
        };
        let tokens = Arc::new(Tokens::default());
        let http = HttpConnection::new(settings).unwrap().with_user_tokens(tokens.clone());
        let connections = HashMap::from([("shop".to_owned(), Connection::Http(http))]);
        // A header of the routine does not replace the token.
        let request = json!({ "path": "mine", "headers": { "Authorization": "Bearer mine" } });
        let routine = json!([
            { ":try": [{ "id": "a", "type": "Http", "connectionId": "shop", "properties": request }], ":catch": [] },
            { ":return": { "_step": "a" } },
        ]);
        let routine = serde_json::from_value(routine).unwrap();
        let endpoint = Endpoint { id: "e".to_owned(), routine, ..Endpoint::default() };
        let endpoints = Endpoints::new(vec![endpoint], connections, Duration::from_secs(60)).unwrap();
        let context = CallContext {
            user_id: user.to_owned(),
            gate: Arc::new(|_: &str| Ok(())),
            models: contract::ModelUse::default(),
            idempotency_key: None,
            agent: None,
            cancel: CancellationToken::new(),
            reports: contract::CallReports::default(),
        };
        let ended = endpoints.call("e", json!({}), &context).await;
        let seen = match &ended {
            Ok(value) => Ok(value.to_string()),
            Err(EndpointError::NoUserToken { message, for_user }) => Err(format!("{message}, {for_user}")),
            Err(error) => Err(error.to_string()),
        };
        assert_eq!(seen, expected.map(str::to_owned).map_err(str::to_owned), "{user}");
        assert_eq!(*tokens.refused.lock().unwrap(), refused, "{user}");
    };
    // The service repeats the token, and it is redacted.
    let shown = r#"{"status":200,"body":{"got":"Bearer [secret]"}}"#;
    check("ada", Ok(shown), &["old-token-of-ada"]).await;
    // A service that refuses every token is asked twice.
    check("eve", Ok("null"), &["old-token-of-eve"]).await;
    // An error of the caller is not caught by the routine.
    check("bob", Err("for the model, for the user"), &[]).await;
}
