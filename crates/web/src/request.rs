//! What the server's gates tell the routes about a request.

use auth::{AuthMethod, Credentials};
use std::net::IpAddr;

/// How the caller of a request was identified and where the request came from: an extension of the
/// request, beside its [`chat::Caller`].
#[derive(Clone)]
pub struct RequestContext {
    /// The credentials of the request.
    pub credentials: Credentials,
    /// Which of them identified the caller.
    pub auth_method: AuthMethod,
    /// Whether the client uses HTTPS, as far as trusted proxies tell.
    pub is_https: bool,
    /// The address of the client, as far as trusted proxies name it.
    pub address: Option<IpAddr>,
    /// The address as the audit log records it.
    pub audit_address: Option<String>,
    /// Whether this server has a sign-in page.
    pub has_sign_in: bool,
}
