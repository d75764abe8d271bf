//! Of which other sites pictures are shown. Whoever is asked for one hears that somebody looks at it, so the config names them, and the page's
//! policy lets in nothing else.

#[cfg(feature = "ssr")]
use leptos::prelude::use_context;
#[cfg(feature = "ssr")]
use std::sync::Arc;

/// The sites, as origins; by context.
#[cfg(feature = "ssr")]
#[derive(Clone, Debug, Default)]
pub struct Pictures(pub Arc<[String]>);

#[cfg(feature = "ssr")]
impl Pictures {
    /// As the page's policy and its head have them: with spaces between.
    pub(crate) fn written(&self) -> String {
        self.0.join(" ")
    }
}

/// Whether a picture of another site may be shown.
pub(crate) fn may_show(url: &str) -> bool {
    named().split_whitespace().any(|origin| is_of(url, origin))
}

fn is_of(url: &str, origin: &str) -> bool {
    let rest = url.strip_prefix(origin);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?', '#']))
}

#[cfg(feature = "ssr")]
fn named() -> String {
    use_context::<Pictures>().unwrap_or_default().written()
}

/// They stand in the document's head, see `shell.rs`.
#[cfg(not(feature = "ssr"))]
fn named() -> String {
    let meta = leptos::prelude::document().query_selector("meta[name=pictures]").ok().flatten();
    meta.and_then(|meta| meta.get_attribute("content")).unwrap_or_default()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_a_site() {
        let check = |url: &str, expected: bool| assert_eq!(is_of(url, "https://a.example"), expected, "{url}");
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
