//! Asks an MCP server which authorization it wants.

use crate::{Challenge, OauthHttp};
use ::http::{HeaderMap, HeaderValue, Method, header};
use egress::challenges;
use serde_json::json;
use url::Url;

/// Returns what an MCP server says to a request without a token.
pub async fn probe(http: &OauthHttp, server: &Url) -> Challenge {
    let message = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "chatwright", "version": env!("CARGO_PKG_VERSION") },
        },
    });
    let headers = HeaderMap::from_iter([
        (header::CONTENT_TYPE, HeaderValue::from_static("application/json")),
        (header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream")),
    ]);
    let body = Some(message.to_string().into_bytes());
    let answer = http.send("the service", Method::POST, server.clone(), headers, body).await;
    let Ok(answer) = answer else { return Challenge::default() };
    if answer.status == 401 { Challenge::parse(&challenges(&answer.headers)) } else { Challenge::default() }
}
