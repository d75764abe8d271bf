//! Bodies and headers that are wrong, at every route (B1): what cannot be read is refused with a code, nothing of it is written, and nothing
//! makes the server fail.

use super::bodies::{Sent, arguments, body, schema};
use super::house::{House, owner};
use super::{Route, routes};
use axum::body::Body;
use axum::http::{Method, header};
use serde_json::Value;
use std::cell::RefCell;

const JSON: &str = "application/json";

/// Values that stand where another one belongs, as they are written in JSON.
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

/// These bytes at the beginning of the first text.
fn broken(good: &str, bytes: &[u8]) -> Vec<u8> {
    let (before, after) = good.split_once(":\"").unwrap_or((good, ""));
    [before.as_bytes(), b":\"", bytes, after.as_bytes()].concat()
}

/// No JSON at all.
fn unreadable(good: &str) -> Vec<(&'static str, Vec<u8>)> {
    let before_end = &good[..good.len() - 1];
    vec![
        ("nothing", Vec::new()),
        ("cut off", before_end.into()),
        ("more behind it", format!("{good} x").into()),
        ("no UTF-8", broken(good, b"\xff\xfe")),
        ("too long for its sign", broken(good, b"\xc0\xaf")),
        ("a control character", format!("{before_end},\"x\":\"\u{0}\"}}").into()),
        ("not a number", format!("{before_end},\"x\":NaN}}").into()),
        ("deep", "[".repeat(10_000).into()),
        ("deep and whole", format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000)).into()),
        ("single quotes", good.replace('"', "'").into()),
        ("a form", b"id=1&name=x".into()),
    ]
}

/// JSON, but hardly what was meant: refused, or read as what it is.
fn strange(route: &Route, value: &Value) -> Vec<(String, Vec<u8>)> {
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
    let (names, every) = match route.path.starts_with("/ui/") {
        // Their bodies have the arguments of all.
        true => (arguments(route, ""), 4),
        false => (value.as_object().cloned().unwrap_or_default(), 1),
    };
    for name in names.keys() {
        let twice = format!("{before_end},\"{name}\":{}}}", value[name]);
        all.push((format!("{name} twice"), twice.into()));
        for put in VALUES.iter().step_by(every) {
            let mut value = value.clone();
            value[name] = "@@".into();
            all.push((format!("{name}: {put}"), value.to_string().replace("\"@@\"", put).into()));
        }
    }
    all
}

/// What is not as it should be; all of it is told at the end.
#[derive(Default)]
struct Wrong(RefCell<Vec<String>>);

impl Wrong {
    fn unless(&self, is_right: bool, said: &str) {
        if !is_right {
            self.0.borrow_mut().push(said.chars().take(300).collect());
        }
    }
}

impl Drop for Wrong {
    fn drop(&mut self) {
        let wrong = self.0.take();
        assert!(wrong.is_empty() || std::thread::panicking(), "{} are wrong: {wrong:#?}", wrong.len());
    }
}

struct Case<'a> {
    house: &'a House,
    route: &'a Route,
    wrong: &'a Wrong,
}

impl Case<'_> {
    /// Sends it as whoever may; an answer of a program's route that is no success has a code.
    async fn send(&self, what: &str, kind: Option<&str>, body: Vec<u8>, more: &[(&str, &str)]) -> (u16, String) {
        let (house, route) = (self.house, self.route);
        let path = route.at(&house.own(route));
        let mut request = house.request(owner(route), route.method.clone(), &path).await;
        request = request.header(header::ACCEPT, JSON);
        for (name, value) in kind.map(|kind| ("content-type", kind)).iter().chain(more) {
            request = request.header(*name, *value);
        }
        let (status, answer) = house.answer(request, Body::from(body)).await;
        let case = format!("{} {} with {what}: {status} {answer}", route.method, route.path);
        self.wrong.unless(status < 500, &case);
        if status >= 400 && route.path.starts_with("/api/") {
            let code = serde_json::from_str::<Value>(&answer).unwrap_or_default()["error"]["code"].clone();
            self.wrong.unless(code.is_string(), &case);
        }
        (status, case)
    }
}

fn is_json(route: &Route) -> bool {
    let has_body = matches!(route.method, Method::POST | Method::PUT | Method::PATCH);
    has_body && (route.path.starts_with("/ui/") || schema(route).is_some())
}

fn good(house: &House, route: &Route) -> Value {
    match body(route, &house.own(route)).swap_remove(0) {
        Sent::Json(body) => body,
        _ => panic!("{route:?} has no JSON"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_is_refused_and_writes_nothing() {
    let house = House::open().await;
    let (mut tried, mut before, wrong) = (0, house.tables.settled().await, Wrong::default());
    for route in routes().await.into_iter().filter(is_json) {
        tried += 1;
        let case = Case { house: &house, route: &route, wrong: &wrong };
        let good = good(&house, &route).to_string();
        for (what, body) in unreadable(&good) {
            let (status, said) = case.send(what, Some(JSON), body, &[]).await;
            // Server functions pass over what they do not know.
            let is_passed_over =
                route.path.starts_with("/ui/") && ["no UTF-8", "too long for its sign"].contains(&what);
            wrong.unless(status >= 400 || is_passed_over, &said);
        }
        let large = [b"{\"x\":\"".to_vec(), vec![b'x'; 12 << 20], b"\"}".to_vec()].concat();
        let length = large.len().to_string();
        let (status, said) =
            case.send("ten times too much", Some(JSON), large.clone(), &[("content-length", &length)]).await;
        wrong.unless(status == 413, &said);
        let (status, said) = case.send("ten times too much, unsaid", Some(JSON), large, &[]).await;
        wrong.unless([400, 404, 413].contains(&status), &said);
        for kind in [
            None,
            Some("text/plain"),
            Some("multipart/form-data; boundary=x"),
            Some("application/x-www-form-urlencoded"),
        ] {
            let (status, said) = case.send(&format!("{kind:?}"), kind, good.clone().into(), &[]).await;
            // Server functions look at where a request comes from, not at what it says of itself.
            wrong.unless(route.path.starts_with("/ui/") || status >= 400, &said);
        }
        let rows = house.tables.settled().await;
        wrong.unless(rows == before || route.path.starts_with("/ui/"), &format!("{route:?} wrote something"));
        before = rows;
    }
    assert!(tried > 30, "{tried} routes were tried");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_strange_is_refused_whole_or_read() {
    let house = House::open().await;
    let (mut refused, mut before, wrong) = (0, house.tables.settled().await, Wrong::default());
    for route in routes().await.into_iter().filter(is_json) {
        let case = Case { house: &house, route: &route, wrong: &wrong };
        let value = good(&house, &route);
        for (what, body) in strange(&route, &value) {
            let (status, said) = case.send(&what, Some(JSON), body, &[]).await;
            if status < 400 {
                // Only answers of agents are written on when the request is done.
                let goes_on = ["agent", "send", "invoke"].iter().any(|part| route.path.contains(part));
                before = if goes_on { house.tables.settled().await } else { house.tables.rows().await };
                continue;
            }
            refused += 1;
            let rows = house.tables.rows().await;
            wrong.unless(rows == before, &format!("something was written: {said}"));
            before = rows;
        }
    }
    assert!(refused > 300, "{refused} bodies were refused");
}

/// Headers that claim something are not believed, and none makes a route fail.
#[tokio::test(flavor = "multi_thread")]
async fn headers_change_nothing() {
    let (house, wrong) = (House::open().await, Wrong::default());
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
    for route in routes().await.into_iter().filter(|route| route.method == Method::GET) {
        let case = Case { house: &house, route: &route, wrong: &wrong };
        let (expected, _) = case.send("nothing", None, Vec::new(), &[]).await;
        for headers in headers {
            let (status, said) = case.send(&format!("{:?}", headers[0]), None, Vec::new(), headers).await;
            wrong.unless(status == expected, &format!("{expected} before: {said}"));
        }
        let (status, said) = case.send("a body", Some(JSON), b"{\"deleted\":true}".into(), &[]).await;
        wrong.unless(status == expected, &format!("{expected} before: {said}"));
    }
}
