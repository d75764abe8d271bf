//! Files that an agent shows to the user as results.

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
