//! The other sites whose images may be shown. Loading an image tells its host that somebody is
//! looking at it, so the config lists the hosts, and the page's content security policy allows no
//! others.

#[cfg(feature = "ssr")]
use leptos::prelude::use_context;
#[cfg(feature = "ssr")]
use std::sync::Arc;

/// The allowed origins, as a Leptos context.
#[cfg(feature = "ssr")]
#[derive(Clone, Debug, Default)]
pub struct ImageOrigins(pub Arc<[String]>);

#[cfg(feature = "ssr")]
impl ImageOrigins {
    /// Returns the origins separated by spaces, as the content security policy and the document's
    /// head have them.
    pub(crate) fn joined(&self) -> String {
        self.0.join(" ")
    }
}

/// Returns whether an image of another site may be shown.
pub(crate) fn is_allowed_image(url: &str) -> bool {
    allowed_origins().split_whitespace().any(|origin| has_origin(url, origin))
}

fn has_origin(url: &str, origin: &str) -> bool {
    let rest = url.strip_prefix(origin);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

#[cfg(feature = "ssr")]
fn allowed_origins() -> String {
    use_context::<ImageOrigins>().unwrap_or_default().joined()
}

/// Reads the origins from the document's head; see `shell.rs`.
#[cfg(not(feature = "ssr"))]
fn allowed_origins() -> String {
    let meta = leptos::prelude::document().query_selector("meta[name=pictures]").ok().flatten();
    meta.and_then(|meta| meta.get_attribute("content")).unwrap_or_default()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn images_are_matched_by_whole_origin() {
        let check = |url: &str, expected: bool| assert_eq!(has_origin(url, "https://a.example"), expected, "{url}");
        check("https://a.example/x.png", true);
        check("https://a.example?x", true);
        check("https://a.example", true);
        check("https://a.example.evil.test/x.png", false);
        check("https://a.example@evil.test/x.png", false);
        check("https://a.example:8443/x.png", false);
        check("http://a.example/x.png", false);
        check("/x.png", false);
    }
}
