//! Users whom a reverse proxy has signed in and names in headers.
//!
//! The headers are accepted only from the address of a trusted proxy. From other addresses they are
//! refused rather than ignored: either a client tries to impersonate a user, or the proxy's address
//! in the config is wrong, and then all users would seem signed out without a visible reason.

use super::credentials::{AmbiguousCredentials, Credentials};
use super::user;
use chat::Caller;
use config::ProxyAuth;

/// Why the headers are refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProxyError {
    Ambiguous(AmbiguousCredentials),
    /// The headers came from an address that is not a trusted proxy's.
    UntrustedPeer,
    /// The user id is not allowed.
    InvalidId,
}

/// Returns the user's token, which the proxy forwards. Call it only if [`user`] has found a user,
/// since the token proves nothing by itself.
///
/// # Errors
/// The header occurs twice, or is not text.
pub(super) fn token<'a>(settings: &ProxyAuth, sent: &'a Credentials) -> Result<Option<&'a str>, AmbiguousCredentials> {
    let token = sent.header(&settings.token_header)?;
    let bare = token.map(|token| token.strip_prefix("Bearer ").unwrap_or(token).trim());
    Ok(bare.filter(|token| !token.is_empty()))
}

/// Returns the user whom the proxy names, if it names one.
pub(super) fn user(settings: &ProxyAuth, sent: &Credentials) -> Result<Option<Caller>, ProxyError> {
    let header = |name: &str| sent.header(name).map_err(ProxyError::Ambiguous);
    let id = header(&settings.user_header)?;
    let (name, roles) = (header(&settings.name_header)?, header(&settings.roles_header)?);
    let is_proxy =
        sent.peer().is_some_and(|peer| settings.trusted_proxies.iter().any(|network| network.contains(&peer)));
    if !is_proxy && (id.is_some() || name.is_some() || roles.is_some()) {
        return Err(ProxyError::UntrustedPeer);
    }
    let Some(id) = id.filter(|id| !id.is_empty()) else { return Ok(None) };
    if !user::is_allowed_id(id) {
        return Err(ProxyError::InvalidId);
    }
    let roles = roles.into_iter().flat_map(|roles| roles.split(&settings.roles_separator));
    Ok(Some(user::signed_in(id, name, roles)))
}
