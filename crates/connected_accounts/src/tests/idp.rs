//! An MCP server with an authorization server, both on one port, which record what they are asked.

use axum::extract::{Form, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use parking_lot::Mutex;
use serde_json::{Value, json};
use settings::user_auth::{AccountAuth, Service, UserAuth};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use url::Url;

pub(super) type Fields = HashMap<String, String>;

/// How the servers behave, and what they were asked.
#[derive(Default)]
pub(super) struct Behaviour {
    /// Overrides of the authorization server's metadata.
    pub(super) metadata: Value,
    /// Overrides of the service's metadata.
    pub(super) resource: Value,
    /// The metadata of the whole host; `Null` if there are none.
    pub(super) host: Value,
    /// The lifetime of access tokens in seconds.
    pub(super) life: i64,
    /// How long a token request takes.
    pub(super) delay: Duration,
    /// The status of the next token requests, with the code of the error.
    pub(super) refusal: Option<(u16, &'static str)>,
    /// The scope in answers.
    pub(super) scope: Option<&'static str>,
    /// The ID token in answers.
    pub(super) id_token: Option<String>,
    /// Token requests, without those for revocation.
    pub(super) asked: Vec<Fields>,
    pub(super) revoked: Vec<Fields>,
    pub(super) registered: Vec<Value>,
    /// When the secrets of registered clients expire, as Unix time in seconds; 0 for never.
    pub(super) secret_expires_at: i64,
    issued: usize,
}

#[derive(Clone)]
pub(super) struct Idp {
    pub(super) origin: String,
    pub(super) state: Arc<Mutex<Behaviour>>,
}

impl Idp {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let idp = Self { origin, state: Arc::new(Mutex::new(Behaviour { life: 3600, ..Behaviour::default() })) };
        let routes = Router::new()
            .route("/mcp", post(challenge))
            .route("/.well-known/oauth-protected-resource/mcp", get(resource))
            .route("/.well-known/oauth-protected-resource", get(host))
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .with_state(idp.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        idp
    }

    /// The MCP server as a service with accounts.
    pub(super) fn service(&self) -> Service {
        Service {
            name: "files".to_owned(),
            url: format!("{}/mcp", self.origin).parse().unwrap(),
            allow_private: true,
            is_mcp: true,
            auth: UserAuth::Account(AccountAuth::default()),
        }
    }

    /// Returns the parameters that the authorization server adds to the redirect URI after the user has agreed.
    pub(super) fn agree(&self, url: &Url) -> Fields {
        let asked: Fields = url.query_pairs().into_owned().collect();
        assert!(url.as_str().starts_with(&format!("{}/authorize?", self.origin)), "{url}");
        let answer = [("state", asked["state"].as_str()), ("code", "the-code"), ("iss", self.origin.as_str())];
        answer.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }
}

fn merged(mut document: Value, with: &Value) -> Value {
    for (key, value) in with.as_object().into_iter().flatten() {
        document[key] = value.clone();
    }
    document
}

async fn challenge(State(idp): State<Idp>) -> Response {
    let place = format!("{}/.well-known/oauth-protected-resource/mcp", idp.origin);
    let challenge = format!(r#"Bearer resource_metadata="{place}", scope="read""#);
    // A service may name several schemes.
    let challenges = ["Negotiate".to_owned(), challenge].map(|value| (header::WWW_AUTHENTICATE, value));
    (StatusCode::UNAUTHORIZED, AppendHeaders(challenges)).into_response()
}

async fn resource(State(idp): State<Idp>) -> Json<Value> {
    let document = json!({ "resource": format!("{}/mcp", idp.origin), "authorization_servers": [idp.origin] });
    Json(merged(document, &idp.state.lock().resource))
}

async fn host(State(idp): State<Idp>) -> Response {
    let document = idp.state.lock().host.clone();
    if document.is_null() { StatusCode::NOT_FOUND.into_response() } else { Json(document).into_response() }
}

async fn metadata(State(idp): State<Idp>) -> Json<Value> {
    let at = |path: &str| format!("{}{path}", idp.origin);
    let document = json!({
        "issuer": idp.origin,
        "authorization_endpoint": at("/authorize"),
        "token_endpoint": at("/token"),
        "registration_endpoint": at("/register"),
        "revocation_endpoint": at("/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": true,
        "scopes_supported": ["read", "write", "offline_access"],
    });
    Json(merged(document, &idp.state.lock().metadata))
}

async fn register(State(idp): State<Idp>, Json(body): Json<Value>) -> impl IntoResponse {
    let mut state = idp.state.lock();
    state.registered.push(body);
    let expiry = state.secret_expires_at;
    let client =
        json!({ "client_id": "registered", "client_secret": "secret-canary", "client_secret_expires_at": expiry });
    (StatusCode::CREATED, Json(client))
}

async fn token(State(idp): State<Idp>, headers: HeaderMap, Form(mut fields): Form<Fields>) -> Response {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or_default();
    fields.insert("authorization".to_owned(), authorization.to_owned());
    let issued_token_type = fields.get("requested_token_type").cloned();
    let (delay, refusal, number, life, scope, id_token) = {
        let mut state = idp.state.lock();
        state.asked.push(fields);
        state.issued += 1;
        (state.delay, state.refusal, state.issued, state.life, state.scope, state.id_token.clone())
    };
    tokio::time::sleep(delay).await;
    if let Some((status, error)) = refusal {
        let status = StatusCode::from_u16(status).unwrap();
        return (status, Json(json!({ "error": error, "error_description": "echo-canary" }))).into_response();
    }
    let tokens = json!({
        "access_token": format!("access-canary-{number}"),
        "refresh_token": format!("refresh-canary-{number}"),
        "token_type": "Bearer",
        "expires_in": life,
        "issued_token_type": issued_token_type,
        "id_token": id_token,
    });
    Json(merged(tokens, &scope.map_or(Value::Null, |scope| json!({ "scope": scope })))).into_response()
}

async fn revoke(State(idp): State<Idp>, Form(fields): Form<Fields>) -> StatusCode {
    idp.state.lock().revoked.push(fields);
    StatusCode::OK
}
