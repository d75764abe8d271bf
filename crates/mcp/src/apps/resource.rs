//! The HTML of user interfaces, with the domains that they may reach.

use super::{MEDIA_TYPE, META};
use ::settings::mcp::AppDomain;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{MetaObject, ResourceContents};
use serde_json::Value;
use std::sync::Arc;
use web::frame::FrameSources;

/// The maximum size of a user interface in bytes.
const MAX_HTML: usize = 2 << 20;
/// The maximum number of domains of a kind that a user interface may declare; further ones are ignored.
const MAX_DOMAINS: usize = 50;

/// A user interface.
#[derive(Debug)]
pub(crate) struct AppResource {
    /// The document.
    pub(crate) html: String,
    /// Its declarations.
    pub(super) declared: Option<Declaration>,
}

/// The declarations of a user interface in `_meta.ui`.
#[derive(Debug)]
pub(super) struct Declaration {
    /// The domains for requests.
    connect: Vec<AppDomain>,
    /// The domains for scripts, styles, pictures, fonts and media.
    resource: Vec<AppDomain>,
}

impl Declaration {
    /// Reads the declaration of a resource; `None` if there is none.
    pub(super) fn read(meta: Option<&MetaObject>) -> Option<Self> {
        let own = meta?.get(META)?;
        let domains = |key: &str| valid_domains(own.get("csp").and_then(|csp| csp.get(key)));
        Some(Self { connect: domains("connectDomains"), resource: domains("resourceDomains") })
    }
}

/// The user interface that a connection has read last: its address, the number of changes of the server before, and the content.
pub(crate) type CachedApp = Option<(String, u64, Arc<AppResource>)>;

impl AppResource {
    /// Reads the content of a resource.
    ///
    /// # Errors
    /// Why it is not shown.
    pub(super) fn read(contents: Vec<ResourceContents>) -> Result<Self, &'static str> {
        let content = contents.into_iter().find(|content| media_type(content).is_some_and(is_html));
        let (html, meta) = match content.ok_or("the server has no HTML for it")? {
            ResourceContents::TextResourceContents { text, meta, .. } => (text, meta),
            ResourceContents::BlobResourceContents { blob, meta, .. } => {
                let bytes = STANDARD.decode(blob).map_err(|_| "its HTML cannot be read")?;
                (String::from_utf8(bytes).map_err(|_| "its HTML cannot be read")?, meta)
            }
            _ => return Err("its HTML cannot be read"),
        };
        if html.len() > MAX_HTML {
            return Err("it is larger than 2 MB");
        }
        Ok(Self { html, declared: Declaration::read(meta.as_ref()) })
    }

    /// Returns the declared domains that the administrator allows.
    pub(crate) fn sources(&self, allowed: &[AppDomain]) -> FrameSources {
        let chosen = |declared: &[AppDomain]| {
            let is_allowed = |domain: &&AppDomain| allowed.iter().any(|one| one.covers(domain));
            declared.iter().filter(is_allowed).map(ToString::to_string).collect()
        };
        let declared = self.declared.as_ref();
        declared.map_or_else(FrameSources::default, |Declaration { connect, resource }| FrameSources {
            connect: chosen(connect),
            resource: chosen(resource),
        })
    }
}

fn media_type(content: &ResourceContents) -> Option<&str> {
    match content {
        ResourceContents::TextResourceContents { mime_type, .. }
        | ResourceContents::BlobResourceContents { mime_type, .. } => mime_type.as_deref(),
        _ => None,
    }
}

fn is_html(media_type: &str) -> bool {
    media_type.chars().filter(|sign| !sign.is_whitespace()).collect::<String>().eq_ignore_ascii_case(MEDIA_TYPE)
}

/// Returns the valid domains of a list in `_meta.ui.csp`.
fn valid_domains(list: Option<&Value>) -> Vec<AppDomain> {
    let list = list.and_then(Value::as_array);
    list.into_iter().flatten().take(MAX_DOMAINS).filter_map(|domain| domain.as_str()?.parse().ok()).collect()
}

/// Returns the domains that a resource declares, for the fuzzer.
#[cfg(feature = "fuzz")]
pub(crate) fn declared_sources(resource: &str) -> Vec<String> {
    let read = serde_json::from_str(resource).ok().and_then(|content| AppResource::read(vec![content]).ok());
    let declared = read.and_then(|app| app.declared);
    let domains = declared.into_iter().flat_map(|declared| declared.connect.into_iter().chain(declared.resource));
    domains.map(|domain| domain.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(content: Value) -> Result<AppResource, &'static str> {
        AppResource::read(vec![serde_json::from_value(content).unwrap()])
    }

    #[test]
    fn only_html_for_apps_is_shown() {
        let check = |content: Value, expected: Result<&str, &str>| {
            let mut content = content;
            content["uri"] = "ui://a".into();
            assert_eq!(
                read(content.clone()).map(|app| app.html).as_deref().map_err(|error| *error),
                expected,
                "{content}"
            );
        };
        check(json!({ "mimeType": MEDIA_TYPE, "text": "<p>" }), Ok("<p>"));
        check(json!({ "mimeType": "Text/HTML; profile=mcp-app", "text": "<p>" }), Ok("<p>"));
        check(json!({ "mimeType": MEDIA_TYPE, "blob": "PHA+" }), Ok("<p>"));
        check(json!({ "mimeType": MEDIA_TYPE, "blob": "?" }), Err("its HTML cannot be read"));
        check(json!({ "mimeType": "text/html", "text": "<p>" }), Err("the server has no HTML for it"));
        check(json!({ "text": "<p>" }), Err("the server has no HTML for it"));
        check(json!({ "mimeType": MEDIA_TYPE, "text": "x".repeat(MAX_HTML + 1) }), Err("it is larger than 2 MB"));
    }

    #[test]
    fn domains_must_be_declared_and_allowed() {
        let check = |csp: Value, allowed: &[&str], (connect, resource): (&[&str], &[&str])| {
            let meta = json!({ "ui": { "csp": csp.clone() } });
            let app = read(json!({ "uri": "ui://a", "mimeType": MEDIA_TYPE, "text": "", "_meta": meta })).unwrap();
            let allowed: Vec<_> = allowed.iter().map(|domain| domain.parse().unwrap()).collect();
            let owned = |list: &[&str]| list.iter().map(|&domain| domain.to_owned()).collect();
            assert_eq!(
                app.sources(&allowed),
                FrameSources { connect: owned(connect), resource: owned(resource) },
                "{csp}"
            );
        };
        let csp = json!({ "connectDomains": ["https://a.example", "https://b.example"], "resourceDomains": ["https://cdn.c.example"] });
        check(csp.clone(), &[], (&[], &[]));
        check(csp.clone(), &["https://a.example"], (&["https://a.example"], &[]));
        check(csp, &["https://*.c.example", "https://unused.example"], (&[], &["https://cdn.c.example"]));
        let hostile = json!({ "connectDomains": ["*", "https://a.example; script-src *", 7, "https://a.example 'self'"], "resourceDomains": "https://a.example" });
        check(hostile, &["https://a.example"], (&[], &[]));
        check(
            json!({ "frameDomains": ["https://a.example"], "baseUriDomains": ["https://a.example"] }),
            &["https://a.example"],
            (&[], &[]),
        );
    }
}
