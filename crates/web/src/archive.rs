//! ZIP archives that are made while they are sent.

use crate::{FileContent, SentFile, busy, content_disposition};
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use chat::{PermitError, RunPermit, RunPermits};
use futures::{Stream, StreamExt};
use parking_lot::Mutex;
use std::io::{self, Write};
use std::pin::pin;
use std::sync::{Arc, LazyLock};
use uuid::Uuid;
use wire::{ErrorCode, UserError};
use zip::ZipWriter;
use zip::write::{SimpleFileOptions, StreamWriter};

/// The most archives that are sent at the same time.
const MAX_AT_ONCE: usize = 64;
/// Those of one user.
const MAX_OF_USER: usize = 2;
/// After how many seconds a user with too many tries again.
const RETRY_AFTER: u32 = 10;

/// Each download holds a permit until it is complete, or its client has disconnected.
static PERMITS: LazyLock<RunPermits> = LazyLock::new(|| RunPermits::new(MAX_AT_ONCE));

/// A part of an archive.
#[derive(Debug)]
pub enum ArchivePart {
    /// Begins a file with this path, which no other file of the archive has.
    File(String),
    /// The next bytes of the file.
    Content(Bytes),
}

/// Sends an archive with these parts to a user. Only one part is in memory, and it is packed on a thread for blocking work.
/// An error in `parts` breaks off the response, which has begun.
///
/// # Errors
/// [`ErrorCode::RateLimited`] while two archives are sent to the user, and [`busy`] while too many are sent to all users.
pub fn archive_download(
    user_id: &str,
    file_name: &str,
    parts: impl Stream<Item = Result<ArchivePart, io::Error>> + Send + 'static,
) -> Result<FileContent, UserError> {
    let permit = permit(user_id)?;
    let sent = SentFile {
        tag: Uuid::now_v7().to_string(),
        content_type: "application/zip".to_owned(),
        disposition: content_disposition("attachment", file_name),
        size: None,
    };
    Ok(FileContent::new(&HeaderMap::new(), sent, Body::from_stream(packed(parts, permit))))
}

fn permit(user_id: &str) -> Result<RunPermit, UserError> {
    PERMITS.acquire(user_id, MAX_OF_USER, false).map_err(|refusal| match refusal {
        PermitError::UserFull => {
            let message = format!(
                "You are downloading {MAX_OF_USER} ZIP archives already. Try again when one of them is complete."
            );
            UserError { retry_after: Some(RETRY_AFTER), ..UserError::new(ErrorCode::RateLimited, message) }
        }
        PermitError::Full | PermitError::NoMemory => busy(),
    })
}

/// The packed bytes that were not sent yet.
#[derive(Clone, Default)]
struct Packed(Arc<Mutex<Vec<u8>>>);

impl Write for Packed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Packed {
    fn take(&self) -> Bytes {
        std::mem::take(&mut *self.0.lock()).into()
    }
}

type Writer = ZipWriter<StreamWriter<Packed>>;

fn packed(
    parts: impl Stream<Item = Result<ArchivePart, io::Error>> + Send,
    permit: RunPermit,
) -> impl Stream<Item = Result<Bytes, io::Error>> + Send {
    async_stream::try_stream! {
        let _permit = permit;
        let packed = Packed::default();
        let mut writer: Writer = ZipWriter::new_stream(packed.clone());
        let mut parts = pin!(parts);
        while let Some(part) = parts.next().await {
            let part = part?;
            writer = tokio::task::spawn_blocking(move || pack(writer, part)).await.map_err(io::Error::other)??;
            let bytes = packed.take();
            // The compression keeps some.
            if !bytes.is_empty() {
                yield bytes;
            }
        }
        writer.finish().map_err(io::Error::other)?;
        yield packed.take();
    }
}

fn pack(mut writer: Writer, part: ArchivePart) -> io::Result<Writer> {
    match part {
        ArchivePart::File(path) => writer.start_file(path, SimpleFileOptions::default()).map_err(io::Error::other)?,
        ArchivePart::Content(bytes) => writer.write_all(&bytes)?,
    }
    Ok(writer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use axum::response::IntoResponse;
    use futures::stream;
    use std::io::{Cursor, Read};
    use zip::ZipArchive;

    fn parts() -> Vec<Result<ArchivePart, io::Error>> {
        let file = |path: &str| Ok(ArchivePart::File(path.to_owned()));
        let content = |text: &'static str| Ok(ArchivePart::Content(Bytes::from_static(text.as_bytes())));
        vec![file("a.md"), content("one, "), content("two"), file("b/empty.txt"), file("b/c.json"), content("{}")]
    }

    #[tokio::test]
    async fn parts_become_files() {
        let sent = archive_download("ada", "files.zip", stream::iter(parts())).unwrap();
        let bytes = to_bytes(sent.into_response().into_body(), usize::MAX).await.unwrap();
        let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
        let mut files = Vec::new();
        for index in 0..archive.len() {
            let mut file = archive.by_index(index).unwrap();
            let mut text = String::new();
            file.read_to_string(&mut text).unwrap();
            files.push((file.name().unwrap().into_owned(), text));
        }
        let expected = [("a.md", "one, two"), ("b/empty.txt", ""), ("b/c.json", "{}")];
        assert_eq!(files, expected.map(|(path, text)| (path.to_owned(), text.to_owned())));
    }

    #[tokio::test]
    async fn an_error_breaks_off_the_archive() {
        let failed = parts().into_iter().chain([Err(io::Error::other("gone"))]);
        let sent = archive_download("bob", "files.zip", stream::iter(failed)).unwrap();
        assert!(to_bytes(sent.into_response().into_body(), usize::MAX).await.is_err());
    }

    #[tokio::test]
    async fn a_user_downloads_two_archives_at_a_time() {
        let download = |user: &str| archive_download(user, "files.zip", stream::iter(parts()));
        let (first, second) = (download("cid"), download("cid"));
        assert!(first.is_ok() && second.is_ok());
        let refused = download("cid").unwrap_err();
        assert_eq!((refused.code, refused.retry_after), (ErrorCode::RateLimited, Some(RETRY_AFTER)));
        assert!(download("dan").is_ok(), "another user");
        drop(first);
        assert!(download("cid").is_ok(), "one is complete");
    }
}
