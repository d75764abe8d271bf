//! The protocols of the providers, against stand-ins that answer with their documented JSON.

use super::*;
use crate::testing::{StandIn, settings};
use insta::assert_snapshot;
use serde_json::json;

const ALL: [ProviderKind; 4] = [ProviderKind::SearXng, ProviderKind::Brave, ProviderKind::Tavily, ProviderKind::Exa];

fn query() -> SearchQuery {
    SearchQuery {
        text: "rust & wasm".to_owned(),
        max_results: 3,
        language: Some("pt-BR".to_owned()),
        recency: Some(Recency::Week),
    }
}

/// An answer with two results, as each provider documents it.
fn answer(kind: ProviderKind) -> String {
    let answer = match kind {
        ProviderKind::SearXng => json!({
            "query": "rust & wasm",
            "number_of_results": 2,
            "results": [
                { "url": "https://example.com/a", "title": "A page", "content": "About\n  rust.", "publishedDate": "2026-01-02T03:04:05", "engine": "duckduckgo", "score": 1.5 },
                { "url": "ftp://example.com/b", "title": "No page", "content": "" },
                { "url": "https://example.com/c", "title": "", "content": null, "publishedDate": null },
            ],
            "answers": [],
            "unresponsive_engines": [["google", "timeout"]],
        }),
        ProviderKind::Brave => json!({
            "type": "search",
            "query": { "original": "rust & wasm", "more_results_available": true },
            "web": {
                "type": "search",
                "results": [
                    { "title": "A page", "url": "https://example.com/a", "description": "About <strong>rust</strong>.", "page_age": "2026-01-02T03:04:05", "age": "2 days ago", "language": "en" },
                    { "title": "ex&amp;mple", "url": "https://example.com/c" },
                ],
            },
        }),
        ProviderKind::Tavily => json!({
            "query": "rust & wasm",
            "answer": null,
            "images": [],
            "results": [
                { "title": "A page", "url": "https://example.com/a", "content": "About rust.", "score": 0.81, "raw_content": null, "published_date": "Fri, 02 Jan 2026 03:04:05 GMT" },
                { "title": "c", "url": "https://example.com/c", "content": "", "score": 0.5 },
            ],
            "response_time": "1.67",
            "request_id": "123e4567",
        }),
        ProviderKind::Exa => json!({
            "requestId": "b5947044c4b78efa9552a7c89b306d95",
            "resolvedSearchType": "neural",
            "results": [
                { "id": "https://example.com/a", "title": "A page", "url": "https://example.com/a", "publishedDate": "2026-01-02T03:04:05.000Z", "author": null, "text": "About rust.", "score": 0.4 },
                { "id": "https://example.com/c", "title": null, "url": "https://example.com/c", "highlights": ["One", "two"] },
            ],
            "costDollars": { "total": 0.005, "search": { "neural": 0.005 } },
        }),
    };
    answer.to_string()
}

async fn ask(
    kind: ProviderKind,
    answers: Vec<(u16, &'static str, String)>,
) -> (Result<SearchAnswer, ServiceFailure>, StandIn) {
    let server = StandIn::start(answers).await;
    let provider = Provider::new("it", settings(kind, &server.origin)).unwrap();
    (provider.search(&query()).await, server)
}

#[tokio::test]
async fn requests_have_the_documented_shape_and_answers_one_form() {
    let mut seen = String::new();
    for kind in ALL {
        let (answer, server) = ask(kind, vec![(200, "", answer(kind))]).await;
        let SearchAnswer { results, cost_usd } = answer.unwrap();
        seen.push_str(&format!("{kind:?}: {}\n", server.requests().join("\n")));
        for SearchResult { title, url, snippet, published } in results {
            seen.push_str(&format!("  {title} | {url} | {snippet} | {}\n", published.unwrap_or_default()));
        }
        seen.push_str(&format!("  ${cost_usd}\n"));
    }
    // The only part that depends on the time.
    let week = regex::Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap();
    assert_snapshot!(week.replace_all(&seen, "TIME"), @r#"
    SearXng: GET /search?q=rust+%26+wasm&format=json&language=pt-BR&time_range=week
      A page | https://example.com/a | About rust. | 2026-01-02
      example.com | https://example.com/c |  | 
      $0.25
    Brave: GET /res/v1/web/search?q=rust+%26+wasm&count=3&result_filter=web&text_decorations=false&search_lang=pt&freshness=pw x-subscription-token: secret-key
      A page | https://example.com/a | About rust. | 2026-01-02
      ex&mple | https://example.com/c |  | 
      $0.25
    Tavily: POST /search authorization: Bearer secret-key {"query":"rust & wasm","max_results":3,"search_depth":"basic","time_range":"week"}
      A page | https://example.com/a | About rust. | 2026-01-02
      c | https://example.com/c |  | 
      $0.25
    Exa: POST /search x-api-key: secret-key {"query":"rust & wasm","numResults":3,"type":"auto","contents":{"text":{"maxCharacters":1000}},"startPublishedDate":"TIME"}
      A page | https://example.com/a | About rust. | 2026-01-02
      example.com | https://example.com/c | One … two | 
      $0.005
    "#);
}

#[tokio::test]
async fn errors_of_providers_are_distinguished() {
    let check =
        async |kind: ProviderKind, status: u16, retry_after: &'static str, body: String, expected: ServiceFailure| {
            let (answer, _) = ask(kind, vec![(status, retry_after, body.clone())]).await;
            assert_eq!(answer, Err(expected), "{kind:?} {status} {body}");
        };
    let brave = |code: &str| json!({ "type": "ErrorResponse", "error": { "status": 429, "code": code, "detail": "no" }, "time": 1 });
    let tavily = json!({ "detail": { "error": "Unauthorized: missing or invalid API key." } }).to_string();
    let exa = json!({ "requestId": "x", "error": "Invalid API key", "tag": "INVALID_API_KEY" }).to_string();
    let limited = |seconds: u64| ServiceFailure::Limited(Some(Duration::from_secs(seconds)));
    check(ProviderKind::Tavily, 401, "", tavily.clone(), ServiceFailure::Credentials).await;
    check(ProviderKind::Exa, 401, "", exa, ServiceFailure::Credentials).await;
    // SearXNG does this if its config does not list the format.
    check(ProviderKind::SearXng, 403, "", "Forbidden".to_owned(), ServiceFailure::Credentials).await;
    check(ProviderKind::Brave, 429, "7", brave("RATE_LIMITED").to_string(), limited(7)).await;
    check(ProviderKind::Brave, 429, "", brave("QUOTA_LIMITED").to_string(), ServiceFailure::Limited(None)).await;
    check(ProviderKind::Brave, 429, "999999", String::new(), limited(999_999)).await;
    check(ProviderKind::Brave, 429, "Mon, 01 Jan 2001 00:00:00 GMT", String::new(), limited(0)).await;
    check(ProviderKind::Tavily, 432, "", tavily, ServiceFailure::Limited(None)).await;
    for kind in ALL {
        check(kind, 503, "", "<html>down</html>".to_owned(), ServiceFailure::Status(503)).await;
        check(kind, 200, "", "<html>login</html>".to_owned(), ServiceFailure::Malformed).await;
        check(kind, 200, "", r#"{"results": 7, "web": 7}"#.to_owned(), ServiceFailure::Malformed).await;
        check(kind, 200, "", " ".repeat(MAX_ANSWER + 1), ServiceFailure::Egress(EgressError::TooLarge(MAX_ANSWER)))
            .await;
    }
    check(ProviderKind::Brave, 200, "", brave("X").to_string(), ServiceFailure::Malformed).await;
}

#[test]
fn texts_of_results_are_short_and_visible() {
    let check = |text: &str, expected: &str| assert_eq!(text::clean(text, 12), expected, "{text:?}");
    check("a  b\n c", "a b c");
    check("<b>a</b> &lt;b&gt; &amp;lt;", "a <b> &lt;");
    check("a\u{200b}b\u{202e}c\u{e0041}d\u{7}", "abcd");
    check("abcdefghijkl", "abcdefghijkl");
    check("abcdefghijklm", "abcdefghijk…");
    check("1 < 2 and 3", "1 < 2 and 3");
}

#[test]
fn answers_that_are_no_json_are_refused_and_strange_ones_are_read() {
    for body in ["", "null", "[]", "{", r#"{"results":[{}]}"#, r#"{"type":"search","web":{"results":[{"url":"x"}]}}"#] {
        fuzz_answer(body.as_bytes());
    }
}
