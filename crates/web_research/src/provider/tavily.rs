//! Tavily: <https://docs.tavily.com/documentation/api-reference/endpoint/search>.

use super::{ProviderRequest, SearchQuery, endpoint};
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
