//! Serves the files of the built site.

use crate::router::AppState;
use crate::{EmbeddedFile, Site};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use std::fmt::Write;

/// The page of the frame that renders diagrams; see `public/assets/lazy/diagram.js`.
const DIAGRAM_FRAME: &str = "assets/lazy/mermaid/frame.html";
/// The frame has no origin, wherever it is opened, and loads nothing but its own scripts, because a
/// model wrote the diagrams.
const DIAGRAM_FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// `GET /pkg/{*file}`
pub(crate) async fn package(State(state): State<AppState>, request: Request) -> Response {
    file(state.site, request.uri().path(), request.headers()).unwrap_or_else(|| StatusCode::NOT_FOUND.into_response())
}

/// Returns the site's file at this path, in the best encoding that the client accepts.
pub(crate) fn file(site: Site, path: &str, headers: &HeaderMap) -> Option<Response> {
    let path = path.trim_start_matches('/');
    if path.is_empty() || path.split('/').any(|part| part == "..") {
        return None;
    }
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let accepts =
        |coding: &str| accepted.split(',').any(|part| part.split(';').next().is_some_and(|name| name.trim() == coding));
    let encoded = [("br", "br"), ("gzip", "gz")].into_iter().find_map(|(coding, ending)| {
        let file = accepts(coding).then(|| (site.files)(&format!("{path}.{ending}")))??;
        Some((file, Some(coding)))
    });
    let (file, coding) = encoded.or_else(|| Some(((site.files)(path)?, None)))?;
    Some(response(path, file, coding, headers))
}

fn response(path: &str, file: EmbeddedFile, coding: Option<&'static str>, headers: &HeaderMap) -> Response {
    let etag = etag(&file);
    let unchanged = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let mut response = match unchanged {
        true => StatusCode::NOT_MODIFIED.into_response(),
        false => file.data.into_owned().into_response(),
    };
    let own = response.headers_mut();
    let media_type = mime_guess::from_path(path).first_or_octet_stream();
    if let Ok(value) = HeaderValue::from_str(media_type.as_ref()) {
        own.insert(header::CONTENT_TYPE, value);
    }
    if let Ok(value) = HeaderValue::from_str(&etag) {
        own.insert(header::ETAG, value);
    }
    if path == DIAGRAM_FRAME {
        own.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(DIAGRAM_FRAME_POLICY));
        own.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("SAMEORIGIN"));
    }
    // Most names stay the same across versions, so the browser revalidates them and usually gets
    // 304.
    let keep = if has_content_hash(path) { "public, max-age=31536000, immutable" } else { "no-cache" };
    own.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    own.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(coding) = coding {
        own.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    response
}

/// Returns whether the file's name contains a hash of its content: `NAME-0123456789abcdef.wasm`, or
/// `….bin` for a bundle of several files.
fn has_content_hash(path: &str) -> bool {
    let stem = path.strip_suffix(".wasm").or_else(|| path.strip_suffix(".bin"));
    stem.and_then(|stem| stem.rsplit_once('-'))
        .is_some_and(|(_, mark)| mark.len() == 16 && mark.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn etag(file: &EmbeddedFile) -> String {
    let mut etag = String::from("\"");
    for byte in &file.metadata.sha256_hash()[..16] {
        let _ = write!(etag, "{byte:02x}");
    }
    etag.push('"');
    etag
}

#[cfg(test)]
mod tests {
    use super::has_content_hash;

    #[test]
    fn only_hashed_files_are_immutable() {
        for (path, expected) in [
            ("pkg/conversation-0123456789abcdef.wasm", true),
            ("pkg/conversation-0123456789abcdef.bin", true),
            ("pkg/chatwright.wasm", false),
            ("pkg/chatwright-chunks.js", false),
            ("pkg/a-0123456789abcdeg.wasm", false),
            ("pkg/0123456789abcdef.wasm", false),
        ] {
            assert_eq!(has_content_hash(path), expected, "{path}");
        }
    }
}
