//! Tokens of sign-ins at a real provider, which are exchanged for those of a service (RFC 8693).

use super::provider::RealProvider;
use super::{Browser, auth, entry};
use crate::process::Server;
use reqwest::Method;
use reqwest::header::COOKIE;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

const SECRETS: [(&str, &str); 2] =
    [("OPENID_SECRET", "secret of the tests"), ("ACCOUNTS_KEY", "a key of the tests, with more than 32 characters")];

fn write_config(provider: &RealProvider) -> TempDir {
    let folder = TempDir::new().unwrap();
    let auth = auth("openidConnect", &[entry("company", &provider.issuer, ", signUp: true")]);
    let issuer = &provider.issuer;
    let config = format!(
        "
auth: {auth}
connectedAccounts: {{ keys: [ACCOUNTS_KEY] }}
connections:
  - id: orders
    type: Http
    properties:
      baseURL: {issuer}/service
      allowPrivate: true
      auth:
        type: tokenExchange
        tokenUrl: {issuer}/token
        clientId: chat
        clientSecret: {{ _secret: OPENID_SECRET }}
        audience: orders-api
        scopes: [orders.read]
api:
  - id: whoami
    auth: {{ protected: true }}
    routine:
      - {{ id: asked, type: Http, connectionId: orders, properties: {{ path: /whoami }} }}
      - ':return': {{ _step: asked.body }}
  - {{ id: me, routine: [{{ ':return': {{ _user: true }} }}] }}
pages: [{{ id: p }}]
"
    );
    fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    folder
}

async fn whoami(browser: &Browser, server: &Server) -> Value {
    let request = server.request(Method::POST, "/api/endpoints/p/whoami").json(&json!({}));
    let request = request.header(COOKIE, browser.session_cookie(server));
    request.send().await.unwrap().json().await.unwrap()
}

fn seen(account: &str, exchanges: u32) -> Value {
    json!({ "account": account, "audience": "orders-api", "scope": "orders.read", "exchanges": exchanges })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_is_called_with_a_token_for_it_and_for_the_user() {
    let accounts = json!({ "ada-1": { "name": "Ada" }, "bob-1": { "name": "Bob" } });
    let provider = RealProvider::start_with_exchange(&accounts);
    let folder = write_config(&provider);
    let log = fs::File::create(folder.path().join("log")).unwrap();
    let arguments = ["--config", folder.path().to_str().unwrap()];
    let server = Server::start_logging_with_env(&SECRETS, &arguments, log);
    let (ada, bob) = (Browser::new(), Browser::new());
    ada.sign_in(&server, "company", "ada-1").await;
    bob.sign_in(&server, "company", "bob-1").await;

    // The token is exchanged once for each user.
    assert_eq!(whoami(&ada, &server).await, seen("ada-1", 1));
    assert_eq!(whoami(&ada, &server).await, seen("ada-1", 1));
    assert_eq!(whoami(&bob, &server).await, seen("bob-1", 2));

    // Access tokens that have ended are renewed, without the users.
    provider.end_tokens("expire").await;
    assert_eq!(whoami(&ada, &server).await, seen("ada-1", 3));

    // When nothing can be renewed, users learn what to do, and one sign-in is enough.
    provider.end_tokens("revoke").await;
    let refused = whoami(&ada, &server).await;
    let page = "/account/connections?connect=sign-in%3Acompany";
    assert_eq!(refused["error"]["code"], "forbidden", "{refused}");
    assert_eq!(refused["error"]["message"], format!("Sign in again first, orders needs it: {page}"));
    let shown = ada.open(&server.url(page), None).await;
    assert!(shown.text.contains("sign-in:company") && shown.text.contains("Sign in again"), "{}", shown.text);
    let again = server.url("/auth/openid-connect/company?again=true&next=/account/connections?done=signed-in");
    let shown = ada.open(&again, None).await;
    assert_eq!((shown.status, shown.url.path()), (200, "/account/connections"), "{}", shown.text);
    assert!(shown.text.contains("You have signed in again."), "{}", shown.text);
    assert_eq!(whoami(&ada, &server).await, seen("ada-1", 4));

    // Another server of the database, after this one was killed.
    let killed = server.stop();
    let server = Server::start_with_env(&SECRETS, &["--database", &killed.database, arguments[0], arguments[1]]);
    let bob = Browser::new();
    bob.sign_in(&server, "company", "bob-1").await;
    assert_eq!(whoami(&bob, &server).await, seen("bob-1", 5));
    let log = fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(!log.contains("Bearer ") && !log.contains("secret of the tests"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn new_tokens_are_only_kept_for_the_user_of_the_identity() {
    let accounts = json!({ "ada-1": { "name": "Ada" }, "bob-1": { "name": "Bob" } });
    let provider = RealProvider::start_with_exchange(&accounts);
    let folder = write_config(&provider);
    let server = Server::start_with_env(&SECRETS, &["--config", folder.path().to_str().unwrap()]);
    let (ada, bob) = (Browser::new(), Browser::new());
    ada.sign_in(&server, "company", "ada-1").await;
    bob.sign_in(&server, "company", "bob-1").await;
    // Ada signs in as Bob at the provider, and comes back with her session here.
    let session = ada.session_cookie(&server);
    let again = server.url("/auth/openid-connect/company?again=true&next=/p");
    let ada = Browser::with_cookie(&server, &session);
    let question = ada.open(&again, None).await;
    let refused = ada.answer(question, "bob-1").await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert_eq!(whoami(&ada, &server).await["account"], "ada-1");
}
