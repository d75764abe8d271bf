//! Users that a reverse proxy has signed in and names in headers.
//!
//! The headers count only from the proxy's address. From anywhere else they are refused instead of ignored: either somebody tries to be
//! another user, or the proxy's address in the config is wrong, and then everybody would seem to be signed out for no visible reason.

use super::credentials::{Ambiguous, Credentials};
use super::user;
use chat::Caller;
use config::ProxyAuth;

/// Why a request is refused.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Ambiguous(Ambiguous),
    /// The headers came from somebody who may not send them.
    NotTheProxy,
    /// The user's id cannot be one.
    NoId,
}

/// The token that the proxy has for its user. Only where [`user`] has found one: it says nothing by itself.
///
/// # Errors
/// It is there twice, or is no text.
pub(super) fn token<'a>(settings: &ProxyAuth, sent: &'a Credentials) -> Result<Option<&'a str>, Ambiguous> {
    let token = sent.header(&settings.token_header)?;
    let bare = token.map(|token| token.strip_prefix("Bearer ").unwrap_or(token).trim());
    Ok(bare.filter(|token| !token.is_empty()))
}

/// The user whom the proxy names; none if it names nobody.
pub(super) fn user(settings: &ProxyAuth, sent: &Credentials) -> Result<Option<Caller>, Refused> {
    let header = |name: &str| sent.header(name).map_err(Refused::Ambiguous);
    let id = header(&settings.user_header)?;
    let (name, roles) = (header(&settings.name_header)?, header(&settings.roles_header)?);
    let is_proxy = sent.peer().is_some_and(|peer| settings.trusted.iter().any(|network| network.contains(&peer)));
    if !is_proxy && (id.is_some() || name.is_some() || roles.is_some()) {
        return Err(Refused::NotTheProxy);
    }
    let Some(id) = id.filter(|id| !id.is_empty()) else { return Ok(None) };
    if !user::is_id(id) {
        return Err(Refused::NoId);
    }
    let roles = roles.into_iter().flat_map(|roles| roles.split(&settings.roles_separator));
    Ok(Some(user::signed_in(id, name, roles)))
}
