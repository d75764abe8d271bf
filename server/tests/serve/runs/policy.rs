//! The headers of answers, above all the Content-Security-Policy of pages: each directive, and the origins that the config
//! adds.

use crate::process::Server;
use reqwest::{Method, RequestBuilder};
use std::collections::BTreeMap;

async fn fetch_csp(server: &Server, path: &str) -> BTreeMap<String, String> {
    let answer = server.request(Method::GET, path).send().await.unwrap();
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    let directive = |directive: &str| {
        let (name, sources) = directive.trim().split_once(' ').unwrap();
        (name.to_owned(), sources.trim().to_owned())
    };
    policy.split(';').map(directive).collect()
}

fn serve(more: &str) -> (Server, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "connections: [{{ id: demo, type: Demo }}]\n\
         agents: [{{ id: a, type: Agent, connectionId: demo, properties: {{ model: demo }} }}]\n{more}\n"
    );
    std::fs::write(folder.path().join("chatwright.yaml"), config).unwrap();
    (Server::start_with(&["--config", folder.path().to_str().unwrap()]), folder)
}

#[tokio::test]
async fn csp_allows_only_what_the_page_needs() {
    let (server, _folder) = serve("pages: [{ id: p }]");
    let (first, second) = (fetch_csp(&server, "/p").await, fetch_csp(&server, "/p").await);
    let nonce = |policy: &BTreeMap<String, String>| {
        let (_, rest) = policy["script-src"].split_once("'nonce-").unwrap();
        rest.split_once('\'').unwrap().0.to_owned()
    };
    assert!(nonce(&first).len() >= 16 && nonce(&first) != nonce(&second), "{first:?} {second:?}");
    let mut rest = first.clone();
    for sources in rest.values_mut() {
        *sources = sources.replace(&nonce(&first), "N");
    }
    let rest: Vec<_> = rest.iter().map(|(name, sources)| format!("{name} {sources}")).collect();
    insta::assert_snapshot!(rest.join("\n"), @"
    base-uri 'none'
    connect-src 'self'
    default-src 'self'
    form-action 'self'
    frame-ancestors 'none'
    img-src 'self' data: blob:
    media-src 'self' data:
    object-src 'none'
    script-src 'self' 'nonce-N' 'wasm-unsafe-eval'
    style-src 'self' 'nonce-N'
    ");
}

/// Dictation needs the microphone on pages; nothing else may use it.
#[tokio::test]
async fn only_pages_may_use_the_microphone() {
    let (server, _folder) = serve("pages: [{ id: p }]");
    let check = async |path: &str, expected: &str| {
        let answer = server.request(Method::GET, path).send().await.unwrap();
        assert_eq!(answer.headers()["permissions-policy"], expected, "{path}");
    };
    check("/p", "microphone=(self)").await;
    check("/api/agents", "microphone=()").await;
    check("/admin", "microphone=()").await;
    check("/healthz", "microphone=()").await;
}

/// The layers that set these headers surround all routes and all layers that answer requests themselves. So the answers of
/// gates and probes have them, and those to unknown paths and to requests that are too large.
#[tokio::test]
async fn all_answers_have_the_headers_of_the_server() {
    let (server, _folder) = serve("limits: { bodyBytes: 1024 }\npages: [{ id: p }]");
    let check = async |request: RequestBuilder, status: u16| {
        let answer = request.send().await.unwrap();
        let (path, headers) = (answer.url().path(), answer.headers());
        assert_eq!(answer.status(), status, "{path}");
        let expected =
            [("x-content-type-options", "nosniff"), ("referrer-policy", "no-referrer"), ("x-frame-options", "DENY")];
        for (name, value) in expected {
            assert_eq!(headers[name], value, "{path}");
        }
        assert!(headers.contains_key("permissions-policy"), "{path}");
        assert_eq!(headers["x-trace-id"].len(), 32, "{path}");
    };
    let get = |path: &str| server.request(Method::GET, path);
    for path in ["/p", "/healthz", "/metrics", "/api/agents", "/embed.js"] {
        check(get(path), 200).await;
    }
    for path in ["/a/b", "/api/unknown", "/pkg/unknown"] {
        check(get(path), 404).await;
    }
    // The host is checked except for probes.
    check(get("/p").header("host", "a.test"), 421).await;
    check(get("/healthz").header("host", "a.test"), 200).await;
    check(get("/healthz").header("authorization", "a").header("authorization", "b"), 400).await;
    check(server.request(Method::PUT, "/healthz"), 405).await;
    check(server.request(Method::POST, "/api/agents").header("origin", "https://a.test"), 403).await;
    for path in ["/ui/send", "/api/runs/invoke"] {
        check(server.request(Method::POST, path).body("x".repeat(2_000)), 413).await;
    }
}

#[tokio::test]
async fn csp_allows_configured_upload_origins() {
    let attachments = "{ enabled: true, uploadPolicyRequestId: sign, uploadOrigin: 'https://b.example' }";
    let chat = format!(
        "{{ id: chat, type: AgentChat, properties: {{ agentId: a, sender: {{ attachments: {attachments} }} }} }}"
    );
    let (server, _folder) = serve(&format!(
        "api: [{{ id: sign, routine: [{{ ':return': {{ url: 'https://b.example' }} }}] }}]\n\
         pages: [{{ id: p, blocks: [{{ id: card, type: Card, blocks: [{chat}] }}] }}]"
    ));
    assert_eq!(fetch_csp(&server, "/p").await["connect-src"], "'self' https://b.example");
}

#[tokio::test]
async fn csp_allows_configured_picture_origins() {
    let chat = |properties: &str| {
        format!(
            "pages: [{{ id: p, blocks: [{{ id: chat, type: AgentChat, properties: {{ agentId: a, {properties} }} }}] }}]"
        )
    };
    let check = async |more: String, expected: &str| {
        let (server, _folder) = serve(&more);
        let found = fetch_csp(&server, "/p").await["img-src"].clone();
        assert_eq!(found, format!("'self' data: blob:{expected}"), "{more}");
        let page = server.request(Method::GET, "/p").send().await.unwrap().text().await.unwrap();
        let named = page.contains("<meta name=\"pictures\"");
        assert_eq!(named, !expected.is_empty(), "{more}");
    };
    check(chat(""), "").await;
    check(chat("roles: { assistant: { avatar: /own.png } }"), "").await;
    check(chat("roles: { assistant: { avatar: 'https://b.example/me.png' } }"), " https://b.example").await;
    let named = "pictures: { origins: ['https://a.example', 'https://a.example'] }";
    check(format!("{}\n{named}", chat("")), " https://a.example").await;
}
