//! Files that an agent shows to the user as results.

use crate::message::DataPart;
use serde::{Deserialize, Serialize};

/// The name of the data part with the files: `{files: [PresentedFile]}`.
pub const PRESENTED: &str = "data-presented-files";

/// A version of a file that an agent shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PresentedFile {
    /// The path in the workspace, for example `/outputs/report.md`.
    pub path: String,
    /// The number of the version in the conversation.
    pub version: i64,
    /// Where this version is read.
    pub url: String,
    /// The media type.
    pub media_type: String,
    /// The size in bytes.
    pub size: u64,
}

/// A version of a file that an agent shows, with what the server needs to send it elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PresentedContent {
    /// The version.
    #[serde(flatten)]
    pub file: PresentedFile,
    /// The id of the stored content; `None` in messages that are older than this field.
    pub file_id: Option<String>,
}

/// Returns the files that a data part shows, with the ids of their contents; none if it is another part.
pub fn presented_contents(part: &DataPart) -> Vec<PresentedContent> {
    if part.kind != PRESENTED {
        return Vec::new();
    }
    let files = part.data.get("files").cloned().unwrap_or_default();
    serde_json::from_value(files).unwrap_or_default()
}

/// Returns the files that a data part shows; none if it is another part.
pub fn presented_files(part: &DataPart) -> Vec<PresentedFile> {
    if part.kind != PRESENTED {
        return Vec::new();
    }
    let files = part.data.get("files").cloned().unwrap_or_default();
    serde_json::from_value(files).unwrap_or_default()
}
