//! Links to versions of files.

use super::transport::error::ApiError;
use super::transport::http::{self, Method};
use serde::Deserialize;

/// A link to a version of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FileLink {
    /// The secret id of the link.
    pub(crate) id: String,
    /// The path of the file.
    pub(crate) path: String,
    /// The number of the version.
    pub(crate) version: i64,
    /// The path of the page.
    pub(crate) url: String,
    /// Unix time in milliseconds.
    pub(crate) created_at: i64,
}

#[derive(Deserialize)]
struct FileLinks {
    items: Vec<FileLink>,
}

/// Returns the links to files of a conversation, the newest first. `files` is the path of its files in the API. Before
/// that it revokes a link, if one is given.
pub(crate) async fn file_links(files: &str, revoke: Option<&str>) -> Result<Vec<FileLink>, ApiError> {
    if let Some(id) = revoke {
        http::act(Method::Delete, &["/api/artifact-shares/", id].concat()).await?;
    }
    let all = http::get::<FileLinks>(&[files, "/shares"].concat()).await?;
    Ok(all.items)
}
