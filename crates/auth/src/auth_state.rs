//! The state of authentication that is kept across reloads of the config.

use super::password::SignInState;
use config::AuthMode;
use std::net::SocketAddr;
use std::path::PathBuf;
use store::Store;

/// The state of authentication that is kept across reloads of the config.
#[derive(Clone)]
pub struct AuthState {
    /// The listen address; `None` if the server does not listen.
    pub address: Option<SocketAddr>,
    /// The folder of the database, if it is on disk.
    pub folder: Option<PathBuf>,
    /// The store of users, sessions and keys.
    pub store: Store,
    /// The in-memory state of sign-ins.
    pub sign_in: SignInState,
}

/// Checks that the auth mode may be used on this listen address.
///
/// # Errors
/// The mode `local` on an address that is not loopback.
pub fn check_listen_address(address: Option<SocketAddr>, mode: &AuthMode) -> anyhow::Result<()> {
    match address {
        Some(address) if matches!(mode, AuthMode::Local) && !address.ip().is_loopback() => anyhow::bail!(
            "auth mode `local` makes everyone who reaches the server its owner, so it listens on loopback only, not on {address}"
        ),
        _ => Ok(()),
    }
}
