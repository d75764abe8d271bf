//! Brave: <https://api-dashboard.search.brave.com/app/documentation/web-search/get-started>.

use super::{ProviderRequest, RawResult, Recency, SearchQuery, endpoint};
use serde::Deserialize;
use url::Url;

pub(super) fn request(base: &Url, key: &str, query: &SearchQuery) -> ProviderRequest {
    let mut url = endpoint(base, &["res", "v1", "web", "search"]);
    let mut pairs = url.query_pairs_mut();
    pairs.append_pair("q", &query.text).append_pair("count", &query.max_results.to_string());
    pairs.append_pair("result_filter", "web").append_pair("text_decorations", "false");
    if let Some(language) = &query.language {
        // Two letters, but for languages with several scripts.
        pairs.append_pair("search_lang", language.split('-').next().unwrap_or(language));
    }
    if let Some(recency) = query.recency {
        let freshness = match recency {
            Recency::Day => "pd",
            Recency::Week => "pw",
            Recency::Month => "pm",
            Recency::Year => "py",
        };
        pairs.append_pair("freshness", freshness);
    }
    drop(pairs);
    ProviderRequest { url, key: Some(("x-subscription-token", key.to_owned())), body: None }
}

#[derive(Deserialize)]
struct Answer {
    /// `search`, or `ErrorResponse`.
    r#type: String,
    web: Option<Web>,
}

#[derive(Deserialize)]
struct Web {
    #[serde(default)]
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: Option<String>,
    title: Option<String>,
    description: Option<String>,
    page_age: Option<String>,
}

pub(super) fn read(body: &[u8]) -> Option<Vec<RawResult>> {
    let answer: Answer = serde_json::from_slice(body).ok()?;
    if answer.r#type != "search" {
        return None;
    }
    // Without results there is no `web`.
    let results = answer.web.map(|web| web.results).unwrap_or_default().into_iter().map(|found| RawResult {
        title: found.title.unwrap_or_default(),
        url: found.url.unwrap_or_default(),
        snippet: found.description.unwrap_or_default(),
        published: found.page_age,
    });
    Some(results.collect())
}
