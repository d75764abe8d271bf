//! Where requests go, what they carry, what is never returned, and servers that misbehave.

use crate::log::Log;
use crate::server::{KEY, Server, TOKEN, VARIABLE, answer, caller};
use axum::Json;
use axum::response::{IntoResponse, Redirect};
use contract::{Tool, ToolSource};
use remote_agents::{RemoteAgent, RemoteAgentSettings, RemoteSelection, RemoteSource, UserToken};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const CANARIES: [&str; 3] = [KEY, TOKEN, VARIABLE];

fn assert_clean(seen: &str) {
    for canary in CANARIES {
        assert!(!seen.contains(canary), "{canary} in {seen}");
    }
}

#[tokio::test]
async fn secrets_that_the_server_echoes_are_replaced() {
    let (log, _taken) = Log::taking();
    // A secret that is hidden by a character which is removed.
    let hidden = format!("{}\u{200b}{}", &KEY[..5], &KEY[5..]);
    let echo = format!("{KEY} {TOKEN} {VARIABLE} {hidden}");
    let server = Server::with(move |seen| match seen.line.as_str() {
        "GET /v1/tools" => {
            let parameters = json!({ "properties": { "p": { "type": "string", "description": echo } } });
            let bad = json!({ "properties": { "p": { "type": "string", "enum": [KEY] } } });
            let tools = json!([
                { "name": "find", "description": echo, "parameters": parameters },
                { "name": KEY },
                { "name": "bad", "parameters": bad },
                { "name": "worse", "confirmationRequired": TOKEN },
                { "name": "worst", "parameters": { "properties": { VARIABLE: {} } } },
            ]);
            Json(json!({ "tools": tools })).into_response()
        }
        "POST /v1/resource" => Json(json!(echo)).into_response(),
        _ if seen.body.contains("fail") => {
            Json(json!({ "success": false, "error": { "message": echo, "code": echo, "details": { "h": echo } } }))
                .into_response()
        }
        _ => Json(json!({ "success": true, "data": { "text": echo.replace('\u{200b}', ""), KEY: [TOKEN] } }))
            .into_response(),
    })
    .await;
    let found = server.discover().await;
    assert_eq!((found.tools.len(), found.warnings.len()), (1, 4));
    assert_clean(&found.warnings.join("\n"));
    let tool = &found.tools[0];
    assert_eq!(tool.spec().description, "[secret] [secret] [secret] [secret]");
    assert_clean(&format!("{:?}", tool.spec()));
    let result = tool.call(json!({}), caller()).await.unwrap().to_string();
    assert_eq!(
        result,
        r#"{"type":"mixed","text":"[secret] [secret] [secret] [secret]","data":{"[secret]":["[secret]"]}}"#
    );
    let error = tool.call(json!({ "q": "fail" }), caller()).await.unwrap_err().message;
    assert!(error.contains("[secret] [secret] [secret] [secret]"), "{error}");
    assert_clean(&error);
    assert_eq!(
        server.agent().resource(&contract::RunScope::default()).await.unwrap(),
        r#""[secret] [secret] [secret] [secret]""#
    );
    assert_clean(&format!("{:?}", server.settings()));
    let logged = log.text();
    assert!(!logged.is_empty());
    assert_clean(&logged);
}

#[tokio::test]
async fn private_addresses_are_refused_before_a_connection() {
    let server = Server::finding(|| answer(200, "{}")).await;
    for host in ["127.0.0.1", "2130706433", "[::ffff:7f00:1]", "localhost", "0.0.0.0"] {
        let base_url = format!("https://{host}:{}/", server.address.port()).parse().unwrap();
        let settings = RemoteAgentSettings { allow_private: false, base_url, ..server.settings() };
        let error = RemoteAgent::new(settings).unwrap().discover().await.err().unwrap();
        assert_eq!(
            error,
            "the list of tools: the address is not public, and the connection does not allow private addresses"
        );
    }
    assert!(server.seen().is_empty(), "nobody may have come");
}

#[tokio::test]
async fn keys_do_not_follow_redirects_to_another_origin() {
    let other = Server::finding(|| answer(200, r#"{"success":true,"data":{"text":"stolen"}}"#)).await;
    for redirect in [Redirect::to, Redirect::temporary, Redirect::permanent] {
        let address = other.address;
        let server = Server::finding(move || redirect(&format!("http://{address}/")).into_response()).await;
        let expected = "error: The tool gave no result: the server redirects to another origin or too often, which is not followed.";
        assert_eq!(server.call(json!({})).await, expected);
        assert_eq!(server.agent().resource(&contract::RunScope::default()).await, None);
    }
    assert!(other.seen().is_empty(), "nobody may have come");
}

#[tokio::test]
async fn invalid_settings_are_rejected() {
    let server = Server::finding(|| answer(200, "{}")).await;
    let check = |change: &dyn Fn(&mut RemoteAgentSettings), expected: &str| {
        let mut settings = server.settings();
        change(&mut settings);
        assert_eq!(RemoteAgent::new(settings).err().as_deref(), Some(expected));
    };
    let address = |address: &'static str, expected: &str| check(&|it| it.base_url = address.parse().unwrap(), expected);
    for other in ["file:///x", "ftp://x.org/", "data:x"] {
        address(other, "the agent's URL must begin with https:// or http://");
    }
    for more in ["https://a@x.org", "https://:b@x.org", "https://x.org/?k=1", "https://x.org/#a"] {
        address(more, "the agent's URL may only have a host and a path");
    }
    check(
        &|it| it.allow_private = false,
        "the agent's URL must begin with https://, unless private addresses are allowed",
    );
    check(&|it| it.api_key = " ".into(), "the api key is empty");
    check(&|it| it.api_key = "a\nb".into(), "the api key holds a character that HTTP forbids");
    check(
        &|it| it.user_token = Some(UserToken::Fixed("a\r\nb: c".into())),
        "the user's token holds a character that HTTP forbids",
    );
    check(&|it| it.variables[0].1 = "a\0".into(), "the dburi holds a character that HTTP forbids");
    check(&|it| it.variables[0].0 = "a b".to_owned(), "`a b` cannot be in the name of a header");
    check(&|it| it.variables[0].0 = "API-Key".to_owned(), "the header `x-API-Key` is there already");
    check(&|it| it.variables.push(("DBURI".to_owned(), "x".into())), "the header `x-DBURI` is there already");
    check(&|it| it.prefix = Some("a b".to_owned()), "the prefix may have letters, digits, `_` and `-`");
}

#[tokio::test]
async fn each_users_token_is_sent_with_their_requests() {
    let server = Server::with(|seen| match seen.line.as_str() {
        "GET /v1/tools" => answer(200, r#"{"tools":[{"name":"find"}]}"#),
        "POST /v1/resource" => answer(200, r#"{"success":true,"data":{"text":"known"}}"#),
        _ => {
            let token = seen.headers.get("authorization").map(|value| value.to_str().unwrap());
            Json(json!({ "success": true, "data": { "text": token } })).into_response()
        }
    })
    .await;
    let settings = RemoteAgentSettings { user_token: Some(UserToken::Own), ..server.settings() };
    let source =
        RemoteSource::new("crm", RemoteAgent::new(settings).unwrap(), &RemoteSelection::default(), Arc::default())
            .unwrap();
    let check = async |token: Option<&str>, context: bool, expected: &str| {
        let token = token.map(contract::Bearer::new);
        let scope =
            Arc::new(contract::RunScope { user_id: "ada".to_owned(), token: token.clone(), ..Default::default() });
        let sourced = source.tools(&scope).await.unwrap();
        assert_eq!(sourced.context.is_some(), context, "{token:?}");
        let result = sourced.tools[0].call(json!({}), contract::ToolContext { scope, ..caller() }).await;
        assert_eq!(result.map_or_else(|error| error.to_string(), |text| text.to_string()), expected, "{token:?}");
    };
    check(Some("ada-canary"), true, r#""Bearer [secret]""#).await;
    check(Some("bob-canary"), true, r#""Bearer [secret]""#).await;
    let none = "The tool gave no result: it requires the user's own token, and this user has none.";
    check(None, false, none).await;
    let wrong = "The tool gave no result: the user's token holds a character that HTTP forbids.";
    check(Some("a\r\nx-api-key: b"), false, wrong).await;
    let carried = server.seen().into_iter().map(|seen| {
        let token = seen.headers.get("authorization").map_or("-", |value| value.to_str().unwrap());
        format!("{} {token}", seen.line)
    });
    // The list and the context are requested concurrently. Without a token nothing is requested for
    // a user, and the list is shared by all.
    let (mut carried, rest): (Vec<_>, Vec<_>) = carried.partition(|line| line.starts_with("GET"));
    assert_eq!(carried.pop().as_deref(), Some("GET /v1/tools -"));
    assert_eq!(carried.len(), 0);
    assert_eq!(
        rest,
        [
            "POST /v1/resource Bearer ada-canary",
            "POST /v1/tools/find Bearer ada-canary",
            "POST /v1/resource Bearer bob-canary",
            "POST /v1/tools/find Bearer bob-canary",
        ]
    );
}

/// Starts a server that lists `find`, answers a call with these bytes, and then keeps the
/// connection open or closes it. The receiver gets `asked` for each call, and `gone` when its caller
/// has disconnected.
async fn rude(bytes: &'static [u8], keep: bool) -> (RemoteAgentSettings, tokio::sync::mpsc::Receiver<&'static str>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::finding(|| answer(200, "{}")).await;
    let base_url = format!("http://{}/", listener.local_addr().unwrap()).parse().unwrap();
    let (news, told) = tokio::sync::mpsc::channel(8);
    tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let news = news.clone();
            tokio::spawn(async move {
                let mut read = [0; 4096];
                let length = socket.read(&mut read).await.unwrap_or_default();
                if read[..length].starts_with(b"GET") {
                    let list = r#"{"tools":[{"name":"find"}]}"#;
                    let head =
                        format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", list.len());
                    let _ = socket.write_all(format!("{head}{list}").as_bytes()).await;
                    return;
                }
                let _ = news.send("asked").await;
                let _ = socket.write_all(bytes).await;
                while keep && socket.read(&mut read).await.is_ok_and(|length| length > 0) {}
                let _ = news.send("gone").await;
            });
        }
    });
    (RemoteAgentSettings { base_url, ..server.settings() }, told)
}

#[tokio::test]
async fn servers_that_die_or_hang_are_errors() {
    let check = |bytes: &'static [u8], keep: bool, expected: &'static str| async move {
        let (settings, _) = rude(bytes, keep).await;
        let call_time = if keep { Duration::from_millis(1_500) } else { settings.call_time };
        let settings = RemoteAgentSettings { call_time, ..settings };
        let tool = RemoteAgent::new(settings).unwrap().discover().await.unwrap().tools.pop().unwrap();
        let error = tool.call(json!({}), caller()).await.unwrap_err().message;
        assert_eq!(error, format!("The tool gave no result: {expected}. It may or may not have had an effect."));
    };
    let (broken, late) = ("the server cannot be reached", "the server did not answer within 1.5 s");
    check(b"", false, broken).await;
    check(b"SSH-2.0-x\r\n", false, broken).await;
    check(b"HTTP/1.1 200 OK\r\ncontent-le", false, broken).await;
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"succ", false, broken).await;
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\ncontent-encoding: gzip\r\n\r\n{\"succ", false, broken).await;
    check(b"", true, late).await;
    check(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{\"succ", true, late).await;
}

#[tokio::test]
async fn stopping_closes_the_connection() {
    let (settings, mut told) = rude(b"", true).await;
    let tool = RemoteAgent::new(settings).unwrap().discover().await.unwrap().tools.pop().unwrap();
    let context = caller();
    let stop = context.cancel.clone();
    let stopped = async {
        assert_eq!(told.recv().await, Some("asked"));
        stop.cancel();
    };
    let (ended, ()) = tokio::join!(tool.call(json!({}), context), stopped);
    let error = ended.unwrap_err().message;
    assert_eq!(error, "Stopped before it finished. It may or may not have had an effect.");
    assert_eq!(tokio::time::timeout(Duration::from_secs(60), told.recv()).await, Ok(Some("gone")));
}
