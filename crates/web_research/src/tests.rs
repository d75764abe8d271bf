//! The chain of providers, as a tool.

use crate::connection::ProviderKind;
use crate::known::{KnownUrls, TABLES};
use crate::provider::Provider;
use crate::search::{Pauses, WebSearch};
use crate::testing::{StandIn, settings};
use ::store::{CapabilityTables, Schema};
use contract::{CallReports, ModelId, ModelMeter, ModelUse, ReplyUsage, RunScope, Tool, ToolContext, ToolError};
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

static ALL_TABLES: [CapabilityTables; 1] = [TABLES];

async fn known() -> Arc<KnownUrls> {
    Arc::new(KnownUrls::new(Schema::new(&ALL_TABLES).open("sqlite::memory:", "", Duration::ZERO).await.unwrap()))
}

/// Records costs, and refuses all from a sum on.
#[derive(Default)]
struct Meter {
    costs: Mutex<Vec<(String, f64)>>,
    limit: f64,
}

impl ModelMeter for Meter {
    fn admit<'a>(&'a self, _: &'a ModelId, is_priced: bool) -> BoxFuture<'a, Result<(), String>> {
        assert!(is_priced);
        let spent: f64 = self.costs.lock().iter().map(|(_, cost)| cost).sum();
        let result = if spent < self.limit { Ok(()) } else { Err("the turn has reached its limit of cost".to_owned()) };
        std::future::ready(result).boxed()
    }

    fn record_reply(&self, replied: ReplyUsage) -> BoxFuture<'_, ()> {
        self.costs.lock().push((replied.model.to_string(), replied.cost_usd.unwrap()));
        std::future::ready(()).boxed()
    }
}

fn context(run_id: &str, meter: &Arc<Meter>) -> ToolContext {
    ToolContext {
        call_id: "call".to_owned(),
        scope: Arc::new(RunScope { user_id: "ada".to_owned(), run_id: run_id.to_owned(), ..RunScope::default() }),
        cancel: CancellationToken::new(),
        reports: CallReports::default(),
        may_repeat: true,
        models: ModelUse::new(meter.clone()),
    }
}

fn found(url: &str) -> String {
    json!({ "results": [{ "url": url, "title": "Found", "content": "text" }] }).to_string()
}

#[tokio::test]
async fn next_provider_is_asked_when_one_fails_and_costs_are_counted() {
    let down = StandIn::start(vec![(500, "", String::new())]).await;
    let busy = StandIn::start(vec![(429, "60", String::new())]).await;
    let good = StandIn::start(vec![(200, "", found("https://example.com/x"))]).await;
    let known = known().await;
    let provider = |id: &str, kind, server: &StandIn| Provider::new(id, settings(kind, &server.origin)).unwrap();
    let providers = vec![
        provider("own", ProviderKind::SearXng, &down),
        provider("second", ProviderKind::Tavily, &busy),
        provider("third", ProviderKind::Exa, &good),
    ];
    let tool = WebSearch::new(providers, 5, Arc::new(Pauses::default()), known.clone());
    let meter = Arc::new(Meter { limit: 0.5, ..Meter::default() });
    let search = async |input: Value| tool.call(input, context("run", &meter)).await;
    let answer = search(json!({ "query": "x", "maxResults": 20 })).await.unwrap();
    assert_eq!((&answer["provider"], &answer["results"][0]["title"]), (&json!("third"), &json!("Found")));
    // More than the agent's own number of results is not asked for.
    assert!(good.requests()[0].contains(r#""numResults":5"#), "{:?}", good.requests());
    let url = "https://example.com/x".parse().unwrap();
    let scope = |run: &str| RunScope { run_id: run.to_owned(), ..RunScope::default() };
    assert!(known.is_known(&scope("run"), &url).await && !known.is_known(&scope("other"), &url).await);

    search(json!({ "query": "y" })).await.unwrap();
    // The second one asked for a pause.
    assert_eq!((down.requests().len(), busy.requests().len(), good.requests().len()), (2, 1, 2));
    let third = ("exa/web_search".to_owned(), 0.25);
    assert_eq!(*meter.costs.lock(), [third.clone(), third]);
    let error = search(json!({ "query": "z" })).await.unwrap_err();
    assert_eq!(error, ToolError::new("The web is not searched: the turn has reached its limit of cost."));
    assert_eq!(good.requests().len(), 2);
}

#[tokio::test]
async fn errors_name_each_connection_and_no_key() {
    let server = StandIn::start(vec![(401, "", "secret-key".to_owned())]).await;
    let providers = vec![
        Provider::new("one", settings(ProviderKind::Brave, &server.origin)).unwrap(),
        Provider::new("two", settings(ProviderKind::Exa, "http://127.0.0.1:1")).unwrap(),
    ];
    let tool = WebSearch::new(providers, 5, Arc::new(Pauses::default()), known().await);
    let meter = Arc::new(Meter { limit: 1.0, ..Meter::default() });
    let error = tool.call(json!({ "query": "x" }), context("run", &meter)).await.unwrap_err();
    let expected = "The web cannot be searched now. one: it refused the key; two: the server cannot be reached.";
    assert_eq!(error.message, expected);
    assert!(meter.costs.lock().is_empty(), "a search that failed costs nothing");
}
