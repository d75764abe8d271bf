//! The address in the browser's bar: which page, which conversation.
//!
//! This takes the place of a router: the app has one kind of address, `/{page}?conversation=ID`, and a router's download would be a
//! fifth of the whole.

use crate::prelude::*;
use leptos::ev::{self, MouseEvent};
use leptos::wasm_bindgen::{JsCast, JsValue};

/// The address; a cheap handle.
#[derive(Clone, Copy)]
pub struct Address {
    place: RwSignal<Place>,
}

/// The parts of an address that the app reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Place {
    /// Begins with `/`.
    path: String,
    /// Without the `?`.
    query: String,
}

impl Address {
    /// The address of the request; in the browser, the one in its bar from now on.
    pub fn new() -> Self {
        let address = Self { place: RwSignal::new(Place::now()) };
        // An effect, because there are no events on the server.
        Effect::new(move |_| {
            window_event_listener(ev::popstate, move |_| address.place.set(Place::now()));
            window_event_listener(ev::click, move |event| address.follow_link(&event));
        });
        address
    }

    /// The path, from `/` on. Tracked.
    pub fn path(&self) -> String {
        self.place.with(|place| place.path.clone())
    }

    /// The query string, without the `?`. Tracked.
    pub fn query(&self) -> String {
        self.place.with(|place| place.query.clone())
    }

    /// The parameters of the query string, as an object of texts. Tracked.
    pub fn parameters(&self) -> serde_json::Value {
        self.place.with(|place| parameters(&place.query).into())
    }

    /// Goes to another address of the app; with `replace`, in the place of the current entry of the browser's history.
    pub fn go(&self, to: &str, replace: bool) {
        let Ok(history) = window().history() else { return };
        // In a frame on another site's page, the way back is that site's.
        let replace = replace || self.place.with_untracked(|place| matches!(target(&place.path), Target::Embedded(..)));
        let done = match replace {
            true => history.replace_state_with_url(&JsValue::NULL, "", Some(to)),
            false => history.push_state_with_url(&JsValue::NULL, "", Some(to)),
        };
        // Refused only for an address of another site.
        if done.is_ok() {
            self.place.set(Place::now());
        }
    }

    /// A plain click on a link to a page of this app stays in the app; all others are the browser's.
    fn follow_link(&self, event: &MouseEvent) {
        let modified = event.meta_key() || event.ctrl_key() || event.shift_key() || event.alt_key();
        if event.default_prevented() || event.button() != 0 || modified {
            return;
        }
        let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let link = element.and_then(|target| target.closest("a[href]").ok().flatten());
        let Some(link) = link.and_then(|link| link.dyn_into::<web_sys::HtmlAnchorElement>().ok()) else { return };
        let elsewhere = !link.target().is_empty() || link.has_attribute("download") || link.rel().contains("external");
        if elsewhere || Some(link.origin()) != window().location().origin().ok() || !link.hash().is_empty() {
            return;
        }
        let path = link.pathname();
        if target(&path) == Target::Elsewhere {
            return;
        }
        event.prevent_default();
        self.go(&format!("{path}{}", link.search()), false);
    }
}

impl Default for Address {
    fn default() -> Self {
        Self::new()
    }
}

impl Place {
    #[cfg(feature = "ssr")]
    fn now() -> Self {
        let parts = use_context::<http::request::Parts>();
        let uri = parts.map(|parts| parts.uri).unwrap_or_default();
        Self { path: uri.path().to_owned(), query: uri.query().unwrap_or_default().to_owned() }
    }

    #[cfg(not(feature = "ssr"))]
    fn now() -> Self {
        let location = window().location();
        let query = location.search().unwrap_or_default();
        Self { path: location.pathname().unwrap_or_default(), query: query.trim_start_matches('?').to_owned() }
    }
}

/// A text as a part of an address.
pub(crate) fn encoded(part: &str) -> String {
    js_sys::encode_uri_component(part).into()
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// The config's first page.
    FirstPage,
    /// The page with this id, if there is one.
    Page(String),
    /// A chat of the page with this id, alone, for a frame on another site's page; the first, or the one with this agent.
    Embedded(String, Option<String>),
    /// No page: a file of the site, or nothing.
    Elsewhere,
}

/// What a path is about.
pub(crate) fn target(path: &str) -> Target {
    let path = path.trim_start_matches('/').trim_end_matches('/');
    if let Some(named) = path.strip_prefix("embed/") {
        let (page, agent) = named.split_once('/').map_or((named, None), |(page, agent)| (page, Some(agent)));
        return Target::Embedded(decoded(page), agent.map(decoded));
    }
    match path {
        "" => Target::FirstPage,
        name if name.contains(['/', '.']) => Target::Elsewhere,
        name => Target::Page(decoded(name)),
    }
}

/// The pairs of a query string.
fn parameters(query: &str) -> serde_json::Map<String, serde_json::Value> {
    let pair = |pair: &str| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(&key.replace('+', " ")), decoded(&value.replace('+', " ")).into())
    };
    query.split('&').filter(|pair| !pair.is_empty()).map(pair).collect()
}

/// Without percent-encoding; what is wrongly encoded stays as it is.
fn decoded(text: &str) -> String {
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
    fn queries_are_pairs() {
        for (query, expected) in [
            ("", serde_json::json!({})),
            ("a=1&b=x+y%26z&c", serde_json::json!({"a": "1", "b": "x y&z", "c": ""})),
            ("a=1&a=2&=3", serde_json::json!({"a": "2", "": "3"})),
        ] {
            assert_eq!(serde_json::Value::from(parameters(query)), expected, "{query}");
        }
    }

    #[test]
    fn paths_are_pages() {
        let page = |name: &str| Target::Page(name.to_owned());
        for (path, expected) in [
            ("/", Target::FirstPage),
            ("", Target::FirstPage),
            ("/support", page("support")),
            ("/support/", page("support")),
            ("/a%20b", page("a b")),
            ("/%C3%A9t%C3%A9", page("été")),
            ("/100%", page("100%")),
            ("/%FF", page("%FF")),
            ("/support/more", Target::Elsewhere),
            ("/embed/support", Target::Embedded("support".to_owned(), None)),
            ("/embed/a%20b/clerk", Target::Embedded("a b".to_owned(), Some("clerk".to_owned()))),
            ("/embed", page("embed")),
            ("/robots.txt", Target::Elsewhere),
        ] {
            assert_eq!(target(path), expected, "{path}");
        }
    }
}
