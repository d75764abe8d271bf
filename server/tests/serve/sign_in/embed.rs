//! Chats that other sites embed: the allowed origins, and the tokens of their users.

use crate::process::Server;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, ORIGIN, SET_COOKIE};
use reqwest::{Method, RequestBuilder};
use ring::hmac;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const SECRET: &str = "a secret of the tests, which is long enough";
const NEXT_SECRET: &str = "another secret of the tests, to come after it";
const HOST_ORIGIN: &str = "https://www.shop.test";

/// Starts a server with a public page and one for signed-in users.
fn serve(auth: &str) -> (Server, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "connections: [{{ id: demo, type: Demo, properties: {{ delayMs: 0 }} }}]\n\
         agents:\n  - {{ id: open, type: Agent, connectionId: demo, properties: {{ model: demo }}, auth: public }}\n\
         \x20 - {{ id: closed, type: Agent, connectionId: demo, properties: {{ model: demo }} }}\n\
         api: [{{ id: me, routine: [{{ ':return': {{ _user: true }} }}] }}]\n\
         pages:\n  - {{ id: open, auth: public, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: open }} }}] }}\n\
         \x20 - {{ id: closed, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: closed }} }}] }}\n\
         auth: {auth}\n\
         embed: {{ origins: ['{HOST_ORIGIN}'], tokens: {{ secrets: [{{ _secret: ONE }}, {{ _secret: NEXT }}], leewaySeconds: 0 }} }}\n"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    let variables = [("ONE", SECRET), ("NEXT", NEXT_SECRET)];
    (Server::start_with_env(&variables, &["--config", folder.path().to_str().unwrap()]), folder)
}

/// Returns a valid token with some claims changed; null removes a claim.
fn token(secret: &str, changes: Value) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let mut claims = json!({ "sub": "ada", "name": "Ada", "roles": ["admin"], "aud": "chatwright", "exp": now + 60 });
    for (name, value) in changes.as_object().unwrap() {
        claims[name] = value.clone();
    }
    claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
    let signed = format!("{}.{}", BASE64.encode(r#"{"alg":"HS256"}"#), BASE64.encode(claims.to_string()));
    let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes()), signed.as_bytes());
    format!("{signed}.{}", BASE64.encode(signature))
}

fn valid_token() -> String {
    token(SECRET, json!({}))
}

fn me_request(server: &Server, page: &str) -> RequestBuilder {
    server.request(Method::POST, &format!("/api/endpoints/{page}/me")).json(&json!({}))
}

async fn send_with_token(request: RequestBuilder, token: &str) -> (u16, Value) {
    let response = request.header(AUTHORIZATION, format!("Bearer {token}")).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap_or_default())
}

/// Returns the request that opens a page's frame on a site with these form fields.
fn frame_request(server: &Server, page: &str, host: &str, fields: &str) -> RequestBuilder {
    let host = host.replace(':', "%3A").replace('/', "%2F");
    let request = server.request(Method::POST, &format!("/embed/{page}/{page}?host={host}"));
    request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(fields.to_owned())
}

const MODES: [&str; 3] = [
    "{ mode: anonymous, publicUrls: ['https://chat.test'] }",
    "{ mode: password, publicUrls: ['https://chat.test'] }",
    "{ mode: proxy, publicUrls: ['https://chat.test'], trustedProxies: ['10.0.0.1'] }",
];

#[tokio::test]
async fn embed_tokens_identify_users() {
    for mode in MODES {
        let (server, _folder) = serve(mode);
        let user = json!({ "id": "ada", "name": "Ada", "roles": ["admin"] });
        assert_eq!(send_with_token(me_request(&server, "closed"), &valid_token()).await, (200, user), "{mode}");
        let inputs = json!({ "plan": "gold", "shop": 7 });
        let (_, user) =
            send_with_token(me_request(&server, "closed"), &token(NEXT_SECRET, json!({ "inputs": inputs }))).await;
        assert_eq!(user["inputs"], inputs, "{mode}");
        for (token, expected, why) in [
            (token("a secret that this server does not know", json!({})), 401, "known key"),
            (token(SECRET, json!({ "exp": 1 })), 401, "has expired"),
            (token(SECRET, json!({ "exp": null })), 401, "lacks a required claim"),
            (token(SECRET, json!({ "aud": "another" })), 401, "another audience"),
            (token(SECRET, json!({ "sub": "local" })), 401, "no valid user id"),
            (token(SECRET, json!({ "inputs": "gold" })), 401, "must be an object"),
            (token(SECRET, json!({ "page": 7 })), 401, "must be an object"),
            (token(SECRET, json!({ "page": "open" })), 403, "for another page"),
            (valid_token().replacen("eyJhbGciOiJIUzI1NiJ9", &BASE64.encode(r#"{"alg":"none"}"#), 1), 401, ""),
        ] {
            let (status, response_body) = send_with_token(me_request(&server, "closed"), &token).await;
            let message = response_body["error"]["message"].as_str().unwrap_or_default();
            assert!(
                status == expected && message.contains(why) && !message.is_empty(),
                "{mode}: {token}: {response_body}"
            );
        }
        // Such a token is valid for chats only, whatever its roles.
        for path in ["/admin", "/api/admin/users", "/api/keys"] {
            assert_eq!(
                send_with_token(server.request(Method::GET, path), &valid_token()).await.0,
                403,
                "{mode}: {path}"
            );
        }
    }
}

#[tokio::test]
async fn embed_token_can_be_limited_to_one_agent() {
    let (server, _folder) = serve(MODES[0]);
    let ask = |agent: &str| {
        let message = json!({ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] });
        let path = format!("/api/agent/closed/{agent}?conversationId=c");
        server.request(Method::POST, &path).json(&json!({ "messages": [message] }))
    };
    let narrow = token(SECRET, json!({ "page": "closed", "agent": "closed" }));
    let (status, response_body) = send_with_token(ask("open"), &narrow).await;
    assert_eq!(
        (status, response_body["error"]["message"].as_str().unwrap()),
        (403, "This token is for another agent.")
    );
    assert_eq!(send_with_token(ask("closed"), &narrow).await.0, 200);
    let invoke = json!({ "agent_name": "closed", "input": { "prompt": "Hi" } });
    assert_eq!(send_with_token(server.request(Method::POST, "/api/runs/invoke").json(&invoke), &narrow).await.0, 403);
    // Another user of the site does not see the conversation.
    let show = || server.request(Method::GET, "/api/conversations/c");
    let eve = token(SECRET, json!({ "sub": "eve" }));
    assert_eq!((send_with_token(show(), &narrow).await.0, send_with_token(show(), &eve).await.0), (200, 404));
}

#[tokio::test]
async fn only_configured_origins_can_embed_chats() {
    let (server, _folder) = serve(MODES[0]);
    let door = |host: &str| server.request(Method::GET, &format!("/embed/closed/closed?host={host}"));
    let shown = door(HOST_ORIGIN).send().await.unwrap();
    let policy = shown.headers()["content-security-policy"].to_str().unwrap().to_owned();
    assert!(policy.contains(&format!("frame-ancestors 'self' {HOST_ORIGIN}")), "{policy}");
    assert_eq!((shown.status().as_u16(), shown.headers().get("x-frame-options")), (200, None));
    for host in ["https://evil.test", "https://www.shop.test.evil.test", "http://www.shop.test", "*", ""] {
        let refused = door(host).send().await.unwrap();
        let says = (refused.status().as_u16(), refused.headers()["x-frame-options"].to_str().unwrap());
        assert_eq!(says, (403, "DENY"), "{host}");
        let refused = frame_request(&server, "closed", host, &format!("token={}", valid_token())).send().await.unwrap();
        assert_eq!(refused.status().as_u16(), 403, "{host}");
    }
    let page = server.request(Method::GET, "/open").send().await.unwrap();
    assert_eq!(page.headers()["x-frame-options"], "DENY");
    let elsewhere =
        frame_request(&server, "closed", HOST_ORIGIN, "").header("sec-fetch-site", "cross-site").send().await.unwrap();
    assert_eq!(elsewhere.status().as_u16(), 403);
}

/// The element asks why its frame did not open. The answer is about the asking site only.
#[tokio::test]
async fn sites_learn_whether_they_are_listed() {
    let (server, _folder) = serve(MODES[1]);
    let check = async |origin: &str, expected: &str| {
        let request = server.request(Method::GET, "/embed-check.js").header(ORIGIN, origin);
        let response = request.send().await.unwrap();
        let header = |name: &str| response.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(
            (header("access-control-allow-origin"), header("cache-control"), header("vary"), header("content-type")),
            ("*".to_owned(), "no-store".to_owned(), "origin".to_owned(), "text/javascript; charset=utf-8".to_owned())
        );
        assert_eq!((response.status().as_u16(), response.headers().get(SET_COOKIE)), (200, None), "{origin}");
        assert_eq!(response.text().await.unwrap(), expected, "{origin}");
    };
    check(HOST_ORIGIN, "export default true;\n").await;
    for origin in ["https://evil.test", "https://www.shop.test.evil.test", "http://www.shop.test", "null", "*", ""] {
        check(origin, "export default false;\n").await;
    }
    // A page of this server asks, in a browser that sends `Origin` in this case.
    check(&server.origin, "export default true;\n").await;
    // The site in the query counts only if a page of this server asks: some browsers send no `Origin` in this case.
    let ask = async |host: &str, from: Option<&str>, expected: (u16, &str)| {
        let request = server.request(Method::GET, &format!("/embed-check.js?at=1&host={host}"));
        let request = from.into_iter().fold(request, |request, from| request.header("sec-fetch-site", from));
        let response = request.send().await.unwrap();
        let answer = (response.status().as_u16(), response.text().await.unwrap());
        assert_eq!((answer.0, answer.1.as_str()), expected, "{host} {from:?}");
    };
    let nobody = (400, "The request has no `Origin`.");
    ask(HOST_ORIGIN, None, nobody).await;
    ask(HOST_ORIGIN, Some("cross-site"), nobody).await;
    ask(HOST_ORIGIN, Some("none"), nobody).await;
    ask(&server.origin, Some("same-origin"), (200, "export default true;\n")).await;
    ask("https://other.test", Some("same-origin"), (200, "export default false;\n")).await;
}

#[tokio::test]
async fn closed_frames_require_a_valid_token() {
    let (server, _folder) = serve(MODES[0]);
    let entered = async |page: &str, fields: &str| {
        let response = frame_request(&server, page, HOST_ORIGIN, fields).send().await.unwrap();
        assert_eq!(response.headers().get(SET_COOKIE), None);
        assert_eq!(response.headers()["cache-control"], "no-store");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.contains(&format!("frame-ancestors 'self' {HOST_ORIGIN}")), "{policy}");
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (status, page) = entered("closed", &format!("token={}&visitor=", valid_token())).await;
    assert!(status == 200 && page.contains("cw-embedded") && !page.contains("data-visitor"), "{page}");
    let (status, page) = entered("closed", "token=&visitor=").await;
    assert!(status == 401 && page.contains(r#"data-code="unauthenticated""#), "{page}");
    let (status, page) = entered("open", "token=nonsense&visitor=").await;
    assert!(status == 401 && !page.contains("cw-embedded"), "{page}");
    let (status, page) = entered("nowhere", &format!("token={}", valid_token())).await;
    assert!(status == 404 && page.contains(r#"data-code="not_found""#), "{page}");

    // An anonymous visitor gets an id and keeps it.
    let (status, page) = entered("open", "token=&visitor=").await;
    let name = page.split_once("data-visitor=\"").and_then(|(_, rest)| rest.split_once('"')).unwrap().0.to_owned();
    assert_eq!(status, 200);
    let (_, again) = entered("open", &format!("token=&visitor={name}")).await;
    assert!(again.contains(&name), "{again}");
    let ask = |visitor: &str| {
        let message = json!({ "id": "m", "role": "user", "parts": [{ "type": "text", "text": "Hi" }] });
        let path = "/api/agent/open/open?conversationId=v";
        server
            .request(Method::POST, path)
            .header("x-chatwright-visitor", visitor)
            .json(&json!({ "messages": [message] }))
    };
    assert_eq!(ask(&name).send().await.unwrap().status().as_u16(), 200);
    let show =
        |visitor: &str| server.request(Method::GET, "/api/conversations/v").header("x-chatwright-visitor", visitor);
    assert_eq!(show(&name).send().await.unwrap().status().as_u16(), 200);
    assert_eq!(show("made.up.name").send().await.unwrap().status().as_u16(), 404);
}

/// A visitor with a cookie of this server is identified by the site's token in a frame.
#[tokio::test]
async fn token_takes_precedence_over_a_cookie() {
    let (server, _folder) = serve(MODES[0]);
    let visitor = server.request(Method::GET, "/open").send().await.unwrap();
    let cookie = visitor.headers()[SET_COOKIE].to_str().unwrap().split(';').next().unwrap().to_owned();
    let (status, user) = send_with_token(me_request(&server, "closed").header(COOKIE, &cookie), &valid_token()).await;
    assert_eq!((status, user["id"].as_str()), (200, Some("ada")));
}

#[tokio::test]
async fn console_composes_the_element_and_previews_it() {
    let (server, _folder) = serve("{ mode: local }");
    let get = async |path: &str| {
        let response = server.request(Method::GET, path).send().await.unwrap();
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        (response.status().as_u16(), policy, response.text().await.unwrap())
    };
    let chosen = "chat=open%2Fopen&display=drawer&accent=%237a1fa2&radius=huge&label=%22%3Cb%3E";
    let (status, policy, page) = get(&format!("/admin/embed?{chosen}&site=https%3A%2F%2Fwww.other.test%2Fshop")).await;
    assert_eq!(status, 200);
    assert!(policy.contains("frame-src 'self'"), "{policy}");
    for expected in [
        &*format!(r#"&lt;script type="module" src="{}/embed.js""#, server.origin),
        r#"&lt;agent-chat page="open" agent="open" display="drawer" label="&amp;quot;&amp;lt;b"#,
        r##"accent="#7a1fa2"&gt;&lt;/agent-chat"##,
        "radius: “huge” is not a length",
        &*format!(r#"origins: ["{HOST_ORIGIN}", "https://www.other.test"]"#),
        "/admin/embed/preview?chat=open%2Fopen",
    ] {
        assert!(page.contains(expected), "{expected}: {page}");
    }
    let (_, _, page) = get(&format!("/admin/embed?site={HOST_ORIGIN}")).await;
    assert!(page.contains("The config allows <code>") && !page.contains("<iframe"), "{page}");
    // The preview has the element, and may be framed by this server only.
    let (status, policy, page) = get(&format!("/admin/embed/preview?{chosen}")).await;
    assert_eq!(status, 200);
    assert!(
        policy.contains("frame-ancestors 'self'") && page.contains(r#"<agent-chat page="open" agent="open""#),
        "{page}"
    );
    for (path, expected) in [("/admin/embed/preview", "SAMEORIGIN"), ("/admin/embed", "DENY")] {
        let response = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(response.headers()["x-frame-options"], expected, "{path}");
    }
    // The frame of the chat accepts this server itself, which needs no entry in the config.
    let (status, policy, _) = get(&format!("/embed/open/open?host={}", server.origin)).await;
    assert_eq!(status, 200);
    assert!(policy.contains(&format!("frame-ancestors 'self' {}", server.origin)), "{policy}");
    let entered = frame_request(&server, "open", &server.origin, "token=&visitor=").send().await.unwrap();
    assert_eq!(entered.status().as_u16(), 200);
}
