//! Serves the files of the built site.

mod decompressed;

use crate::state::AppState;
use crate::{EmbeddedFile, Site};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::borrow::Cow;

/// The page of the frame that renders diagrams; see `public/assets/lazy/diagram.js`.
const DIAGRAM_FRAME: &str = "assets/lazy/mermaid/frame.html";
/// The frame has no origin, wherever it is opened, and loads nothing but its own scripts, because a
/// model wrote the diagrams.
const DIAGRAM_FRAME_POLICY: &str = "sandbox allow-scripts; default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; \
     img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/// The service worker of installed pages, which answers for all pages while the server cannot be reached.
const OFFLINE_WORKER: &str = "assets/lazy/offline-worker.js";

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
    let found = encoded(site, path, headers).or_else(|| plain(site, path))?;
    Some(response(path, found, headers))
}

/// Returns the content of the site's file at this path.
pub(crate) fn content(site: Site, path: &str) -> Option<Bytes> {
    plain(site, path)?.content.read().ok()
}

/// One representation of a file: its content in one encoding.
struct Representation {
    etag: String,
    coding: Option<&'static str>,
    content: Content,
}

enum Content {
    Stored(Cow<'static, [u8]>),
    /// Compressed with gzip, and to be sent without.
    Compressed(EmbeddedFile),
}

impl Content {
    fn read(self) -> std::io::Result<Bytes> {
        match self {
            Self::Stored(Cow::Borrowed(bytes)) => Ok(Bytes::from_static(bytes)),
            Self::Stored(Cow::Owned(bytes)) => Ok(Bytes::from(bytes)),
            Self::Compressed(file) => decompressed::content(&file),
        }
    }
}

/// Returns the compressed copy that the client prefers.
fn encoded(site: Site, path: &str, headers: &HeaderMap) -> Option<Representation> {
    let accepted = headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or_default();
    [("br", "br"), ("gzip", "gz")].into_iter().filter(|(coding, _)| accepts(accepted, coding)).find_map(
        |(coding, ending)| {
            let file = (site.files)(&format!("{path}.{ending}"))?;
            Some(Representation { etag: etag(&file, ""), coding: Some(coding), content: Content::Stored(file.data) })
        },
    )
}

/// Returns a file without an encoding. A release has no other copy than the compressed ones of most
/// files.
fn plain(site: Site, path: &str) -> Option<Representation> {
    if let Some(file) = (site.files)(path) {
        return Some(Representation { etag: etag(&file, ""), coding: None, content: Content::Stored(file.data) });
    }
    let file = (site.files)(&format!("{path}.gz"))?;
    // Strong entity tags differ between the encodings of a file.
    Some(Representation { etag: etag(&file, "-plain"), coding: None, content: Content::Compressed(file) })
}

/// Returns whether an `Accept-Encoding` names a coding and does not exclude it with the weight 0.
fn accepts(accepted: &str, coding: &str) -> bool {
    accepted.split(',').any(|part| {
        let (name, weight) = part.split_once(';').unwrap_or((part, ""));
        let weight = weight.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case(coding) && weight != Some(0.0)
    })
}

fn response(path: &str, found: Representation, headers: &HeaderMap) -> Response {
    let Representation { etag, coding, content } = found;
    let unchanged = headers.get(header::IF_NONE_MATCH).is_some_and(|known| known.as_bytes() == etag.as_bytes());
    let mut response = if unchanged {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        match content.read() {
            Ok(bytes) => bytes.into_response(),
            Err(error) => {
                tracing::error!(path, %error, "a file of the site cannot be decompressed");
                return StatusCode::INTERNAL_SERVER_ERROR.into_response();
            }
        }
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
    if path == OFFLINE_WORKER {
        // Without it, a worker is only for pages below its own folder.
        own.insert("service-worker-allowed", HeaderValue::from_static("/"));
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

fn etag(file: &EmbeddedFile, suffix: &str) -> String {
    format!("\"{}{suffix}\"", hex::encode(&file.metadata.sha256_hash()[..16]))
}

#[cfg(test)]
mod tests;
