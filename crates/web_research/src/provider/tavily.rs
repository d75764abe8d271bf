//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use super::{ProviderRequest, RawResult, SearchQuery, endpoint};
use serde::Deserialize;
use serde_json::json;
use url::Url;

pub(super) fn request(base: &Url, key: &str, query: &SearchQuery) -> ProviderRequest {
    // The API has no parameter for the language.
    let mut body = json!({ "query": query.text, "max_results": query.max_results, "search_depth": "basic" });
    if let Some(recency) = query.recency {
        body["time_range"] = recency.word().into();
    }
    let key = Some(("authorization", format!("Bearer {key}")));
    ProviderRequest { url: endpoint(base, &["search"]), key, body: Some(body) }
}

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
    published_date: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Option<Vec<RawResult>> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let results = answer.results.into_iter().map(|found| RawResult {
        title: found.title.unwrap_or_default(),
        url: found.url.unwrap_or_default(),
        snippet: found.content.unwrap_or_default(),
        published: found.published_date,
    });
    Some(results.collect())
}
