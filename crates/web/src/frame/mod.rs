//! The documents in which foreign HTML with scripts runs: artifacts, which agents wrote, and user interfaces of MCP servers (apps).
//!
//! A document has an opaque origin, so it reads nothing of the site: no cookies, no storage, no other document. Its
//! policy forbids every request but those to the [domains](FrameSources) that an app may reach. The HTML runs in a
//! second frame inside: a sandboxed frame may still load another address into itself, and that is decided by the policy
//! of the document around it, whose `frame-src` is `'none'`. The inner frame inherits the policy. Connections that it
//! does not forbid (WebRTC, `preconnect`) are forbidden by `Connection-Allowlist`, and, for browsers without it, by
//! `guard.js`.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::Value;
use std::fmt::Write;
use std::sync::LazyLock;

/// Features that browsers allow in frames unless they are told otherwise, or that ask the user.
const PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=(), serial=(), hid=(), \
     midi=(), gamepad=(), publickey-credentials-get=(), identity-credentials-get=(), fullscreen=(), picture-in-picture=(), \
     screen-wake-lock=(), sync-xhr=(), clipboard-read=(), clipboard-write=()";

const CLEAN: &str = include_str!("clean.js");
const GUARD: &str = include_str!("guard.js");
const OUTER: &str = include_str!("outer.js");
const APP: &str = include_str!("app.js");

/// The place in a script for the beginning of the document in the inner frame.
const START: &str = "/* the beginning of the inner document */ null";
/// The place in `app.js` for the app: `{html, title}`.
const CONTENT: &str = "/* the app */ null";

static ARTIFACT: LazyLock<String> = LazyLock::new(|| document("Artifact", "#fff", OUTER));

/// The domains that the HTML of a frame may reach, as sources of a Content Security Policy. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameSources {
    /// The domains of requests.
    pub connect: Vec<String>,
    /// The domains of scripts, styles, pictures, fonts and media.
    pub resource: Vec<String>,
}

/// Returns the document of artifacts. It is the same for all of them, and contains none: the page sends it the artifact by `postMessage`.
pub fn artifact_frame() -> Response {
    respond(&FrameSources::default(), ARTIFACT.clone())
}

/// Returns the document of an app, which passes on its JSON-RPC messages to the page around it, and those of the page to the app.
pub fn app_frame(html: &str, title: &str, sources: &FrameSources) -> Response {
    let content = in_script(&serde_json::json!({ "html": html, "title": title }));
    // Like the page around it, the app may be light or dark.
    respond(sources, document(title, "Canvas;color-scheme:light dark", &APP.replacen(CONTENT, &content, 1)))
}

fn respond(sources: &FrameSources, document: String) -> Response {
    let mut headers = HeaderMap::new();
    let fixed = [
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    headers.extend(fixed.map(|(name, value)| (name, HeaderValue::from_static(value))));
    if *sources == FrameSources::default() {
        // Browsers that know it let nothing out, WebRTC and the connections that they open ahead included.
        headers.insert(HeaderName::from_static("connection-allowlist"), HeaderValue::from_static("()"));
    }
    // Sources are origins, which are valid in a header. A document without its policy must not be sent.
    match HeaderValue::from_str(&policy(sources)) {
        Ok(policy) => {
            headers.insert(header::CONTENT_SECURITY_POLICY, policy);
            (headers, Html(document)).into_response()
        }
        Err(_) => axum::http::StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Returns the policy of the document and of the frame inside.
fn policy(FrameSources { connect, resource }: &FrameSources) -> String {
    let mut policy = "sandbox allow-scripts; default-src 'none'".to_owned();
    let resources: String = resource.iter().fold(String::new(), |list, source| list + " " + source);
    let own = [
        ("script-src", "'unsafe-inline'"),
        ("style-src", "'unsafe-inline'"),
        ("img-src", "data: blob:"),
        ("font-src", "data:"),
        ("media-src", "data: blob:"),
    ];
    for (directive, sources) in own {
        // Writing to a string does not fail.
        let _ = write!(policy, "; {directive} {sources}{resources}");
    }
    let connect = if connect.is_empty() { "'none'".to_owned() } else { connect.join(" ") };
    policy
        + "; connect-src "
        + &connect
        + "; frame-src 'none'; child-src 'none'; worker-src 'none'; object-src 'none'; \
        form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types default; frame-ancestors 'self'"
}

/// Returns a value as JSON that does not look like the end of the script that it stands in.
fn in_script(value: &Value) -> String {
    value.to_string().replace("</", "<\\/").replace("<!", "<\\u0021")
}

fn document(title: &str, background: &str, script: &str) -> String {
    let start = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">\
         <script>\"use strict\";{{{CLEAN}{GUARD}}}</script>"
    );
    let script = script.replacen(START, &in_script(&start.into()), 1);
    let title = title.replace('&', "&amp;").replace('<', "&lt;");
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>{title}</title>\
         <style>html,body,iframe{{display:block;margin:0;border:0;inline-size:100%;block-size:100%}}body{{background:{background}}}\
         </style></head><body><script>\"use strict\";{{{CLEAN}{script}}}</script></body></html>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_is_a_string_in_the_script_of_the_document() {
        assert!(!CLEAN.contains("</") && !GUARD.contains("</script"));
        assert!(OUTER.contains(START) && APP.contains(START) && APP.contains(CONTENT));
        let html = format!("<!--<script></script>{START}{CONTENT}");
        let app =
            document("<b>", "Canvas", &APP.replacen(CONTENT, &in_script(&serde_json::json!({ "html": html })), 1));
        for document in [ARTIFACT.clone(), app] {
            // That of the document; those of the inner document are within strings.
            assert_eq!((document.matches("</script").count(), document.matches("<!--").count()), (1, 0), "{document}");
            assert_eq!(document.matches("createPolicy(\\\"default\\\"").count(), 1, "{document}");
            assert!(!document.contains("<b>"));
        }
    }

    #[test]
    fn the_policy_allows_the_domains_and_nothing_else() {
        let check = |connect: &[&str], resource: &[&str], expected: &str| {
            let owned = |list: &[&str]| list.iter().map(|&source| source.to_owned()).collect();
            let sources = FrameSources { connect: owned(connect), resource: owned(resource) };
            let policy = policy(&sources);
            let end =
                policy.find("; frame-src 'none'; child-src 'none'; worker-src 'none'; object-src 'none'").unwrap();
            assert_eq!(policy[..end].strip_prefix("sandbox allow-scripts; default-src 'none'; "), Some(expected));
            let headers = respond(&sources, String::new()).headers().clone();
            assert_eq!(headers.contains_key("connection-allowlist"), connect.is_empty() && resource.is_empty());
        };
        check(
            &[],
            &[],
            "script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; font-src data:; media-src data: blob:; \
             connect-src 'none'",
        );
        check(
            &["https://a.example", "wss://a.example"],
            &["https://*.b.example"],
            "script-src 'unsafe-inline' https://*.b.example; style-src 'unsafe-inline' https://*.b.example; \
             img-src data: blob: https://*.b.example; font-src data: https://*.b.example; \
             media-src data: blob: https://*.b.example; connect-src https://a.example wss://a.example",
        );
    }
}
