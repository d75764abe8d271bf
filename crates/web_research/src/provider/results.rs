//! The results of SearXNG and Tavily, which have the same form.

use super::RawResult;
use serde::Deserialize;

#[derive(Deserialize)]
struct Answer {
    results: Vec<Found>,
}

#[derive(Deserialize)]
struct Found {
    url: Option<String>,
    title: Option<String>,
    content: Option<String>,
    /// `publishedDate` in SearXNG.
    #[serde(alias = "publishedDate")]
    published_date: Option<String>,
}

/// Reads the results; `None` if the answer has another form.
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
