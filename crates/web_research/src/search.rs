//! The tool `web_search`: asks the providers one after the other until one answers.

use crate::NOTE;
use crate::known::KnownUrls;
use crate::provider::{Provider, Recency, SearchAnswer, SearchQuery};
use crate::section::{MAX_RESULTS, SEARCH};
use contract::{
    Annotations, ModelId, ModelUse, ReplyUsage, Tool, ToolContext, ToolError, ToolSpec, Usage, read_arguments,
};
use egress::ServiceFailure;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest query in characters. Brave accepts no longer ones.
const MAX_QUERY: usize = 400;
/// The maximum time of a search beside the providers' own time.
const OVERHEAD: Duration = Duration::from_secs(5);
/// How long a provider is not asked that has too many requests: without `Retry-After`, and at most.
const PAUSE: Duration = Duration::from_secs(30);
const LONGEST_PAUSE: Duration = Duration::from_secs(600);

/// The tool.
pub(crate) struct WebSearch {
    spec: ToolSpec,
    providers: Vec<Provider>,
    max_results: u32,
    pauses: Arc<Pauses>,
    known: Arc<KnownUrls>,
}

/// Until when providers are not asked, by the id of the connection.
#[derive(Default)]
pub(crate) struct Pauses(Mutex<HashMap<String, Instant>>);

impl Pauses {
    /// Pauses a provider for the time that it has asked for, with a default and a maximum.
    fn pause(&self, id: &str, asked: Option<Duration>) {
        let time = asked.unwrap_or(PAUSE).min(LONGEST_PAUSE);
        self.0.lock().insert(id.to_owned(), Instant::now() + time);
    }

    fn is_paused(&self, id: &str) -> bool {
        self.0.lock().get(id).is_some_and(|until| Instant::now() < *until)
    }

    /// Forgets all, because connections may mean other providers now.
    pub(crate) fn clear(&self) {
        self.0.lock().clear();
    }
}

/// The arguments.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    query: String,
    max_results: Option<u32>,
    language: Option<String>,
    recency: Option<Recency>,
}

impl WebSearch {
    /// Creates the tool of an agent, over these providers.
    pub(crate) fn new(providers: Vec<Provider>, max_results: u32, pauses: Arc<Pauses>, known: Arc<KnownUrls>) -> Self {
        let schema = json!({
            "type": "object",
            "properties": {
                "query": { "type": "string", "minLength": 1, "maxLength": MAX_QUERY, "description": "What to search for." },
                "maxResults": { "type": "integer", "minimum": 1, "maximum": MAX_RESULTS, "description": "How many results to return." },
                "language": { "type": "string", "pattern": "^[a-z]{2}(-[A-Z]{2})?$", "description": "The language of the pages, such as `en`." },
                "recency": { "enum": ["day", "week", "month", "year"], "description": "Only pages of the last day, week, month or year." },
            },
            "required": ["query"],
            "additionalProperties": false,
        });
        let description =
            "Searches the web. Returns the title, the URL, a snippet and, if known, the date of each page.";
        let timeout = providers.iter().map(Provider::timeout).sum::<Duration>() + OVERHEAD;
        let annotations =
            Annotations { returns_untrusted: true, idempotent: true, reads_only: true, ..Annotations::default() };
        let spec = ToolSpec { annotations, timeout, ..ToolSpec::new(SEARCH, description, schema) };
        Self { spec, providers, max_results: max_results.clamp(1, MAX_RESULTS), pauses, known }
    }

    async fn search(&self, input: Input, context: &ToolContext) -> Result<Value, ToolError> {
        let query = SearchQuery {
            text: input.query,
            max_results: input.max_results.unwrap_or(self.max_results).min(self.max_results),
            language: input.language,
            recency: input.recency,
        };
        let mut failures = Vec::new();
        for provider in &self.providers {
            if self.pauses.is_paused(&provider.id) {
                failures.push(format!("{}: it has too many requests", provider.id));
                continue;
            }
            match ask(provider, &query, &context.models).await? {
                Ok(answer) => {
                    let urls = answer.results.iter().map(|result| result.url.clone()).collect();
                    self.known.add(&context.scope, urls).await;
                    return Ok(json!({ "results": answer.results, "provider": provider.id, "note": NOTE }));
                }
                Err(failure) => {
                    tracing::warn!(connection = provider.id, %failure, "a web search failed");
                    if let ServiceFailure::Limited(asked) = failure {
                        self.pauses.pause(&provider.id, asked);
                    }
                    failures.push(format!("{}: {failure}", provider.id));
                }
            }
        }
        Err(ToolError::new(format!("The web cannot be searched now. {}.", failures.join("; "))))
    }
}

/// Asks one provider, and counts what it costs as part of the run.
///
/// # Errors
/// The run may use no more.
async fn ask(
    provider: &Provider,
    query: &SearchQuery,
    models: &ModelUse,
) -> Result<Result<SearchAnswer, ServiceFailure>, ToolError> {
    let id = ModelId { provider: provider.name().to_owned(), model: SEARCH.to_owned() };
    let refused = |reason| ToolError::new(format!("The web is not searched: {reason}."));
    models.admit(&id, true).await.map_err(refused)?;
    let begun = Instant::now();
    let answer = provider.search(query).await;
    if let Ok(answer) = &answer {
        let usage = ReplyUsage::of_request(id, Usage::default(), Some(answer.cost_usd), begun.elapsed());
        models.record_reply(usage).await;
    }
    Ok(answer)
}

impl Tool for WebSearch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, input: Value, context: ToolContext) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async move {
            let input = read_arguments(input)?;
            let stopped = Err(ToolError::new("Stopped before it finished."));
            context.cancel.run_until_cancelled(self.search(input, &context)).await.unwrap_or(stopped)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_paused_for_a_limited_time() {
        let check = |asked: Option<Duration>, expected: Duration| {
            let pauses = Pauses::default();
            pauses.pause("it", asked);
            let left = pauses.0.lock()["it"].saturating_duration_since(Instant::now());
            assert!(left <= expected && left + Duration::from_secs(5) >= expected, "{asked:?}: {left:?}");
            assert_eq!((pauses.is_paused("it"), pauses.is_paused("other")), (!expected.is_zero(), false));
        };
        check(None, PAUSE);
        check(Some(Duration::from_secs(60)), Duration::from_secs(60));
        check(Some(Duration::from_secs(999_999)), LONGEST_PAUSE);
        check(Some(Duration::ZERO), Duration::ZERO);
    }
}
