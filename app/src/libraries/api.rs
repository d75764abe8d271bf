//! The paths of the HTTP API for libraries.

use crate::address::encode_component;
pub(super) use crate::api::transport::http::{Method, act, error_of, get, send};

/// Returns the path of a library, followed by `rest`.
pub(super) fn library_path(id: &str, rest: &str) -> String {
    ["/api/libraries/", &encode_component(id), rest].concat()
}

/// Returns the path of a document, followed by `rest`.
pub(super) fn document_path(id: &str, rest: &str) -> String {
    ["/api/documents/", &encode_component(id), rest].concat()
}
