//! A server in the process of a test, whose requests need no socket and may name their caller
//! themselves, for the tests of who may do what.

use crate::capabilities::config_language;
use crate::compose::{BackgroundWork, Composition, LoadSummary};
use crate::embedded::StartError;
use crate::router;
use crate::state::AppState;
use crate::{EmbeddedFile, Site};
use auth::password::Accounts;
use axum::Router;
use config::{Env, LoadResult};
use metrics_exporter_prometheus::PrometheusBuilder;
use std::path::Path;
use std::sync::Arc;
use store::Store;
use tokio_util::sync::CancellationToken;

/// A server without a listener. Its database is in memory, unless the config names another one.
#[derive(Clone)]
pub struct TestServer {
    state: AppState,
}

impl TestServer {
    /// Builds the server of a config in one file. Its secrets are read from `env`.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn from_text(config: &str, env: &dyn Env) -> Result<Self, StartError> {
        Self::from_loaded(config_language().read_embedded(&[(config::MAIN_FILE, config)], env).outcome).await
    }

    /// Builds the server of a config file, or of a folder with `chatwright.yaml`.
    ///
    /// # Errors
    /// See [`StartError`].
    pub async fn from_path(path: &Path, env: &dyn Env) -> Result<Self, StartError> {
        Self::from_loaded(config_language().read_path(path, env).outcome).await
    }

    async fn from_loaded(loaded: LoadResult) -> Result<Self, StartError> {
        // Fails if another server of the process has done it already.
        let _ = any_spawner::Executor::init_tokio();
        let (config, _) = loaded.map_err(StartError::Config)?;
        let site = Site { files: |_| None, pages: &[], blocks: &[], capabilities: &[] };
        let composition = Composition::new(config, LoadSummary::default(), "sqlite::memory:", None, site).await;
        let composition = Arc::new(composition.map_err(|error| StartError::Other(error.to_string()))?);
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        Ok(Self { state: AppState { composition, metrics, site } })
    }

    /// Replaces the built site by other files.
    pub fn with_files(mut self, files: fn(&str) -> Option<EmbeddedFile>) -> Self {
        self.state.site.files = files;
        self
    }

    /// Returns all routes with everything that a request passes first. Requests need the header `Host`
    /// and the extension `ConnectInfo<SocketAddr>`.
    pub fn routes(&self) -> Router {
        router::router(self.state.clone())
    }

    /// Returns the routes that need a caller, without what a request passes first: no checks of host,
    /// origin and credentials, and no rate limits. Each request has the extension [`chat::Caller`].
    pub fn caller_routes(&self) -> Router {
        let routes = router::caller_routes(&self.state).merge(router::upload_routes(&self.state));
        routes.mount(&mut Vec::new()).with_state(self.state.clone())
    }

    /// Returns the accounts; `None` in auth modes without them.
    pub fn accounts(&self) -> Option<Arc<Accounts>> {
        self.state.composition.current.authentication().accounts()
    }

    /// Returns the database.
    pub fn store(&self) -> &Store {
        &self.state.composition.store
    }

    /// Starts all background work, such as workflows and the reading of documents. It ends with the
    /// runtime.
    pub fn start_background_work(&self) {
        self.state.composition.start_jobs(BackgroundWork::All, &CancellationToken::new());
    }
}
