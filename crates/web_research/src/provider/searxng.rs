//! SearXNG: <https://docs.searxng.org/dev/search_api.html>.

use super::{ProviderRequest, RawResult, SearchQuery, endpoint};
use serde::Deserialize;
use url::Url;

pub(super) fn request(base: &Url, query: &SearchQuery) -> ProviderRequest {
    let mut url = endpoint(base, &["search"]);
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", &query.text).append_pair("format", "json");
    if let Some(language) = &query.language {
        pairs.append_pair("language", language);
    }
    if let Some(recency) = query.recency {
        pairs.append_pair("time_range", recency.word());
    }
    drop(pairs);
    ProviderRequest { url, key: None, body: None }
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
    #[serde(rename = "publishedDate")]
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
