//! Pages of all kinds, and hostile ones.

use super::client::receive;
use super::*;
use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use futures::StreamExt;
use proptest::prelude::*;
use std::convert::Infallible;
use tokio::net::TcpListener;

fn page(content_type: &str, body: impl Into<Vec<u8>>) -> Result<Page, String> {
    let url = Url::parse("https://example.com/docs/page").unwrap();
    let received = Received { url, content_type: Some(content_type.to_owned()), body: body.into(), place: None };
    let kind = content::kind(received.content_type.as_deref(), &received.body)?;
    assert_ne!(kind, Kind::Document, "{content_type}");
    Ok(content::read(received, kind, true).cut())
}

const ARTICLE: &str = r#"<!doctype html><html><head><title>Refunds - Shop</title>
<meta property="article:published_time" content="2026-01-02"></head><body>
<nav><a href="/home">Home</a> <a href="/cart">Cart</a></nav>
<script>alert("not a text")</script>
<article><h1>Refunds</h1><p>You can <b>return</b> what you bought within 30 days. The money is back within a week, to the card
that you have paid with, and we send you an e-mail, so that you know it. This sentence makes the paragraph long enough.</p>
<h2>How</h2><ul><li>Print the <a href="../label">label</a></li><li>Send the box, with all that was in it, to our address.</li></ul>
<table><tr><th>Country</th><th>Days</th></tr><tr><td>Germany</td><td>14</td></tr></table>
<p>For questions write to us, at any time, in any language that you like, and wait for our answer, which comes soon, always.</p></article>
<footer>Imprint, cookies, privacy, terms</footer></body></html>"#;

#[test]
fn article_is_markdown_without_what_surrounds_it() {
    let page = page("text/html; charset=utf-8", ARTICLE).unwrap();
    assert_eq!((page.title.as_deref(), page.published.as_deref()), (Some("Refunds - Shop"), Some("2026-01-02")));
    for expected in ["within 30 days", "## How", "[label](https://example.com/label)", "Germany", "return what"] {
        assert!(page.text.contains(expected), "{expected}: {}", page.text);
    }
    for unexpected in ["alert", "Cart", "<p>", "\u{200b}"] {
        assert!(!page.text.contains(unexpected), "{unexpected}: {}", page.text);
    }
    assert_eq!(page.links, ["https://example.com/home", "https://example.com/cart", "https://example.com/label"]);
}

#[test]
fn types_that_are_no_text_are_named() {
    let check = |content_type: &str, body: &[u8], expected: Result<&str, &str>| {
        let read = page(content_type, body).map(|page| page.text);
        assert_eq!(read.as_deref().map_err(String::as_str), expected, "{content_type}");
    };
    check("text/plain", b"a\n  b", Ok("a\n  b"));
    check("application/json", br#"{"a":1}"#, Ok(r#"{"a":1}"#));
    check("application/problem+json; charset=utf-8", b"{}", Ok("{}"));
    check("TEXT/MARKDOWN", b"# A", Ok("# A"));
    check("", b"plain", Ok("plain"));
    check("", b" <p>short</p>", Ok("short"));
    check("plain", b"no type", Ok("no type"));
    check("", b"\xff\xfe\xfd\0", Err("It is not a text."));
    check("image/png", b"", Err("It is an image, which this tool cannot read."));
    check("video/mp4", b"", Err("It is a recording, which this tool cannot read."));
    check("font/woff2", b"", Err("It is a file of a type that this tool cannot read."));
    check("text/plain; charset=windows-1252", b"caf\xe9", Ok("café"));
    check("text/plain", "\u{feff}a\u{202e}b".as_bytes(), Ok("ab"));
    check("text/html", b"<meta charset=iso-8859-1><p>caf\xe9</p>", Ok("café"));
}

#[test]
fn documents_are_recognised_by_type_or_first_bytes() {
    let check = |content_type: &str, body: &[u8], expected: bool| {
        let kind = content::kind(Some(content_type), body);
        assert_eq!(kind == Ok(Kind::Document), expected, "{content_type}: {kind:?}");
    };
    check("application/pdf", b"", true);
    check("Application/PDF; x=y", b"<html>", true);
    check("application/vnd.openxmlformats-officedocument.wordprocessingml.document", b"", true);
    check("application/octet-stream", b"text", true);
    check("message/rfc822", b"Subject: A", true);
    check("text/html", b"%PDF-1.7", true);
    check("image/png", b"PK\x03\x04", true);
    check("", b"%PDF-1.7", true);
    check("text/html", b"<p>A PDF file begins with %PDF-", false);
    check("application/json", b"{}", false);
    check("image/png", b"\x89PNG", false);
    check("", b"text", false);
}

/// Repeated less often, and still more than each limit allows.
#[test]
fn hostile_html_is_read() {
    read_hostile_html(20);
}

#[test]
#[ignore = "thorough: takes minutes; run by cargo xtask test --thorough"]
fn hostile_html_is_read_thoroughly() {
    read_hostile_html(1);
}

/// Reads what takes far more time and memory than its size, a part of its full size.
fn read_hostile_html(part: usize) {
    let open = |tag: &str, count: usize| tag.repeat(count / part);
    let attributes: String = (0..200_000 / part).map(|number| format!("a{number} ")).collect();
    let cases = [
        open("<div>", 300_000),
        "<b><p>".repeat((200_000 / part).max(html::MAX_ELEMENTS + 1)),
        (0..60_000 / part).map(|number| format!("<font size={number}>")).collect::<String>() + &open("<p>", 60_000),
        open("<a href=x><p>", 60_000),
        open("<table><tr><td>", 60_000),
        open("<div><table></div></table>", 20_000),
        format!("<p {attributes}>text</p>"),
        open("<<b>b x>", 100_000),
        open("<b<b>>", 100_000),
        open("<!--", 200_000),
        open("<svg><foreignObject>", 60_000),
        open("<select><option>", 60_000),
        "<".repeat((2_000_000 / part).max(MAX_TEXT + 1)),
        "x".repeat(3 << 20),
    ];
    for html in cases {
        let head: String = html.chars().take(30).collect();
        let page = page("text/html", html.as_str()).unwrap();
        assert!(page.text.chars().count() <= MAX_TEXT);
        assert!(page.is_cut || html.len() <= (2 << 20), "{head}");
    }
}

#[test]
fn a_page_is_returned_in_pieces() {
    let url = Url::parse("https://example.com/").unwrap();
    let text: String = (0..10_000).map(|number| if number % 2 == 0 { 'ä' } else { 'b' }).collect();
    let page = Page { text: text.clone(), is_cut: true, ..Page::default() };
    let (mut offset, mut read, mut calls) = (Some(0), String::new(), 0);
    while let Some(at) = offset {
        let part = piece(&url, &page, at).unwrap();
        read.push_str(part["text"].as_str().unwrap());
        offset = part["nextOffset"].as_u64().map(|next| next as usize);
        assert_eq!(part["cut"].is_string(), offset.is_none());
        calls += 1;
    }
    assert_eq!((read == text, calls), (true, 3));
    let error = piece(&url, &page, 10_000).unwrap_err().message;
    assert_eq!(error, "The page has 10000 characters, so nothing is at 10000.");
    assert_eq!(piece(&url, &Page::default(), 0).unwrap()["text"], "");
}

#[test]
fn hosts_are_compared_without_case_and_final_dots() {
    let hosts =
        Hosts::new(Some(&["Docs.example.com".to_owned(), "*.example.org".to_owned()]), &["bad.example.org".to_owned()]);
    let hosts = hosts.unwrap();
    let check =
        |url: &str, expected: bool| assert_eq!(hosts.check(&Url::parse(url).unwrap()).is_ok(), expected, "{url}");
    check("https://docs.example.com/x", true);
    check("https://DOCS.example.com./x", true);
    check("https://a.b.example.org:8443/", true);
    check("https://bad.example.org/", false);
    check("https://b%61d.example.org/", false);
    check("https://bad.example.org./", false);
    check("https://example.org/", false);
    check("https://example.com/", false);
    assert!(Hosts::new(None, &[]).unwrap().check(&Url::parse("https://any.example/").unwrap()).is_ok());
}

/// A server with slow, large and redirecting pages.
async fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    let other = origin.replace("127.0.0.1", "localhost");
    let endless = |content_type: &'static str| {
        let chunks = futures::stream::repeat_with(|| Ok::<_, Infallible>(vec![b'x'; 64 * 1024]));
        ([("content-type", content_type)], Body::from_stream(chunks))
    };
    let drip = || {
        let chunks = futures::stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_millis(20)).await;
            Some((Ok::<_, Infallible>("x"), ()))
        });
        Body::from_stream(chunks.boxed())
    };
    let router = Router::new()
        .route("/", get(|headers: HeaderMap| async move { format!("{:?}", headers.get("cookie")) }))
        .route(
            "/set",
            get(|| async {
                ([("set-cookie", "a=b"), ("location", "/")], StatusCode::FOUND).into_response() as Response
            }),
        )
        .route("/away", get(move || async move { Redirect::temporary(&format!("{other}/")) }))
        .route("/loop", get(|| async { Redirect::temporary("/loop") }))
        .route("/file", get(|| async { Redirect::temporary("file:///etc/passwd") }))
        .route("/endless", get(move || async move { endless("text/html") }))
        .route("/endless.pdf", get(move || async move { endless("application/pdf") }))
        .route("/drip", get(move || async move { drip() }))
        .route("/missing", get(|| async { StatusCode::NOT_FOUND }));
    tokio::spawn(async move { axum::serve(listener, router).await });
    origin
}

#[tokio::test]
async fn pages_are_received_within_limits_and_redirects_are_checked() {
    let origin = server().await;
    let egress = Egress::without_redirects(true).unwrap();
    let hosts = Hosts::new(None, &["localhost".to_owned()]).unwrap();
    let documents = DocumentReader::default();
    let check = async |path: &str, expected: Result<&str, &str>| {
        let url = Url::parse(&format!("{origin}{path}")).unwrap();
        let time = Duration::from_secs(if path == "/drip" { 1 } else { 60 });
        let received = receive(&egress, &hosts, &documents, url, time).await;
        let body = received.map(|received| String::from_utf8(received.body).unwrap());
        assert_eq!(body.as_deref().map_err(String::as_str), expected, "{path}");
    };
    check("/", Ok("None")).await;
    // No cookies are kept.
    check("/set", Ok("None")).await;
    check("/away", Err("This site does not allow fetching pages of localhost.")).await;
    check("/loop", Err("The page redirects more than 5 times.")).await;
    check("/file", Err("Only URLs that begin with https:// or http:// can be fetched.")).await;
    check("/endless", Err("The page is larger than 5 MB.")).await;
    check("/endless.pdf", Err("The page is larger than 20 MB.")).await;
    check("/drip", Err("The page was not received within 1 s.")).await;
    check("/missing", Err("The server answered with the status 404.")).await;
    // The places of requests that failed are free again.
    let places: Vec<_> = std::iter::from_fn(|| documents.place()).collect();
    check("/endless.pdf", Err("Too many documents are being read. Try again in a moment.")).await;
    check("/", Ok("None")).await;
    assert_eq!(places.len(), 16);
    let public = Egress::without_redirects(false).unwrap();
    let url = Url::parse(&origin).unwrap();
    let refused = receive(&public, &hosts, &documents, url, Duration::from_secs(1)).await;
    assert_eq!(refused.unwrap_err(), "The page has no public address.");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_bytes_are_read(content_type in "(text/html|text/plain|application/json|)(; charset=[a-z0-9-]{0,8})?", body in any::<Vec<u8>>()) {
        fuzz_page(&content_type, &body);
    }

    #[test]
    fn any_markup_is_read(parts in prop::collection::vec("(<[a-z]{1,8}( [a-z]{1,4}=\"?[a-z]{0,4}\"?)?>|</[a-z]{1,8}>|[a-z <>&]{0,8})", 0..60)) {
        fuzz_page("text/html", parts.concat().as_bytes());
    }
}
