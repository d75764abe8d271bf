//! Tests providers that misbehave, over a real socket.

mod peer;

use contract::{FileData, Message, Model, ModelError, ModelErrorKind, Part, Request, ToolSpec, UserPart};
use futures::StreamExt;
use peer::table::PROVIDERS;
use peer::{Peer, Script, response};
use providers::ModelSettings;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-canary-1234";

fn settings(base_url: String) -> ModelSettings {
    ModelSettings {
        api_key: Some(KEY.into()),
        base_url: Some(base_url),
        headers: vec![("x-tenant".to_owned(), "tenant-canary".into())],
        public_only: false,
        model: "m".to_owned(),
    }
}

fn request() -> Request {
    let user = Message::User(vec![UserPart::Text { text: "hello".to_owned() }]);
    Request { messages: vec![Arc::new(user)], ..Request::default() }
}

fn sse(fixture: &str) -> String {
    fixture.lines().map(|line| format!("data: {line}\n\n")).collect()
}

/// Returns all parts, and the error that ended them.
async fn ask(model: &dyn Model, cancel: &CancellationToken) -> (Vec<Part>, Option<ModelError>) {
    ask_with(model, request(), cancel).await
}

async fn ask_with(model: &dyn Model, request: Request, cancel: &CancellationToken) -> (Vec<Part>, Option<ModelError>) {
    let mut parts = match model.stream(request, cancel.clone()).await {
        Ok(parts) => parts,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut read = Vec::new();
    while let Some(part) = parts.next().await {
        match part {
            Ok(Part::Alive) => {}
            Ok(part) => read.push(part),
            Err(error) => {
                assert!(parts.next().await.is_none(), "an error is the last item");
                return (read, Some(error));
            }
        }
    }
    (read, None)
}

/// Asks, and cancels when the first part of the answer arrives.
async fn cancel_at_first_part(model: &dyn Model) -> (Vec<Part>, Option<ModelError>) {
    let cancel = CancellationToken::new();
    let mut parts = model.stream(request(), cancel.clone()).await.unwrap();
    let mut read = Vec::new();
    while let Some(part) = parts.next().await {
        match part {
            Ok(Part::Alive) => {}
            Ok(part) => {
                read.push(part);
                cancel.cancel();
            }
            Err(error) => return (read, Some(error)),
        }
    }
    (read, None)
}

/// Waits until the peer has received a request.
async fn asked(peer: &Peer) {
    while peer.requests().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Runs all providers against one script and checks the error's kind and a part of its cause.
async fn check(script: Script, kind: ModelErrorKind, cause: &str) -> Vec<ModelError> {
    let peer = Peer::start(script).await;
    let mut errors = Vec::new();
    for provider in PROVIDERS {
        let (parts, error) = ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
        let error = error.expect("an error");
        assert_eq!(error.kind, kind, "{error}");
        assert!(error.cause.contains(cause), "{error}");
        assert!(!error.to_string().contains("canary"), "{error}");
        assert!(!parts.iter().any(|part| matches!(part, Part::Finish { .. })));
        errors.push(error);
    }
    errors
}

#[tokio::test]
async fn status_determines_the_error_kind() {
    use ModelErrorKind::{ContextTooLong, RateLimited, Refused, Unauthorized, Unavailable};
    let body = format!(r#"{{"error":{{"message":"bad key {KEY} of tenant-canary"}}}}"#);
    check(Script::Answer(response("401 Unauthorized", "", &body)), Unauthorized, "bad key [secret]").await;
    check(Script::Answer(response("403 Forbidden", "", "")), Unauthorized, "403").await;
    check(Script::Answer(response("400 Bad Request", "", "no such model")), Refused, "no such model").await;
    let long = r#"{"error":{"code":"context_length_exceeded"}}"#;
    check(Script::Answer(response("400 Bad Request", "", long)), ContextTooLong, "context_length").await;
    check(Script::Answer(response("500 Internal Server Error", "", "<html>oops</html>")), Unavailable, "oops").await;
    check(Script::Answer(response("529 Overloaded", "", "")), Unavailable, "529").await;
    for (header, wait) in
        [("Retry-After: 2", Some(2_000)), ("retry-after-ms: 40", Some(40)), ("Retry-After: soon", None)]
    {
        let errors = check(Script::Answer(response("429 Too Many Requests", header, "")), RateLimited, "429").await;
        assert!(errors.iter().all(|error| error.retry_after == wait.map(Duration::from_millis)), "{errors:?}");
    }
}

/// Only the provider knows which files a model accepts: a rejected request is repeated with notes
/// in place of the files.
#[tokio::test]
async fn rejected_files_are_replaced_by_notes() {
    let png = "iVBORw0KGgo=";
    let request = || {
        let (media_type, data) = ("image/png".to_owned(), FileData::Base64(png.to_owned()));
        let image = UserPart::File { media_type, data, filename: Some("a.png".to_owned()) };
        Request { messages: vec![Arc::new(Message::User(vec![image]))], ..Request::default() }
    };
    for provider in PROVIDERS {
        let script = Script::Refuses { word: png, answer: sse(provider.fixture).into_bytes() };
        let peer = Peer::start(script).await;
        let (parts, error) = ask_with(&*provider.model_at(&peer.url()), request(), &CancellationToken::new()).await;
        assert!(!parts.is_empty() && error.is_none_or(|error| error.kind != ModelErrorKind::Refused));
        assert_eq!(peer.requests().len(), 2);
        // If the files were not the reason, the provider's error counts.
        let peer = Peer::start(Script::Answer(response("400 Bad Request", "", "bad key"))).await;
        let (_, error) = ask_with(&*provider.model_at(&peer.url()), request(), &CancellationToken::new()).await;
        assert_eq!((error.unwrap().kind, peer.requests().len()), (ModelErrorKind::Refused, 2));
    }
}

/// An image is not the reason why a conversation is too long, but a document may be.
#[tokio::test]
async fn only_documents_are_left_out_of_a_request_that_is_too_long() {
    let check = async |media_type: &str, requests: usize| {
        let data = FileData::Base64("iVBORw0KGgo=".to_owned());
        let file = UserPart::File { media_type: media_type.to_owned(), data, filename: None };
        let request = Request { messages: vec![Arc::new(Message::User(vec![file]))], ..Request::default() };
        let long = r#"{"error":{"code":"context_length_exceeded"}}"#;
        let peer = Peer::start(Script::Answer(response("400 Bad Request", "", long))).await;
        let (_, error) = ask_with(&*PROVIDERS[0].model_at(&peer.url()), request, &CancellationToken::new()).await;
        assert_eq!((error.unwrap().kind, peer.requests().len()), (ModelErrorKind::ContextTooLong, requests));
    };
    check("image/png", 1).await;
    check("application/pdf", 2).await;
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let attacker = Peer::start(Script::Answer(response("200 OK", "", ""))).await;
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("Location: {}/v1/messages", attacker.url());
        check(Script::Answer(response(status, &location, "")), ModelErrorKind::Refused, &status[..3]).await;
    }
    assert!(attacker.requests().is_empty(), "no key may travel");
}

/// Names that resolve to private addresses are a matter of `egress`, which tests them.
#[tokio::test]
async fn restricted_models_do_not_reach_this_machine() {
    let peer = Peer::start(Script::Answer(response("200 OK", "", ""))).await;
    for provider in PROVIDERS {
        for url in [peer.url(), peer.url().replace("127.0.0.1", "localhost")] {
            let settings = ModelSettings { public_only: true, ..settings(format!("{url}/v1")) };
            let (_, error) = ask(&*(provider.model)(settings), &CancellationToken::new()).await;
            assert_eq!(error.map(|error| error.kind), Some(ModelErrorKind::Unreachable), "{url}");
        }
    }
    assert!(peer.requests().is_empty(), "no key may travel");
}

#[tokio::test]
async fn key_is_sent_in_its_header_only() {
    let peer = Peer::start(Script::Answer(response("400 Bad Request", "", ""))).await;
    for provider in PROVIDERS {
        ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
    }
    for (request, provider) in peer.requests().iter().zip(PROVIDERS) {
        assert!(request.starts_with(&format!("POST {} HTTP/1.1\r\n", provider.path)), "{request}");
        assert!(request.contains(&format!("{}{KEY}\r\n", provider.key)), "{request}");
        assert_eq!(request.matches(KEY).count(), 1, "{request}");
        assert!(request.contains("x-tenant: tenant-canary\r\n") && !request.contains("accept-encoding"));
    }
    assert!(peer.requests()[0].contains("anthropic-version: 2023-06-01\r\n"));
}

#[tokio::test]
async fn response_that_is_not_a_stream_is_an_error() {
    use ModelErrorKind::BrokenStream;
    let html = response("200 OK", "Content-Type: text/html; charset=utf-8", "<html>Sign in</html>");
    check(Script::Answer(html), BrokenStream, "text/html").await;
    let json = response("200 OK", "Content-Type: application/json", r#"{"error":{"message":"no quota"}}"#);
    check(Script::Answer(json), BrokenStream, "no quota").await;
    check(Script::Answer(response("200 OK", "", "<html>Sign in</html>")), BrokenStream, "no server-sent events").await;
    check(Script::Answer(response("200 OK", "", "data: {\u{0}}\n\n")), BrokenStream, "cannot be parsed").await;
    check(Script::Bytes(b"data: {\"type\":\"\xff\"}\n\n".to_vec()), BrokenStream, "not UTF-8").await;
    check(Script::Bytes(Vec::new()), BrokenStream, "ended").await;
    let short = "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\ndata: {}\n\n".to_owned();
    check(Script::Answer(short), BrokenStream, "the connection failed while the response was read").await;
    check(Script::Answer("HTTP/1.1 200 OK\r\n".to_owned()), ModelErrorKind::Unreachable, "").await;
}

#[tokio::test]
async fn error_event_ends_the_reply() {
    for provider in PROVIDERS {
        let stream = provider.first_events(4) + &sse(provider.error);
        let peer = Peer::start(Script::Bytes(stream.into())).await;
        let (parts, error) = ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
        let error = error.expect("an error");
        assert_eq!(error.kind, ModelErrorKind::Unavailable, "{}", provider.path);
        assert!(error.cause.contains("Overloaded"), "{error}");
        assert!(parts.len() >= 2, "what came before is told: {parts:?}");
    }
}

/// Parts before an error in the middle of a stream are returned, and the error names the cause.
#[tokio::test]
async fn invalid_data_in_the_middle_is_an_error() {
    for provider in PROVIDERS {
        for (garbage, cause) in
            [(&b"data: {\"a\"\n\n"[..], "cannot be parsed"), (b"data: {\"a\":\"\xff\"}\n\n", "not UTF-8")]
        {
            let mut stream = provider.first_events(4).into_bytes();
            stream.extend(garbage);
            let peer = Peer::start(Script::Bytes(stream)).await;
            let (parts, error) = ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
            let error = error.expect("an error");
            assert!(error.kind == ModelErrorKind::BrokenStream && error.cause.contains(cause), "{error}");
            assert!(parts.len() >= 2 && !parts.iter().any(|part| matches!(part, Part::Finish { .. })), "{parts:?}");
        }
    }
}

/// A complete reply stays complete, even if invalid data follows in the same chunk. Gemini's
/// replies are excluded: they end with the connection.
#[tokio::test]
async fn data_after_the_end_is_ignored() {
    for provider in PROVIDERS.iter().filter(|provider| !provider.path.contains("GenerateContent")) {
        let mut stream = (sse(provider.fixture) + "data: [DONE]\n\n").into_bytes();
        stream.extend(b"data: {\"a\":\"\xff\"}\n\n");
        let peer = Peer::start(Script::Bytes(stream)).await;
        let (parts, error) = ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
        assert!(error.is_none() && matches!(parts.last(), Some(Part::Finish { .. })), "{}: {error:?}", provider.path);
    }
}

/// The connection ends after many different numbers of bytes: the reply is never finished, and no
/// incomplete call is returned.
#[tokio::test]
async fn connection_that_ends_early_is_an_error() {
    for provider in PROVIDERS {
        let stream = sse(provider.fixture);
        let end = stream.rfind(provider.end).unwrap();
        for cut in (0..end).step_by(end / 40) {
            let peer = Peer::start(Script::Bytes(stream.as_bytes()[..cut].to_vec())).await;
            let (parts, error) = ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
            let error = error.expect("an error");
            assert_eq!(error.kind, ModelErrorKind::BrokenStream, "{cut}: {error}");
            let before = &stream[..stream.floor_char_boundary(cut)];
            let calls = parts.iter().filter(|part| matches!(part, Part::ToolCall { .. })).count();
            assert!(calls <= before.matches(provider.call).count(), "{}, {cut}: {parts:?}", provider.path);
        }
    }
}

/// The peer accepts and stays silent, or stops in the middle: cancelling the request, or dropping
/// its stream, closes the socket at once.
#[tokio::test]
async fn cancelling_closes_a_silent_connection() {
    for provider in PROVIDERS {
        let begun = provider.first_events(4).into_bytes();
        for (script, is_begun) in [(Script::Silence, false), (Script::BytesThenSilence(begun), true)] {
            let peer = Peer::start(script.clone()).await;
            let model = provider.model_at(&peer.url());
            let cancelled = async {
                if is_begun {
                    return cancel_at_first_part(&*model).await;
                }
                let cancel = CancellationToken::new();
                let stop = async {
                    asked(&peer).await;
                    cancel.cancel();
                };
                tokio::join!(ask(&*model, &cancel), stop).0
            };
            let (parts, error) = tokio::time::timeout(Duration::from_secs(60), cancelled).await.unwrap();
            assert_eq!(error.unwrap().kind, ModelErrorKind::Cancelled);
            assert_eq!(!parts.is_empty(), is_begun);
            peer.closed().await;

            let peer = Peer::start(script).await;
            let model = provider.model_at(&peer.url());
            // It is dropped before its answer begins, or after that.
            tokio::select! {
                answer = model.stream(request(), CancellationToken::new()) => drop(answer),
                () = asked(&peer) => {}
            }
            peer.closed().await;
        }
    }
}

/// Data without content shows that the provider is working, and is reported as `Alive`.
#[tokio::test]
async fn comments_and_progress_are_reported_as_alive() {
    let quiet = [
        ": OPENROUTER PROCESSING\n\n",
        "event: ping\ndata: {\"type\": \"ping\"}\n\n",
        "data: {\"type\":\"response.in_progress\",\"response\":{}}\n\n",
        "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n",
        "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"\"}]}}]}\n\n",
        "data: {}\n\n",
    ];
    for provider in PROVIDERS {
        for sign in quiet {
            let peer = Peer::start(Script::BytesThenSilence(sign.as_bytes().to_vec())).await;
            let model = provider.model_at(&peer.url());
            let mut parts = model.stream(request(), CancellationToken::new()).await.unwrap();
            let first = tokio::time::timeout(Duration::from_secs(60), parts.next()).await.expect("a sign");
            assert!(matches!(first, Some(Ok(Part::Alive))), "{} {sign}: {first:?}", provider.path);
        }
    }
}

#[tokio::test]
async fn unreachable_provider_is_an_error() {
    let peer = Peer::start(Script::Silence).await;
    let url = peer.url();
    drop(peer);
    tokio::task::yield_now().await;
    for provider in PROVIDERS {
        let (_, error) = ask(&*provider.model_at(&url), &CancellationToken::new()).await;
        let error = error.unwrap();
        assert!(error.kind == ModelErrorKind::Unreachable && error.retryable(), "{error}");
    }
    for wrong in ["not a url", "http://[", "ftp://example.com"] {
        let (_, error) = ask(&*PROVIDERS[0].model_at(wrong), &CancellationToken::new()).await;
        assert_eq!(error.unwrap().kind, ModelErrorKind::Refused, "{wrong}");
    }
}

/// An endless event ends with an error at the limit, and the peer cannot send the rest.
#[tokio::test]
async fn event_size_is_limited() {
    for provider in PROVIDERS {
        let most = 100 * 1024 * 1024;
        let peer = Peer::start(Script::Endless { start: b"data: {\"type\":\"", fill: b'x', most }).await;
        let (_, error) = ask(&*provider.model_at(&peer.url()), &CancellationToken::new()).await;
        assert!(error.unwrap().cause.contains("larger than the limit"));
        peer.closed().await;
        assert!(peer.sent() < 48 * 1024 * 1024, "{} bytes were taken", peer.sent());
    }
}

/// With each of these APIs, a model may use OpenAI's wrapper for several calls.
#[tokio::test]
async fn wrapped_calls_are_expanded_unless_a_tool_has_the_name() {
    let chat = include_str!("../fixtures/openai_chat/parallel.jsonl");
    let responses = include_str!("../fixtures/openai_responses/parallel.jsonl");
    for (at, fixture, wrapper) in
        [(1, chat, "multi_tool_use.parallel"), (2, chat, "multi_tool_use.parallel"), (3, responses, "parallel")]
    {
        let peer = Peer::start(Script::Bytes(sse(fixture).into_bytes())).await;
        let model = PROVIDERS[at].model_at(&peer.url());
        for (tool, expected) in [("weather", ["weather", "clock"].as_slice()), (wrapper, &[wrapper])] {
            let schema = serde_json::json!({ "type": "object" });
            let request = Request { tools: vec![ToolSpec::new(tool, "", schema)], ..request() };
            let (parts, error) = ask_with(&*model, request, &CancellationToken::new()).await;
            assert!(error.is_none(), "{error:?}");
            let called = parts.iter().filter_map(|part| match part {
                Part::ToolCall { id, name, .. } => id.starts_with("call_1").then_some(name.as_str()),
                _ => None,
            });
            assert_eq!(called.collect::<Vec<_>>(), expected);
        }
    }
}
