//! What the server gives to the routes and the background work of a capability.

use chat::Chat;
use config::Config;
use futures::future::BoxFuture;
use std::sync::Arc;
use store::Store;

/// The state of a capability's routes, and what its background work uses.
#[derive(Clone)]
pub struct Context {
    /// The database.
    pub store: Store,
    /// The conversations and runs, for example to start a run.
    pub chat: Chat,
    /// The config in use.
    pub current: Arc<dyn CurrentConfig>,
}

/// The config in use. It may change when it is reloaded, so each request asks again.
pub trait CurrentConfig: Send + Sync {
    /// Returns the config. It contains secrets and must not be shown.
    fn config(&self) -> Arc<Config>;

    /// Loads the stored additions to the config again, after one of them has changed.
    ///
    /// # Errors
    /// The config cannot be rebuilt; the one in use stays.
    fn refresh_additions(&self) -> BoxFuture<'_, anyhow::Result<()>>;
}
