//! The composition root: the checked config turned into things that run, and the only place that sees every room.

mod agents;
mod endpoints;
mod models;
mod pages;

use ::endpoints::Endpoints;
use app::context::PageSource;
use chat::{Caller, Chat};
use config::{Config, Diagnostic, Limits};
use secrecy::ExposeSecret;
use serde_json::Value;
use std::path::Path;
use std::sync::Arc;
use store::Store;
use wire::UserError;

/// The demo, as it is in the repository.
const DEMO: &[(&str, &str)] = &[
    ("chatwright.yaml", include_str!("../../../examples/demo/chatwright.yaml")),
    ("knowledge.sql", include_str!("../../../examples/demo/knowledge.sql")),
];

/// Runs of this process at once; more are answered with 503.
const MAX_RUNS: usize = 2_000;

/// Everything that the routes need.
pub(crate) struct Composition {
    pub(crate) chat: Chat,
    pub(crate) pages: Arc<dyn PageSource>,
    pub(crate) limits: Limits,
    endpoints: Arc<Endpoints>,
}

/// Reads the config at `path`, or the embedded demo without one. Also answers the warnings.
pub(crate) fn load(path: Option<&Path>) -> Result<(Config, Vec<Diagnostic>), Vec<Diagnostic>> {
    match path {
        Some(path) => config::load_path(path, &config::ProcessEnv),
        None => config::load_embedded(DEMO, &config::ProcessEnv),
    }
}

impl Composition {
    /// Builds everything. `database` is where conversations are kept, unless the config says where.
    pub(crate) async fn new(config: Config, database: &str) -> anyhow::Result<Self> {
        let endpoints = Arc::new(endpoints::build(&config).await?);
        let pages = Arc::new(pages::Pages::new(config.pages.clone()));
        let agents = agents::ConfiguredAgents::build(&config, &endpoints, pages.clone())?;
        let url = config.store.as_ref().map_or(database, |url| url.expose_secret());
        let store = Store::open(url).await?;
        let chat = Chat::open(store, Arc::new(agents), MAX_RUNS).await?;
        Ok(Self { chat, pages, limits: config.limits, endpoints })
    }

    /// Runs an endpoint for a page's button or another client.
    pub(crate) async fn call_endpoint(&self, caller: &Caller, id: &str, payload: Value) -> Result<Value, UserError> {
        endpoints::call(&self.endpoints, caller, id, payload).await
    }
}
