//! Files that users attach: kept by the server, named in messages by an address of ours.

use crate::read::read_struct;
use serde::Serialize;

/// The beginning of the address of a kept file; its id follows.
pub const FILES: &str = "/api/files/";

/// A file that the server keeps for its owner.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct KeptFile {
    /// By which it is read and deleted.
    pub id: String,
    /// Its address; what a `file` part of a message says.
    pub url: String,
    /// What its bytes say that it is, for example `image/png`.
    pub media_type: String,
    /// As its owner named it.
    pub filename: String,
    /// Bytes.
    pub size: u64,
}

read_struct!(KeptFile { id: "id", url: "url", media_type: "mediaType", filename: "filename", size: "size" });

/// The id of the kept file at an address, if it is one of ours.
pub fn kept_file_id(url: &str) -> Option<&str> {
    url.strip_prefix(FILES)
}

/// Whether a browser shows it in a page, without anything in it that could act there.
pub fn is_shown_inline(media_type: &str) -> bool {
    matches!(media_type, "image/png" | "image/jpeg" | "image/gif" | "image/webp")
}
