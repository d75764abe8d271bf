//! Exa: <https://docs.exa.ai/reference/search>.

use super::{MAX_SNIPPET, ProviderRequest, RawResult, SearchQuery, endpoint};
use jiff::{SignedDuration, Timestamp};
use serde::Deserialize;
use serde_json::json;
use url::Url;

pub(super) fn request(base: &Url, key: &str, query: &SearchQuery, now: Timestamp) -> ProviderRequest {
    let contents = json!({ "text": { "maxCharacters": MAX_SNIPPET } });
    // The API has no parameter for the language.
    let mut body =
        json!({ "query": query.text, "numResults": query.max_results, "type": "auto", "contents": contents });
    if let Some(since) =
        query.recency.and_then(|recency| now.checked_sub(SignedDuration::from_hours(24 * recency.days())).ok())
    {
        body["startPublishedDate"] = since.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into();
    }
    ProviderRequest { url: endpoint(base, &["search"]), key: Some(("x-api-key", key.to_owned())), body: Some(body) }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    results: Vec<Found>,
    cost_dollars: Option<Cost>,
}

#[derive(Deserialize)]
struct Cost {
    total: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    url: Option<String>,
    title: Option<String>,
    text: Option<String>,
    #[serde(default)]
    highlights: Vec<String>,
    published_date: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Option<(Vec<RawResult>, Option<f64>)> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    let cost = answer.cost_dollars.and_then(|cost| cost.total).filter(|cost| (0.0..=100.0).contains(cost));
    let results = answer.results.into_iter().map(|found| RawResult {
        title: found.title.unwrap_or_default(),
        url: found.url.unwrap_or_default(),
        snippet: found.text.unwrap_or_else(|| found.highlights.join(" … ")),
        published: found.published_date,
    });
    Some((results.collect(), cost))
}
