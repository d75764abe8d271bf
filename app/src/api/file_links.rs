//! Links to versions of files.

use super::transport::error::ApiError;
use super::transport::http::{self, Method};
use wire::file::{FileLink, FileLinks};

/// Returns the links to files of a conversation, the newest first. `files` is the path of its files in the API. Before
/// that it revokes a link, if one is given.
pub(crate) async fn file_links(files: &str, revoke: Option<&str>) -> Result<Vec<FileLink>, ApiError> {
    if let Some(id) = revoke {
        http::act(Method::Delete, &["/api/artifact-shares/", id].concat()).await?;
    }
    let all = http::get::<FileLinks>(&[files, "/shares"].concat()).await?;
    Ok(all.items)
}
