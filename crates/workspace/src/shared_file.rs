//! A version of a file, as anybody who has a link to it may read it.

use crate::routes::{content_type, is_shown, pieces};
use crate::store::{self, SharedRow};
use ::store::{Store, StoreError};
use axum::body::Body;
use axum::http::HeaderMap;
use futures::StreamExt;
use std::pin::pin;
use web::{FileContent, SentFile, content_disposition};

/// The version of a file behind a link.
pub struct SharedFile {
    store: Store,
    row: SharedRow,
}

impl SharedFile {
    /// Returns the version behind a link; `None` if there is no such link any more.
    ///
    /// # Errors
    /// The database failed.
    pub async fn find(store: &Store, link: &str) -> Result<Option<Self>, StoreError> {
        let row = store::shared(store, link).await?;
        Ok(row.map(|row| Self { store: store.clone(), row }))
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        self.row.path.rsplit('/').next().unwrap_or(&self.row.path)
    }

    /// The media type that was detected from the content and the name.
    pub fn media_type(&self) -> &str {
        &self.row.media_type
    }

    /// The size in bytes.
    pub fn size(&self) -> u64 {
        self.row.size
    }

    /// The name of the user who has made the link, if it was known.
    pub fn shared_by(&self) -> Option<&str> {
        self.row.shared_by.as_deref()
    }

    /// When the link was made; Unix time in milliseconds.
    pub fn shared_at(&self) -> i64 {
        self.row.created_at
    }

    /// Reads the content as text, at most about `most` bytes of it. Bytes that are not UTF-8 are replaced.
    ///
    /// # Errors
    /// The database failed.
    pub async fn text(&self, most: usize) -> Result<String, StoreError> {
        let mut content = pin!(pieces(self.store.clone(), self.row.owner.clone(), self.row.file_id.clone()));
        let mut bytes = Vec::new();
        while bytes.len() <= most
            && let Some(piece) = content.next().await
        {
            bytes.extend_from_slice(&piece?);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Sends the content to the client with these request headers. A browser runs nothing in it. With `is_download` it
    /// saves it.
    pub fn send(self, headers: &HeaderMap, is_download: bool) -> FileContent {
        let how = if !is_download && is_shown(&self.row.media_type) { "inline" } else { "attachment" };
        let sent = SentFile {
            tag: self.row.file_id.clone(),
            content_type: content_type(&self.row.media_type),
            disposition: content_disposition(how, self.name()),
            size: Some(self.row.size),
        };
        FileContent::new(headers, sent, Body::from_stream(pieces(self.store, self.row.owner, self.row.file_id)))
    }
}
