//! Authentication of callers in each mode.

use crate::process::Server;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, HOST, SET_COOKIE, WWW_AUTHENTICATE};
use reqwest::{Method, RequestBuilder, Response};
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Starts a server with a public page and one for signed-in users.
pub(crate) fn serve(auth: &str) -> (Server, TempDir) {
    let folder = config_folder(auth);
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

/// Writes its config to a folder.
pub(crate) fn config_folder(auth: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 50 }} }}]\n\
         agents:\n  - {{ id: open, type: Agent, connectionId: demo, properties: {{ model: demo }}, auth: public }}\n\
         \x20 - {{ id: closed, type: Agent, connectionId: demo, properties: {{ model: demo }} }}\n\
         api: [{{ id: me, routine: [{{ ':return': {{ _user: true }} }}] }}]\n\
         pages: [{{ id: open, auth: public }}, {{ id: closed }}]\n\
         auth: {auth}\n"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    folder
}

fn message_request(server: &Server, agent: &str, conversation: &str, text: &str) -> RequestBuilder {
    let message =
        json!({ "id": format!("m-{conversation}"), "role": "user", "parts": [{ "type": "text", "text": text }] });
    server
        .request(Method::POST, &format!("/api/agent/{agent}/{agent}?conversationId={conversation}"))
        .header(CONTENT_TYPE, "application/json")
        .body(json!({ "id": "c", "trigger": "submit-message", "messages": [message] }).to_string())
}

pub(crate) async fn status(request: RequestBuilder) -> u16 {
    request.send().await.unwrap().status().as_u16()
}

pub(crate) async fn status_and_body(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let mut body: Value = response.json().await.unwrap_or_default();
    if let Some(error) = body.get_mut("error").and_then(Value::as_object_mut) {
        // It differs in each response.
        error.remove("traceId").unwrap();
    }
    (status, body)
}

/// Returns the cookie that a browser would send back.
fn visitor_cookie(response: &Response) -> Option<String> {
    let set = response.headers().get(SET_COOKIE)?.to_str().unwrap();
    Some(set.split(';').next().unwrap().to_owned())
}

#[tokio::test]
async fn anonymous_visitors_own_their_conversations() {
    let (server, _folder) = serve("{ mode: anonymous, publicUrls: ['https://chat.test'] }");
    let first = server.request(Method::GET, "/open").send().await.unwrap();
    assert_eq!((first.status().as_u16(), &first.headers()["cache-control"]), (200, &"no-store".parse().unwrap()));
    let (ada, bob) = (
        visitor_cookie(&first).unwrap(),
        visitor_cookie(&server.request(Method::GET, "/open").send().await.unwrap()).unwrap(),
    );
    assert_ne!(ada, bob);
    let answer = message_request(&server, "open", "c", "Hello").header(COOKIE, &ada).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), visitor_cookie(&answer)), (200, None));
    answer.bytes().await.unwrap();
    let show = |cookie: &str| server.request(Method::GET, "/api/conversations/c").header(COOKIE, cookie);
    assert_eq!(status(show(&ada)).await, 200);
    let forged = ada.replacen(&ada[11..20], "AAAAAAAAA", 1);
    for other in [bob.as_str(), "cw_visitor=", forged.as_str()] {
        assert_eq!(
            status_and_body(show(other)).await,
            status_and_body(server.request(Method::GET, "/api/conversations/none").header(COOKIE, other)).await
        );
        assert_eq!(status(show(other)).await, 404, "{other}");
    }
    assert_eq!(status(show(&format!("{ada}; {bob}"))).await, 400);
    assert_eq!(status(server.request(Method::GET, "/closed").header(COOKIE, &ada)).await, 401);
    assert_eq!(status(message_request(&server, "closed", "d", "Hello").header(COOKIE, &ada)).await, 401);
}

#[tokio::test]
async fn unknown_hosts_are_rejected() {
    let (server, _folder) = serve("{ mode: anonymous, publicUrls: ['https://chat.test'] }");
    let page = |host: &str| server.request(Method::GET, "/open").header(HOST, host);
    let public = page("chat.test").send().await.unwrap();
    let set = public.headers()[SET_COOKIE].to_str().unwrap();
    assert!(set.starts_with("__Host-cw_visitor=") && set.contains("; Secure"), "{set}");
    assert_eq!(status(page("evil.test")).await, 421);
    assert_eq!(status(page("chat.test.evil.test")).await, 421);
    assert_eq!(status(server.request(Method::GET, "/metrics")).await, 200);
    assert_eq!(status(server.request(Method::GET, "/metrics").header(HOST, "chat.test")).await, 404);
}

/// The host application, which signs tokens.
pub(crate) struct TokenIssuer {
    key: Ed25519KeyPair,
}

impl TokenIssuer {
    pub(crate) fn new() -> Self {
        let key = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).unwrap();
        Self { key: Ed25519KeyPair::from_pkcs8(key.as_ref()).unwrap() }
    }

    pub(crate) fn auth_config(&self) -> String {
        let x = BASE64.encode(self.key.public_key().as_ref());
        format!(
            "{{ mode: jwt, publicUrls: ['https://chat.test'], issuer: host, audience: chat, cookie: host_token, \
             leewaySeconds: 0, jwk: {{ kty: OKP, crv: Ed25519, x: {x} }} }}"
        )
    }

    /// Returns a token that is valid for this many seconds.
    pub(crate) fn token(&self, user: &str, audience: &str, seconds: i64) -> String {
        self.token_with_roles((user, &["editor"]), audience, seconds)
    }

    /// Returns a token of a user with these roles.
    pub(crate) fn token_with_roles(&self, (user, roles): (&str, &[&str]), audience: &str, seconds: i64) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs().cast_signed();
        let header = json!({ "alg": "EdDSA" }).to_string();
        let claims = json!({
            "sub": user, "name": "Ada", "roles": roles, "iss": "host", "aud": audience, "exp": now + seconds,
        });
        let signed = format!("{}.{}", BASE64.encode(header), BASE64.encode(claims.to_string()));
        let signature = BASE64.encode(self.key.sign(signed.as_bytes()).as_ref());
        format!("{signed}.{signature}")
    }
}

#[tokio::test]
async fn jwt_users_are_authenticated() {
    let host = TokenIssuer::new();
    let (server, _folder) = serve(&host.auth_config());
    let bearer = |token: &str| format!("Bearer {token}");
    let (ada, bob) = (host.token("ada", "chat", 60), host.token("bob", "chat", 60));
    let me = || server.request(Method::POST, "/api/endpoints/closed/me").json(&json!({}));
    let user = json!({ "id": "ada", "name": "Ada", "roles": ["editor"] });
    assert_eq!(status_and_body(me().header(AUTHORIZATION, bearer(&ada))).await, (200, user.clone()));
    assert_eq!(status_and_body(me().header(COOKIE, format!("host_token={ada}"))).await, (200, user));
    assert_eq!(status(server.request(Method::GET, "/closed").header(COOKIE, format!("host_token={ada}"))).await, 200);
    assert_eq!(status(message_request(&server, "closed", "c", "Hi").header(AUTHORIZATION, bearer(&ada))).await, 200);
    let show = |token: &str| server.request(Method::GET, "/api/conversations/c").header(AUTHORIZATION, bearer(token));
    assert_eq!((status(show(&ada)).await, status(show(&bob)).await), (200, 404));

    let refused = me().header(AUTHORIZATION, bearer(&host.token("ada", "chat", -1))).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), &refused.headers()[WWW_AUTHENTICATE]), (401, &"Bearer".parse().unwrap()));
    let error_body: Value = refused.json().await.unwrap();
    assert_eq!(error_body["error"]["message"], "The token has expired. Get a new one.");
    for (token, expected) in [
        (host.token("ada", "elsewhere", 60), 401),
        (TokenIssuer::new().token("ada", "chat", 60), 401),
        ("nonsense".to_owned(), 401),
        (host.token("local", "chat", 60), 401),
    ] {
        assert_eq!(status(me().header(AUTHORIZATION, bearer(&token))).await, expected, "{token}");
        let with_cookie = me().header(AUTHORIZATION, bearer(&token)).header(COOKIE, format!("host_token={ada}"));
        assert_eq!(status(with_cookie).await, expected, "{token}");
        assert_eq!(status(me().header(COOKIE, format!("host_token={token}"))).await, expected, "{token}");
    }
    let two = me().header(AUTHORIZATION, bearer(&ada)).header(COOKIE, format!("host_token={bob}"));
    assert_eq!(status(two).await, 400);
    let twice = me().header(AUTHORIZATION, bearer(&ada)).header(AUTHORIZATION, bearer(&bob));
    assert_eq!(status(twice).await, 400);
    // Public pages are shown as to an anonymous visitor, even with an expired token.
    let ended = format!("host_token={}", host.token("ada", "chat", -1));
    assert_eq!(status(server.request(Method::GET, "/open").header(COOKIE, &ended)).await, 200);
    assert_eq!(status(server.request(Method::GET, "/closed").header(COOKIE, &ended)).await, 401);
    assert_eq!(status(me()).await, 401);
}

#[tokio::test]
async fn stream_ends_when_the_token_expires() {
    let host = TokenIssuer::new();
    let (server, _folder) = serve(&host.auth_config());
    let begun = Instant::now();
    let (short, long) = (host.token("ada", "chat", 5), host.token("ada", "chat", 60));
    let bearer = |token: &str| format!("Bearer {token}");
    let stream = message_request(&server, "closed", "c", "count to 1500")
        .header(AUTHORIZATION, bearer(&short))
        .send()
        .await
        .unwrap();
    assert_eq!(stream.status().as_u16(), 200);
    let text = stream.text().await.unwrap();
    let lasted = begun.elapsed();
    // That it ended before the reply is checked below.
    assert!(lasted > Duration::from_secs(3), "{lasted:?}");
    assert!(text.contains("text-delta") && !text.contains("[DONE]"), "{text}");
    let again = |token: &str| {
        server.request(Method::GET, "/api/agent/closed/closed/c/stream").header(AUTHORIZATION, bearer(token))
    };
    assert_eq!(status(again(&short)).await, 401);
    // The run continues and can be joined with a valid token.
    assert_eq!(status(again(&long)).await, 200);
}

#[tokio::test]
async fn proxy_users_are_authenticated() {
    let auth =
        |trusted: &str| format!("{{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['{trusted}'] }}");
    let (server, _folder) = serve(&auth("127.0.0.0/8"));
    let me = |server: &Server| server.request(Method::POST, "/api/endpoints/closed/me").json(&json!({}));
    let named =
        |server: &Server| me(server).header("x-forwarded-user", "ada").header("x-forwarded-groups", "editor, admin");
    let user = json!({ "id": "ada", "name": null, "roles": ["editor", "admin"] });
    assert_eq!(status_and_body(named(&server)).await, (200, user));
    assert_eq!(status(named(&server).header("x-forwarded-user", "bob")).await, 400);
    assert_eq!(status(me(&server)).await, 401);
    assert_eq!(status(me(&server).header("x-forwarded-user", "local")).await, 403);
    let (other, _folder) = serve(&auth("10.0.0.0/8"));
    assert_eq!(status(named(&other)).await, 403);
    assert_eq!(status(me(&other)).await, 401);
}
