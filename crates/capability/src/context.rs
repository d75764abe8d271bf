//! What the server gives to the routes of a capability.

use config::Config;
use futures::future::BoxFuture;
use std::sync::Arc;
use store::Store;

/// The state of a capability's routes.
#[derive(Clone)]
pub struct Context {
    /// The database.
    pub store: Store,
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
