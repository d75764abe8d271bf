//! Authorization at a server: a token is sent to that server only. Nothing that a server says leads to another address,
//! unless the config lets it name its authorization server. No person signs in here, so there is no browser to redirect, and no
//! code or state to steal.

use crate::log::Log;
use crate::peers::{Peer, address};
use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Json, Router};
use mcp::{ClientCredentials, ClientProof, HttpServerSettings, McpFeatures, McpSettings, McpTransport, TokenEndpoint};
use secrecy::SecretString;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock};
use tokio::net::TcpListener;
use url::form_urlencoded::byte_serialize;

const SECRET: &str = "secret-canary-1";
const REFRESH: &str = "refresh-canary-2";
const TOKEN: &str = "token-canary-3";

/// Received requests: method and path, `Authorization`, body.
type Asked = Arc<Mutex<Vec<(String, String, String)>>>;

/// Starts a server that answers every request in the same way, and records the requests.
async fn somebody(
    answer: impl Fn(&Method, &str, &Value) -> Response + Clone + Send + Sync + 'static,
) -> (String, Asked) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let asked = Asked::default();
    let kept = asked.clone();
    let handler = move |request: Request| {
        let (answer, kept) = (answer.clone(), kept.clone());
        async move {
            let (head, body) = request.into_parts();
            let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
            let body = String::from_utf8(body.to_vec()).unwrap();
            let sign = head.headers.get(header::AUTHORIZATION).map_or("", |value| value.to_str().unwrap()).to_owned();
            kept.lock().unwrap().push((format!("{} {}", head.method, head.uri.path()), sign, body.clone()));
            answer(&head.method, head.uri.path(), &serde_json::from_str(&body).unwrap_or_default())
        }
    };
    tokio::spawn(async move { axum::serve(listener, Router::new().fallback(handler)).await });
    (origin, asked)
}

/// Answers as an MCP server over streamable HTTP with one tool.
fn mcp(_: &Method, _: &str, message: &Value) -> Response {
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": message["params"]["protocolVersion"],
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "peer", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [{ "name": "work", "inputSchema": { "type": "object" } }] }),
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "done" }] }),
        Some(_) => return StatusCode::ACCEPTED.into_response(),
        None => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
}

fn token(life: u64) -> Response {
    Json(json!({ "access_token": TOKEN, "token_type": "bearer", "expires_in": life })).into_response()
}

fn settings(server: &str, token_url: &str, refresh_token: Option<&str>) -> McpSettings {
    settings_with(server, TokenEndpoint::Url(token_url.parse().unwrap()), refresh_token, Some("tools"))
}

fn settings_with(
    server: &str,
    endpoint: TokenEndpoint,
    refresh_token: Option<&str>,
    scope: Option<&str>,
) -> McpSettings {
    let oauth = ClientCredentials {
        endpoint,
        client_id: "chat wright".to_owned(),
        proof: ClientProof::Secret(SECRET.into()),
        refresh_token: refresh_token.map(SecretString::from),
        scope: scope.map(str::to_owned),
    };
    let transport = HttpServerSettings { oauth: Some(oauth), ..address(&format!("{server}/mcp")) };
    McpSettings {
        name: "peer".to_owned(),
        transport: McpTransport::Http(transport),
        shared: false,
        features: McpFeatures::default(),
    }
}

/// Returns the result of a call with these settings.
async fn called(settings: McpSettings) -> String {
    let peer = Peer::new(settings);
    peer.call("work", json!({})).await.map_or_else(|error| error, |result| result.as_str().unwrap().to_owned())
}

fn seen(asked: &Asked) -> Vec<(String, String, String)> {
    asked.lock().unwrap().clone()
}

#[tokio::test]
async fn a_token_is_sent_to_its_server_only() {
    let (server, asked) = somebody(mcp).await;
    let (issuer, gave) = somebody(|_, _, _| token(3600)).await;
    let token_url = format!("{issuer}/token");
    assert_eq!(called(settings(&server, &token_url, None)).await, "done");
    // Both parts are encoded before they are joined: `chat+wright:secret-canary-1`.
    let basic = "Basic Y2hhdCt3cmlnaHQ6c2VjcmV0LWNhbmFyeS0x";
    let form = "grant_type=client_credentials&scope=tools";
    assert_eq!(seen(&gave), [("POST /token".to_owned(), basic.to_owned(), form.to_owned())]);
    let all = seen(&asked);
    assert!(all.len() >= 3 && all.iter().all(|(_, sign, _)| *sign == format!("Bearer {TOKEN}")), "{all:?}");
    assert!(!format!("{all:?}").contains(SECRET));
    // With a refresh token, and again for the next connection when the token has expired.
    let (issuer, gave) = somebody(|_, _, _| token(0)).await;
    let peer = Peer::new(settings(&server, &format!("{issuer}/token"), Some(REFRESH)));
    for _ in 0..2 {
        assert_eq!(peer.call("work", json!({})).await.unwrap(), "done");
    }
    let form = format!("grant_type=refresh_token&refresh_token={REFRESH}&scope=tools");
    let gave = seen(&gave);
    assert!(gave.len() >= 2 && gave.iter().all(|(_, sign, body)| sign == basic && *body == form), "{gave:?}");
    // Each user has their own token.
    let (issuer, gave) = somebody(|_, _, _| token(3600)).await;
    let peer = Peer::new(settings(&server, &format!("{issuer}/token"), None));
    for user in ["ada", "bob", "ada"] {
        peer.call_as(user, "work", json!({}), crate::peers::context()).await.unwrap();
    }
    assert_eq!(seen(&gave).len(), 2);
}

#[tokio::test]
async fn answers_of_a_server_lead_to_no_other_address() {
    let (thief, stolen) = somebody(|_, _, _| token(3600)).await;
    let (issuer, _) = somebody(|_, _, _| token(3600)).await;
    let token_url = format!("{issuer}/token");
    let unavailable = |text: &str| text.starts_with("The tools of `peer` are not available now: ");
    // Whatever the server says about its authorization server.
    for challenge in [
        format!("Bearer resource_metadata=\"{thief}/.well-known/oauth-protected-resource\""),
        format!("Bearer realm=\"x\", authorization_uri=\"{thief}/authorize\", as_uri=\"{thief}\""),
        "Bearer resource_metadata=\"file:///etc/passwd\"".to_owned(),
        "Bearer resource_metadata=\"javascript:alert(1)\"".to_owned(),
    ] {
        let (server, asked) = somebody(move |_, _, _| {
            (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, challenge.clone())]).into_response()
        })
        .await;
        let output = called(settings(&server, &token_url, None)).await;
        assert!(unavailable(&output), "{output}");
        // Only the configured URL is requested, without a search for metadata.
        assert!(seen(&asked).iter().all(|(line, ..)| line.ends_with(" /mcp")), "{:?}", seen(&asked));
    }
    // Or about where it or its token endpoint has moved.
    for redirect in [Redirect::to, Redirect::temporary, Redirect::permanent] {
        let to = thief.clone();
        let (server, _) = somebody(move |_, _, _| redirect(&format!("{to}/mcp")).into_response()).await;
        assert!(unavailable(&called(settings(&server, &token_url, None)).await));
        let to = thief.clone();
        let (moved, _) = somebody(move |_, _, _| redirect(&format!("{to}/token")).into_response()).await;
        let (server, asked) = somebody(mcp).await;
        assert!(unavailable(&called(settings(&server, &format!("{moved}/token"), Some(REFRESH))).await));
        assert_eq!(seen(&asked).len(), 0, "without a token it is not asked");
    }
    assert_eq!(seen(&stolen), []);
}

/// Starts an authorization server with metadata. It accepts these ways to prove who a client is.
async fn authorization_server(methods: &'static [&'static str]) -> (String, Asked) {
    let own = Arc::new(OnceLock::<String>::new());
    let named = own.clone();
    let (origin, asked) = somebody(move |_, path, _| {
        let origin = named.get().unwrap();
        match path {
            "/.well-known/oauth-authorization-server" => Json(json!({
                "issuer": origin,
                "token_endpoint": format!("{origin}/issue"),
                "token_endpoint_auth_methods_supported": methods,
            }))
            .into_response(),
            "/issue" => token(3600),
            _ => StatusCode::NOT_FOUND.into_response(),
        }
    })
    .await;
    own.set(origin.clone()).unwrap();
    (origin, asked)
}

/// Starts an MCP server that names its authorization server.
async fn server_of(issuer: &str) -> (String, Asked) {
    let issuer = issuer.to_owned();
    somebody(move |method, path, message| match path {
        "/.well-known/oauth-protected-resource/mcp" => {
            Json(json!({ "authorization_servers": [issuer], "scopes_supported": ["read", "list"] })).into_response()
        }
        _ => mcp(method, path, message),
    })
    .await
}

#[tokio::test]
async fn token_endpoint_is_found_by_metadata() {
    let (issuer, gave) = authorization_server(&["client_secret_post", "client_secret_basic"]).await;
    let (server, asked) = server_of(&issuer).await;
    assert_eq!(called(settings_with(&server, TokenEndpoint::Discovered, None, None)).await, "done");
    let resource: String = byte_serialize(format!("{server}/mcp").as_bytes()).collect();
    let form = format!("grant_type=client_credentials&scope=read+list&resource={resource}");
    let metadata = ("GET /.well-known/oauth-authorization-server".to_owned(), String::new(), String::new());
    let basic = "Basic Y2hhdCt3cmlnaHQ6c2VjcmV0LWNhbmFyeS0x".to_owned();
    assert_eq!(seen(&gave), [metadata, ("POST /issue".to_owned(), basic, form)]);
    assert!(!format!("{:?}", seen(&asked)).contains(SECRET));
    // The secret in the body, for a server that takes it there only; the scope of the config; a refresh token.
    let (issuer, gave) = authorization_server(&["client_secret_post"]).await;
    let (server, _) = server_of(&issuer).await;
    assert_eq!(called(settings_with(&server, TokenEndpoint::Discovered, Some(REFRESH), Some("tools"))).await, "done");
    let (_, sign, body) = seen(&gave).pop().unwrap();
    assert_eq!(sign, "");
    assert!(
        body.starts_with(&format!("grant_type=refresh_token&refresh_token={REFRESH}&scope=tools&resource=")),
        "{body}"
    );
    assert!(body.ends_with(&format!("&client_id=chat+wright&client_secret={SECRET}")), "{body}");
}

#[tokio::test]
async fn secrets_are_sent_to_the_issuer_of_the_config_only() {
    let (thief, stolen) = authorization_server(&["client_secret_basic"]).await;
    let (issuer, _) = authorization_server(&["client_secret_basic"]).await;
    let (server, asked) = server_of(&thief).await;
    let at = |issuer: &str| settings_with(&server, TokenEndpoint::Issuer(issuer.parse().unwrap()), None, None);
    assert_eq!(called(at(&issuer)).await, "done");
    assert_eq!(seen(&stolen), []);
    // Neither one that takes no secret, nor one whose metadata are those of another one, gets it.
    let (without, gave) = authorization_server(&["private_key_jwt"]).await;
    let (liar, heard) =
        somebody(move |_, _, _| Json(json!({ "issuer": issuer, "token_endpoint": "/issue" })).into_response()).await;
    let before = seen(&asked).iter().filter(|(_, sign, _)| !sign.is_empty()).count();
    for issuer in [&without, &liar] {
        let output = called(at(issuer)).await;
        assert!(output.starts_with("The tools of `peer` are not available now: "), "{output}");
    }
    assert!([gave, heard].iter().all(|asked| seen(asked).iter().all(|(line, ..)| line.starts_with("GET "))));
    let after = seen(&asked).iter().filter(|(_, sign, _)| !sign.is_empty()).count();
    assert_eq!(before, after, "without a token it is not asked");
}

#[tokio::test]
async fn invalid_token_answers_are_errors() {
    let huge = "x".repeat(100 << 10);
    let answers: [fn(&str) -> Response; 7] = [
        |_| StatusCode::FORBIDDEN.into_response(),
        |_| "<html>Sign in</html>".into_response(),
        |_| Json(json!({ "token_type": "bearer" })).into_response(),
        |_| Json(json!({ "access_token": 7 })).into_response(),
        |_| Json(json!({ "access_token": "a\r\nx-admin: 1" })).into_response(),
        // A type of token that is not supported.
        |_| Json(json!({ "access_token": TOKEN, "token_type": "mac" })).into_response(),
        |huge| Body::from(json!({ "access_token": huge }).to_string()).into_response(),
    ];
    let (server, asked) = somebody(mcp).await;
    for answer in answers {
        let huge = huge.clone();
        let (issuer, gave) = somebody(move |_, _, _| answer(&huge)).await;
        let output = called(settings(&server, &format!("{issuer}/token"), None)).await;
        assert!(output.starts_with("The tools of `peer` are not available now: "), "{output}");
        assert_eq!(seen(&gave).len(), 1);
    }
    assert_eq!(seen(&asked).len(), 0);
}

#[tokio::test]
async fn credentials_are_never_shown() {
    let (log, _taken) = Log::taking();
    let (server, _) = somebody(mcp).await;
    // The server echoes what it was sent, in a refusal and in an invalid token.
    let echo = format!("{SECRET} {REFRESH} {TOKEN}");
    let (issuer, _) = somebody(|_, _, _| token(3600)).await;
    let (rude, _) = somebody(move |_, path, _| match path {
        "/refuses" => (StatusCode::BAD_REQUEST, echo.clone()).into_response(),
        _ => Json(json!({ "access_token": [echo.clone()] })).into_response(),
    })
    .await;
    let mut output = String::new();
    for token_url in [format!("{issuer}/token"), format!("{rude}/refuses"), format!("{rude}/odd")] {
        let settings = settings(&server, &token_url, Some(REFRESH));
        output += &format!("{settings:?}");
        output += &called(settings).await;
    }
    output += &log.text();
    assert!(output.contains("done") && output.contains("an MCP server is not available"), "{output}");
    for canary in [SECRET, REFRESH, TOKEN] {
        assert!(!output.contains(canary), "{canary}");
    }
}
