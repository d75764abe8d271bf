//! The hosts that an agent may fetch.

use globset::GlobSet;
use settings::compile_patterns;
use url::Url;

/// The hosts that an agent may fetch.
pub(crate) struct Hosts {
    allow: Option<GlobSet>,
    deny: GlobSet,
}

impl Hosts {
    /// Compiles the patterns.
    ///
    /// # Errors
    /// The invalid pattern, in one line.
    pub(crate) fn new(allow: Option<&[String]>, deny: &[String]) -> Result<Self, String> {
        let lower = |hosts: &[String]| hosts.iter().map(|host| host.to_lowercase()).collect::<Vec<_>>();
        let allow = allow.map(|hosts| compile_patterns(&lower(hosts))).transpose()?;
        Ok(Self { allow, deny: compile_patterns(&lower(deny))? })
    }

    /// Checks the host of a URL, which is in lower case and without an escape.
    ///
    /// # Errors
    /// A message for the model.
    pub(crate) fn check(&self, url: &Url) -> Result<(), String> {
        // A name with a dot at its end is the same name.
        let host = url.host_str().unwrap_or_default();
        let host = host.strip_suffix('.').unwrap_or(host);
        let is_allowed = self.allow.as_ref().is_none_or(|allow| allow.is_match(host)) && !self.deny.is_match(host);
        if is_allowed { Ok(()) } else { Err(format!("This site does not allow fetching pages of {host}.")) }
    }
}
