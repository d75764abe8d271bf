//! Clients for messages to addresses of which each says whether it may be private.

use crate::client::Egress;
use std::sync::{Arc, OnceLock};

/// Clients that follow no redirects: one for public addresses and one for all. Each is created when it is first needed
/// and keeps its connections for further requests. A cheap handle.
#[derive(Clone, Default)]
pub struct Clients {
    public: Arc<OnceLock<Egress>>,
    all: Arc<OnceLock<Egress>>,
}

impl Clients {
    /// Returns the client for public addresses, or with `allow_private` that for all.
    ///
    /// # Errors
    /// The errors of [`Egress::new`].
    pub fn get(&self, allow_private: bool) -> Result<&Egress, String> {
        let client = if allow_private { &self.all } else { &self.public };
        match client.get() {
            Some(client) => Ok(client),
            None => {
                let created = Egress::without_redirects(allow_private)?;
                Ok(client.get_or_init(|| created))
            }
        }
    }
}
