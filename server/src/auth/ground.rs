//! What stays while the config changes: where the server listens, and where it keeps things.

use super::password::Desk;
use config::AuthMode;
use std::net::SocketAddr;
use std::path::PathBuf;
use store::Store;

/// What stays while the config changes.
#[derive(Clone)]
pub(crate) struct Ground {
    /// Where the server listens; none where nothing does.
    pub(crate) address: Option<SocketAddr>,
    /// The folder of the database, if it is on disk.
    pub(crate) folder: Option<PathBuf>,
    /// Where users are kept.
    pub(crate) store: Store,
    /// Where they sign in.
    pub(crate) desk: Desk,
}

/// Whether callers may be told apart like this where the server listens.
///
/// # Errors
/// One line for the operator.
pub(crate) fn allows(address: Option<SocketAddr>, mode: &AuthMode) -> anyhow::Result<()> {
    match address {
        Some(address) if matches!(mode, AuthMode::Local) && !address.ip().is_loopback() => anyhow::bail!(
            "auth mode `local` makes everyone who reaches the server its owner, so it listens on loopback only, not on {address}"
        ),
        _ => Ok(()),
    }
}
