//! The URL in the browser's address bar: which page and which conversation are shown.
//!
//! This replaces a router: the app has one kind of URL, `/{page}?conversation=ID`, and a router
//! would be a fifth of the whole download.

use crate::prelude::*;
use leptos::ev::{self, MouseEvent};
use leptos::wasm_bindgen::{JsCast, JsValue};

/// The current URL; a cheap handle.
#[derive(Clone, Copy)]
pub struct Address {
    current: RwSignal<PathAndQuery>,
}

/// The parts of a URL that the app reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct PathAndQuery {
    /// Begins with `/`.
    path: String,
    /// Without the `?`.
    query: String,
}

impl Address {
    /// Reads the URL of the request; in the browser, follows the address bar from then on.
    pub fn new() -> Self {
        let address = Self { current: RwSignal::new(PathAndQuery::read()) };
        // An effect, because there are no events on the server.
        Effect::new(move |_| {
            window_event_listener(ev::popstate, move |_| address.current.set(PathAndQuery::read()));
            window_event_listener(ev::click, move |event| address.follow_link(&event));
        });
        address
    }

    /// Returns the path, which begins with `/`. Tracked.
    pub fn path(&self) -> String {
        self.current.with(|place| place.path.clone())
    }

    /// Returns the query string without the `?`. Tracked.
    pub fn query(&self) -> String {
        self.current.with(|place| place.query.clone())
    }

    /// Returns the parameters of the query string as an object of strings. Tracked.
    pub fn parameters(&self) -> serde_json::Value {
        self.current.with(|place| parse_query(&place.query).into())
    }

    /// Navigates to another URL of the app. With `replace`, the current entry of the browser's
    /// history is replaced.
    pub fn navigate(&self, to: &str, replace: bool) {
        let path = to.split(['?', '#']).next().unwrap_or_default();
        if route(path) == Route::FirstPage && has_home() {
            // Fails only for an address that is not valid.
            let _ = window().location().assign(to);
            return;
        }
        let Ok(history) = window().history() else { return };
        // In a frame, the back button belongs to the embedding page: no history entries are added.
        let replace = replace || self.current.with_untracked(|place| matches!(route(&place.path), Route::Embedded(..)));
        let done = if replace {
            history.replace_state_with_url(&JsValue::NULL, "", Some(to))
        } else {
            history.push_state_with_url(&JsValue::NULL, "", Some(to))
        };
        // Fails only for a URL of another origin.
        if done.is_ok() {
            self.current.set(PathAndQuery::read());
        }
    }

    /// Handles a plain click on a link to a page of this app without a page load; leaves all other
    /// clicks to the browser.
    fn follow_link(&self, event: &MouseEvent) {
        let modified = event.meta_key() || event.ctrl_key() || event.shift_key() || event.alt_key();
        if event.default_prevented() || event.button() != 0 || modified {
            return;
        }
        let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let link = element.and_then(|target| target.closest("a[href]").ok().flatten());
        let Some(link) = link.and_then(|link| link.dyn_into::<web_sys::HtmlAnchorElement>().ok()) else { return };
        let elsewhere = !link.target().is_empty()
            || link.has_attribute("download")
            || link.rel().split(' ').any(|kind| kind == "external");
        if elsewhere || Some(link.origin()) != window().location().origin().ok() || !link.hash().is_empty() {
            return;
        }
        let path = link.pathname();
        if route(&path) == Route::NotAPage {
            return;
        }
        event.prevent_default();
        self.navigate(&format!("{path}{}", link.search()), false);
    }
}

impl Default for Address {
    fn default() -> Self {
        Self::new()
    }
}

impl PathAndQuery {
    #[cfg(feature = "ssr")]
    fn read() -> Self {
        let parts = use_context::<http::request::Parts>();
        let uri = parts.map(|parts| parts.uri).unwrap_or_default();
        Self { path: uri.path().to_owned(), query: uri.query().unwrap_or_default().to_owned() }
    }

    #[cfg(not(feature = "ssr"))]
    fn read() -> Self {
        let location = window().location();
        let query = location.search().unwrap_or_default();
        Self { path: location.pathname().unwrap_or_default(), query: query.trim_start_matches('?').to_owned() }
    }
}

/// Whether the start page is a document of its own, without the app.
fn has_home() -> bool {
    document().document_element().is_some_and(|root| root.has_attribute("data-home"))
}

/// Percent-encodes a component of a URL.
pub(crate) fn encode_component(part: &str) -> String {
    js_sys::encode_uri_component(part).into()
}

/// The page or the chat that a path leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// The config's first page.
    FirstPage,
    /// The page with this id, if there is one.
    Page(String),
    /// One chat of the page with this id, for a frame on another site's page: the chat with the
    /// given agent, or else the first one.
    Embedded(String, Option<String>),
    /// No page of the app: a static file, or nothing.
    NotAPage,
}

/// Returns the target of a path.
pub(crate) fn route(path: &str) -> Route {
    let path = path.trim_start_matches('/').trim_end_matches('/');
    if let Some(named) = path.strip_prefix("embed/") {
        let (page, agent) = named.split_once('/').map_or((named, None), |(page, agent)| (page, Some(agent)));
        return Route::Embedded(percent_decode(page), agent.map(percent_decode));
    }
    match path {
        "" => Route::FirstPage,
        name if name.contains(['/', '.']) => Route::NotAPage,
        name => Route::Page(percent_decode(name)),
    }
}

/// Parses a query string. Of several values of a key, the last one counts.
fn parse_query(query: &str) -> serde_json::Map<String, serde_json::Value> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (percent_decode(&key.replace('+', " ")), percent_decode(&value.replace('+', " ")).into())
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

/// Decodes percent-encoding; invalid sequences stay as they are.
fn percent_decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let code = tail.get(..2).filter(|_| byte == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(decoded) => {
                bytes.push(decoded);
                rest = &tail[2..];
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_strings_are_parsed() {
        for (query, expected) in [
            ("", serde_json::json!({})),
            ("a=1&b=x+y%26z&c", serde_json::json!({"a": "1", "b": "x y&z", "c": ""})),
            ("a=1&a=2&=3", serde_json::json!({"a": "2", "": "3"})),
        ] {
            assert_eq!(serde_json::Value::from(parse_query(query)), expected, "{query}");
        }
    }

    #[test]
    fn paths_lead_to_pages_and_embedded_chats() {
        let page = |name: &str| Route::Page(name.to_owned());
        for (path, expected) in [
            ("/", Route::FirstPage),
            ("", Route::FirstPage),
            ("/support", page("support")),
            ("/support/", page("support")),
            ("/a%20b", page("a b")),
            ("/%C3%A9t%C3%A9", page("été")),
            ("/100%", page("100%")),
            ("/%FF", page("%FF")),
            ("/support/more", Route::NotAPage),
            ("/embed/support", Route::Embedded("support".to_owned(), None)),
            ("/embed/a%20b/clerk", Route::Embedded("a b".to_owned(), Some("clerk".to_owned()))),
            ("/embed", page("embed")),
            ("/robots.txt", Route::NotAPage),
        ] {
            assert_eq!(route(path), expected, "{path}");
        }
    }
}
