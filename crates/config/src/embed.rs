//! Pages of other sites that may show chats of this server.

use crate::auth::JwtAuth;

/// Which sites may show chats of this server, and how they say for whom.
#[derive(Clone, Debug)]
pub struct Embed {
    /// As browsers write them: `https://www.example.com`, with a port where it is not the usual one. At least one.
    pub origins: Vec<String>,
    /// How tokens are checked by which a site says who its user is.
    pub tokens: Option<JwtAuth>,
}
