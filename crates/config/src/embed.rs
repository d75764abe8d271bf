//! The section `embed`, checked: chats on pages of other sites.

use crate::auth::JwtAuth;

/// The sites that may embed chats of this server, and how they identify their users.
#[derive(Clone, Debug)]
pub struct Embed {
    /// The origins of the sites, as browsers send them: `https://www.example.com`, with a port if
    /// it is not the default one. At least one.
    pub origins: Vec<String>,
    /// How the tokens by which a site identifies its user are verified.
    pub tokens: Option<JwtAuth>,
}
