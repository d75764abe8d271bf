//! The providers of web search, behind one interface.

mod brave;
mod exa;
mod results;
mod searxng;
mod tavily;
mod text;
pub(crate) use text::is_invisible;

#[cfg(test)]
mod tests;

use crate::connection::{ProviderKind, ProviderSettings};
use crate::urls;
use egress::{Egress, EgressError, EgressRequest, ServiceFailure};
use http::Method;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use url::Url;

/// The largest answer in bytes.
const MAX_ANSWER: usize = 1 << 20;
/// The longest title and the longest snippet, in characters.
const MAX_TITLE: usize = 300;
const MAX_SNIPPET: usize = 1_000;

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SearchQuery {
    pub(crate) text: String,
    pub(crate) max_results: u32,
    /// A language as `en` or `pt-BR`, which not all providers consider.
    pub(crate) language: Option<String>,
    pub(crate) recency: Option<Recency>,
}

/// How old pages may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Recency {
    Day,
    Week,
    Month,
    Year,
}

impl Recency {
    /// Returns the word that SearXNG and Tavily have for it.
    fn word(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }

    fn days(self) -> i64 {
        match self {
            Self::Day => 1,
            Self::Week => 7,
            Self::Month => 31,
            Self::Year => 366,
        }
    }
}

/// One result, the same for all providers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SearchResult {
    pub(crate) title: String,
    pub(crate) url: String,
    pub(crate) snippet: String,
    /// The date of the page, as `2026-11-24`, if the provider knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) published: Option<String>,
}

/// The answer of a provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SearchAnswer {
    pub(crate) results: Vec<SearchResult>,
    /// The cost of the search, in US dollars.
    pub(crate) cost_usd: f64,
}

/// A request to a provider without what all have in common.
#[derive(Debug, PartialEq)]
struct ProviderRequest {
    url: Url,
    /// The header with the key.
    key: Option<(&'static str, String)>,
    /// The JSON body of a POST request; without it the request is a GET.
    body: Option<Value>,
}

/// A result as a provider wrote it.
#[derive(Default)]
struct RawResult {
    title: String,
    url: String,
    snippet: String,
    published: Option<String>,
}

/// A provider that can be asked.
pub(crate) struct Provider {
    /// The id of the connection.
    pub(crate) id: String,
    settings: ProviderSettings,
    egress: Egress,
}

impl Provider {
    /// Creates the provider of a connection.
    ///
    /// # Errors
    /// A message for the operator.
    pub(crate) fn new(id: &str, settings: ProviderSettings) -> Result<Self, String> {
        let egress = Egress::new(settings.allow_private)?;
        Ok(Self { id: id.to_owned(), settings, egress })
    }

    /// Returns the name of the provider's API.
    pub(crate) fn name(&self) -> &'static str {
        match self.settings.kind {
            ProviderKind::SearXng => "searxng",
            ProviderKind::Brave => "brave",
            ProviderKind::Tavily => "tavily",
            ProviderKind::Exa => "exa",
        }
    }

    /// Returns the time limit of a search.
    pub(crate) fn timeout(&self) -> Duration {
        self.settings.timeout
    }

    /// Searches.
    pub(crate) async fn search(&self, query: &SearchQuery) -> Result<SearchAnswer, ServiceFailure> {
        let request = self.request(query, Timestamp::now())?;
        let answer = self.egress.send(request).await?;
        answer.check_status()?;
        let (results, cost) = read(self.settings.kind, &answer.body).ok_or(ServiceFailure::Malformed)?;
        let most = usize::try_from(query.max_results).unwrap_or(usize::MAX);
        let results = results.into_iter().filter_map(normalize).take(most).collect();
        Ok(SearchAnswer { results, cost_usd: cost.unwrap_or(self.settings.cost_usd) })
    }

    fn request(&self, query: &SearchQuery, now: Timestamp) -> Result<EgressRequest, EgressError> {
        let key = self.settings.api_key.as_ref().map_or("", |key| key.expose());
        let request = match self.settings.kind {
            ProviderKind::SearXng => searxng::request(&self.settings.url, query),
            ProviderKind::Brave => brave::request(&self.settings.url, key, query),
            ProviderKind::Tavily => tavily::request(&self.settings.url, key, query),
            ProviderKind::Exa => exa::request(&self.settings.url, key, query, now),
        };
        let json = HeaderValue::from_static("application/json");
        let mut headers = HeaderMap::from_iter([(ACCEPT, json.clone())]);
        if let Some((name, key)) = request.key {
            let mut value = HeaderValue::try_from(key).map_err(|_| EgressError::InvalidUrl)?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        let method = if request.body.is_some() { Method::POST } else { Method::GET };
        if request.body.is_some() {
            headers.insert(CONTENT_TYPE, json);
        }
        let body = request.body.map(|body| body.to_string().into_bytes());
        let (timeout, max_bytes) = (self.settings.timeout, MAX_ANSWER);
        Ok(EgressRequest { method, url: request.url, headers, body, timeout, max_bytes })
    }
}

/// Appends a path to a base URL.
fn endpoint(base: &Url, path: &[&str]) -> Url {
    let mut url = base.clone();
    if let Ok(mut segments) = url.path_segments_mut() {
        segments.pop_if_empty().extend(path);
    }
    url
}

/// Reads an answer: the results, and the cost if the answer says it.
fn read(kind: ProviderKind, body: &[u8]) -> Option<(Vec<RawResult>, Option<f64>)> {
    match kind {
        ProviderKind::SearXng | ProviderKind::Tavily => Some((results::read(body)?, None)),
        ProviderKind::Brave => Some((brave::read(body)?, None)),
        ProviderKind::Exa => exa::read(body),
    }
}

/// Returns the result in the form that all providers share; `None` if it has no URL that can be
/// fetched.
fn normalize(raw: RawResult) -> Option<SearchResult> {
    let url = urls::parse(&raw.url).ok()?;
    let title = text::clean(&raw.title, MAX_TITLE);
    Some(SearchResult {
        title: if title.is_empty() { url.host_str().unwrap_or_default().to_owned() } else { title },
        url: url.into(),
        snippet: text::clean(&raw.snippet, MAX_SNIPPET),
        published: raw.published.as_deref().and_then(text::date),
    })
}

/// Reads an answer as every provider does; for fuzzing.
#[cfg(any(test, feature = "fuzz"))]
#[cfg_attr(not(feature = "fuzz"), expect(unreachable_pub, reason = "only fuzz targets reach it"))]
pub fn fuzz_answer(body: &[u8]) {
    for kind in [ProviderKind::SearXng, ProviderKind::Brave, ProviderKind::Tavily, ProviderKind::Exa] {
        let results = read(kind, body).map(|(results, _)| results).unwrap_or_default();
        for result in results.into_iter().filter_map(normalize) {
            assert!(result.snippet.chars().count() <= MAX_SNIPPET && result.url.starts_with("http"));
        }
    }
}
