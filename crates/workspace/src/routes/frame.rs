//! The document in which artifacts with scripts run: HTML that an agent wrote. It is the same for all of them, and contains none: the
//! page sends it the artifact by `postMessage`.
//!
//! The frame has an opaque origin, so it reads nothing of the site: no cookies, no storage, no other document. Its policy forbids every
//! request. The artifact runs in a second frame inside: a sandboxed frame may still load another address into itself, and that is decided
//! by the policy of the document around it, whose `frame-src` is `'none'`. The inner frame inherits the policy. What it does not forbid
//! (WebRTC, `preconnect`) is forbidden by `Connection-Allowlist`, and, for browsers without it, by `frame/guard.js`.

use axum::Router;
use axum::http::{HeaderName, header};
use axum::response::{Html, IntoResponse};
use axum::routing::get;
use std::sync::LazyLock;

/// Where the document is.
const PATH: &str = "/api/artifacts/frame";

/// The policy of the document and of the frame inside.
const POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; \
     img-src data: blob:; font-src data:; media-src data: blob:; connect-src 'none'; frame-src 'none'; child-src 'none'; \
     worker-src 'none'; object-src 'none'; form-action 'none'; base-uri 'none'; require-trusted-types-for 'script'; \
     trusted-types default; frame-ancestors 'self'";

/// Features that browsers allow in frames unless they are told otherwise, or that ask the user.
const PERMISSIONS: &str = "camera=(), microphone=(), geolocation=(), display-capture=(), payment=(), usb=(), serial=(), hid=(), \
     midi=(), gamepad=(), publickey-credentials-get=(), identity-credentials-get=(), fullscreen=(), picture-in-picture=(), \
     screen-wake-lock=(), sync-xhr=(), clipboard-read=(), clipboard-write=()";

const CLEAN: &str = include_str!("frame/clean.js");
const GUARD: &str = include_str!("frame/guard.js");
const OUTER: &str = include_str!("frame/outer.js");

/// The place in `outer.js` for the beginning of the artifact's document.
const START: &str = "/* the beginning of the artifact's document */ null";

static DOCUMENT: LazyLock<String> = LazyLock::new(document);

/// Returns the route, which is for browsers.
pub(super) fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new().route(PATH, get(frame))
}

/// `GET /api/artifacts/frame`
async fn frame() -> impl IntoResponse {
    let headers = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::CACHE_CONTROL, "no-cache"),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
        // Browsers that know it let nothing out, WebRTC and the connections that they open ahead included.
        (HeaderName::from_static("connection-allowlist"), "()"),
        (HeaderName::from_static("x-dns-prefetch-control"), "off"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ];
    (headers, Html(DOCUMENT.as_str()))
}

fn document() -> String {
    let start = format!(
        "<!doctype html><meta charset=\"utf-8\"><meta http-equiv=\"x-dns-prefetch-control\" content=\"off\">\
         <script>\"use strict\";{{{CLEAN}{GUARD}}}</script>"
    );
    // In a script, the string must not look like the end of it.
    let start = serde_json::Value::from(start).to_string().replace("</", "<\\/").replace("<!", "<\\!");
    let script = OUTER.replace(START, &start);
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Artifact</title>\
         <style>html,body,iframe{{display:block;margin:0;border:0;inline-size:100%;block-size:100%}}body{{background:#fff}}\
         </style></head><body><script>\"use strict\";{{{CLEAN}{script}}}</script></body></html>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guard_is_a_string_in_the_script_of_the_document() {
        assert!(!CLEAN.contains("</") && !GUARD.contains("</script") && OUTER.contains(START));
        let document = document();
        // That of the document; the one of the artifact is within the string.
        assert_eq!(document.matches("</script>").count(), 1);
        assert_eq!(document.matches("createPolicy(\\\"default\\\"").count(), 1);
    }
}
