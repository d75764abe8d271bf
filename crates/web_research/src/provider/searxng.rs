//! SearXNG: <https://docs.searxng.org/dev/search_api.html>.

use super::{ProviderRequest, SearchQuery, endpoint};
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
