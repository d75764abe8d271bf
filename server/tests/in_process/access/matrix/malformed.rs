//! Invalid bodies and headers on every route: what cannot be parsed is refused with an error code
//! and writes nothing, and no request causes a server error.

use super::bodies::{RequestBody, arguments, body, schema};
use super::fixture::{ACCEPTED, TestServer, owner};
use super::{Route, SAMPLE, is_sampled, routes};
use axum::body::Body;
use axum::http::{Method, header};
use serde_json::Value;
use std::cell::RefCell;

const JSON: &str = "application/json";

/// JSON values to put in place of other values.
const VALUES: [&str; 14] = [
    "null",
    "true",
    "-0",
    "1e999",
    "9007199254740993",
    "-1",
    "NaN",
    "\"\"",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "[]",
    "{}",
    "{\"__proto__\":{\"constructor\":1}}",
    "\"\u{202e}../../etc/passwd\"",
];

/// Puts these bytes at the start of the first string.
fn with_bytes(good: &str, bytes: &[u8]) -> Vec<u8> {
    let (before, after) = good.split_once(":\"").unwrap_or((good, ""));
    [before.as_bytes(), b":\"", bytes, after.as_bytes()].concat()
}

/// Returns bodies that are not valid JSON.
fn malformed_bodies(good: &str) -> Vec<(&'static str, Vec<u8>)> {
    let before_end = &good[..good.len() - 1];
    vec![
        ("nothing", Vec::new()),
        ("cut off", before_end.into()),
        ("more behind it", format!("{good} x").into()),
        ("no UTF-8", with_bytes(good, b"\xff\xfe")),
        ("too long for its sign", with_bytes(good, b"\xc0\xaf")),
        ("a control character", format!("{before_end},\"x\":\"\u{0}\"}}").into()),
        ("not a number", format!("{before_end},\"x\":NaN}}").into()),
        ("deep", "[".repeat(10_000).into()),
        ("deep and whole", format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000)).into()),
        ("single quotes", good.replace('"', "'").into()),
        ("a form", b"id=1&name=x".into()),
    ]
}

/// Returns JSON bodies that are unlikely to be intended: each must be refused or read literally.
fn unusual_bodies(route: &Route, value: &Value) -> Vec<(String, Vec<u8>)> {
    let good = &value.to_string();
    let before_end = &good[..good.len() - 1];
    let comma = if good.len() > 2 { "," } else { "" };
    let mut all: Vec<(String, Vec<u8>)> =
        ["null", "[]", "\"x\"", "{}", "7", "[null]", "{\"\":{}}"].map(|body| (body.to_owned(), body.into())).into();
    all.push(("a long name".into(), format!("{before_end}{comma}\"{}\":1}}", "k".repeat(100_000)).into()));
    all.push((
        "a deep value".into(),
        format!("{before_end}{comma}\"x\":{}1{}}}", "[".repeat(5_000), "]".repeat(5_000)).into(),
    ));
    let (names, every) = if route.path.starts_with("/ui/") {
        // Their bodies have the arguments of all functions.
        (arguments(route, ""), 4)
    } else {
        (value.as_object().cloned().unwrap_or_default(), 1)
    };
    for name in names.keys() {
        let twice = format!("{before_end},\"{name}\":{}}}", value[name]);
        all.push((format!("{name} twice"), twice.into()));
        let mut marked = value.clone();
        marked[name] = "@@".into();
        let marked = marked.to_string();
        for put in VALUES.iter().step_by(every) {
            all.push((format!("{name}: {put}"), marked.replace("\"@@\"", put).into()));
        }
    }
    all
}

/// Collects failures and reports them all at the end.
#[derive(Default)]
struct FailureList(RefCell<Vec<String>>);

impl FailureList {
    fn check(&self, is_right: bool, reply: &str) {
        if !is_right {
            self.0.borrow_mut().push(reply.chars().take(300).collect());
        }
    }
}

impl Drop for FailureList {
    fn drop(&mut self) {
        let wrong = self.0.take();
        assert!(wrong.is_empty() || std::thread::panicking(), "{} are wrong: {wrong:#?}", wrong.len());
    }
}

struct Case<'a> {
    server: &'a TestServer,
    route: &'a Route,
    wrong: &'a FailureList,
}

impl Case<'_> {
    /// Sends a body as a caller who may use the route. An error of an API route must have a code.
    async fn send(&self, what: &str, kind: Option<&str>, body: Vec<u8>, more: &[(&str, &str)]) -> (u16, String) {
        let (server, route) = (self.server, self.route);
        let path = route.at(&server.own_id(route));
        let mut request = server.request(owner(route), route.method.clone(), &path).await;
        request = request.header(header::ACCEPT, ACCEPTED);
        for (name, value) in kind.map(|kind| ("content-type", kind)).iter().chain(more) {
            request = request.header(*name, *value);
        }
        let (status, answer) = server.answer(request, Body::from(body)).await;
        let case = format!("{} {} with {what}: {status} {answer}", route.method, route.path);
        self.wrong.check(status < 500, &case);
        if status >= 400 && route.path.starts_with("/api/") {
            let code = serde_json::from_str::<Value>(&answer).unwrap_or_default()["error"]["code"].clone();
            self.wrong.check(code.is_string(), &case);
        }
        (status, case)
    }
}

fn is_json(route: &Route) -> bool {
    let has_body = matches!(route.method, Method::POST | Method::PUT | Method::PATCH);
    has_body && (route.path.starts_with("/ui/") || schema(route).is_some())
}

fn valid_body(server: &TestServer, route: &Route) -> Value {
    match body(route, &server.own_id(route)).swap_remove(0) {
        RequestBody::Json(body) => body,
        _ => panic!("{route:?} has no JSON"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unreadable_bodies_are_rejected_and_write_nothing() {
    unreadable_bodies(SAMPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn unreadable_bodies_are_rejected_and_write_nothing_thoroughly() {
    unreadable_bodies(1).await;
}

/// Sends one of `every` malformed bodies to each route, and larger ones.
async fn unreadable_bodies(every: usize) {
    let server = TestServer::open().await;
    let (mut tried, mut before, wrong) = (0, server.tables.settled_writes().await, FailureList::default());
    for route in routes().await.into_iter().filter(is_json) {
        tried += 1;
        let case = Case { server: &server, route: &route, wrong: &wrong };
        let good = valid_body(&server, &route).to_string();
        let bodies = malformed_bodies(&good).into_iter().enumerate();
        for (_, (what, body)) in bodies.filter(|(number, _)| is_sampled(every, tried, *number)) {
            let (status, reply) = case.send(what, Some(JSON), body, &[]).await;
            // Server functions ignore unknown fields.
            let is_passed_over =
                route.path.starts_with("/ui/") && ["no UTF-8", "too long for its sign"].contains(&what);
            wrong.check(status >= 400 || is_passed_over, &reply);
        }
        let large = [b"{\"x\":\"".to_vec(), vec![b'x'; 12 << 20], b"\"}".to_vec()].concat();
        let length = large.len().to_string();
        let (status, reply) =
            case.send("ten times too much", Some(JSON), large.clone(), &[("content-length", &length)]).await;
        wrong.check(status == 413, &reply);
        let (status, reply) = case.send("ten times too much, unsaid", Some(JSON), large, &[]).await;
        wrong.check([400, 404, 413].contains(&status), &reply);
        for kind in [
            None,
            Some("text/plain"),
            Some("multipart/form-data; boundary=x"),
            Some("application/x-www-form-urlencoded"),
        ] {
            let (status, reply) = case.send(&format!("{kind:?}"), kind, good.clone().into(), &[]).await;
            // Server functions check the origin of a request, not its content type.
            wrong.check(route.path.starts_with("/ui/") || status >= 400, &reply);
        }
        let writes = server.tables.settled_writes().await;
        wrong.check(
            writes == before || route.path.starts_with("/ui/"),
            &format!("{route:?} wrote {:?}", writes.since(&before)),
        );
        before = writes;
    }
    assert!(tried > 30, "{tried} routes were tried");
}

#[tokio::test(flavor = "multi_thread")]
async fn unusual_bodies_are_rejected_whole_or_read() {
    send_unusual_bodies(SAMPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn unusual_bodies_are_rejected_whole_or_read_thoroughly() {
    send_unusual_bodies(1).await;
}

/// Sends one of `every` unusual bodies to each route.
async fn send_unusual_bodies(every: usize) {
    let server = TestServer::open().await;
    let (mut refused, wrong) = (0, FailureList::default());
    // `None` while a run may still write.
    let mut before = None;
    for (route_number, route) in routes().await.into_iter().filter(is_json).enumerate() {
        let case = Case { server: &server, route: &route, wrong: &wrong };
        let value = valid_body(&server, &route);
        // Only runs of agents still write after the response.
        let goes_on = ["agent", "send", "invoke", "mcp", "ag-ui", "a2a"].iter().any(|part| route.path.contains(part));
        let bodies = unusual_bodies(&route, &value).into_iter().enumerate();
        for (_, (what, body)) in bodies.filter(|(number, _)| is_sampled(every, route_number, *number)) {
            let (mut status, mut reply) = case.send(&what, Some(JSON), body.clone(), &[]).await;
            if status >= 400 && before.is_none() {
                // Again, when nothing else is written.
                before = Some(server.tables.settled_writes().await);
                (status, reply) = case.send(&what, Some(JSON), body, &[]).await;
            }
            let writes = server.tables.writes().await;
            if status >= 400 {
                refused += 1;
                let changed = before.as_ref().map(|before| writes.since(before)).unwrap_or_default();
                wrong.check(changed.is_empty(), &format!("{changed:?} was written: {reply}"));
            }
            before = (status >= 400 || (before.is_some() && !goes_on)).then_some(writes);
        }
    }
    assert!(refused > 300 / every, "{refused} bodies were refused");
}

/// Headers with false claims are not trusted, and none causes a server error.
#[tokio::test(flavor = "multi_thread")]
async fn untrusted_headers_change_nothing() {
    send_untrusted_headers(SAMPLE).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
async fn untrusted_headers_change_nothing_thoroughly() {
    send_untrusted_headers(1).await;
}

/// Sends one of `every` lists of headers to each route.
async fn send_untrusted_headers(every: usize) {
    let (server, wrong) = (TestServer::open().await, FailureList::default());
    let long = "9".repeat(10_000);
    let headers: [&[(&str, &str)]; 12] = [
        &[("x-http-method-override", "DELETE"), ("x-method-override", "DELETE"), ("x-http-method", "DELETE")],
        &[("x-forwarded-for", "127.0.0.1"), ("x-forwarded-host", "evil.test"), ("x-forwarded-proto", "gopher")],
        &[("forwarded", "for=127.0.0.1;host=evil.test"), ("x-real-ip", "::1"), ("x-original-url", "/metrics")],
        &[("last-event-id", "")],
        &[("last-event-id", "-1")],
        &[("last-event-id", "18446744073709551616.18446744073709551616")],
        &[("last-event-id", "../../etc/passwd")],
        &[("last-event-id", &long)],
        &[("accept", "\u{7f}".trim_matches('\u{7f}')), ("accept-language", &long), ("accept-encoding", "identity;q=0")],
        &[("if-none-match", &long), ("range", "bytes=5-1,-99999999999999999999"), ("if-modified-since", "yesterday")],
        &[("traceparent", "00-zz-zz-zz"), ("tracestate", &long), ("baggage", &long)],
        &[("content-type", "\"\"; charset=utf-16"), ("content-encoding", "gzip"), ("expect", "100-continue")],
    ];
    let routes = routes().await.into_iter().filter(|route| route.method == Method::GET);
    for (route_number, route) in routes.enumerate() {
        let case = Case { server: &server, route: &route, wrong: &wrong };
        let (expected, _) = case.send("nothing", None, Vec::new(), &[]).await;
        let headers = headers.into_iter().enumerate();
        for (_, headers) in headers.filter(|(number, _)| is_sampled(every, route_number, *number)) {
            let (status, reply) = case.send(&format!("{:?}", headers[0]), None, Vec::new(), headers).await;
            wrong.check(status == expected, &format!("{expected} before: {reply}"));
        }
        let (status, reply) = case.send("a body", Some(JSON), b"{\"deleted\":true}".into(), &[]).await;
        wrong.check(status == expected, &format!("{expected} before: {reply}"));
    }
}
