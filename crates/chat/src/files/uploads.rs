//! Files that users attach: stored as they arrive, readable by their owner, and deleted when no
//! message uses them. `attachments` handles files in messages and prompts.

use crate::errors::Result;
use crate::files::{content, sniff};
use crate::{Caller, Chat, Inner, errors};
use bytes::{Bytes, BytesMut};
use futures::stream::BoxStream;
use futures::{Stream, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use store::{FILE_PIECE, FileRow, NewFile, Store, StoreError};
use wire::file::{FILES, FileSize, StoredFile, clean_file_name};
use wire::{ErrorCode, UserError};

/// How long a file that no message uses is kept.
const UNUSED: Duration = Duration::from_secs(24 * 60 * 60);
/// The number of files that are deleted at once.
const BATCH: u32 = 20;

/// Limits on stored files.
#[derive(Clone, Copy, Debug)]
pub struct FileLimits {
    /// The maximum size of a file in bytes.
    pub file: u64,
    /// The maximum size of all files of a user in bytes.
    pub user: u64,
}

/// A file to upload.
pub struct NewUpload<S> {
    /// The name that its owner gave it; of a path, the last component is used.
    pub name: String,
    /// The declared length in bytes.
    pub length: Option<u64>,
    /// The content; an error means that the upload was interrupted.
    pub bytes: S,
}

impl Chat {
    /// Stores a file for the caller. It is kept for a day, or as long as one of the caller's
    /// messages uses it.
    ///
    /// # Errors
    /// 413 for a file that is too large, or if all of the caller's files would be too large; 422
    /// for an empty file; 400 for an interrupted upload; 503 while memory is short.
    pub async fn store_file<S, E>(
        &self,
        caller: &Caller,
        bounds: FileLimits,
        upload: NewUpload<S>,
    ) -> Result<StoredFile, UserError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin + 'static,
        E: Send + 'static,
    {
        if self.inner.tasks.is_closed() {
            return Err(errors::draining());
        }
        let upload_permit = self.inner.memory.admit_upload(self.inner.is_answering())?;
        // In a task of its own, so that a caller who disconnects leaves no partial file.
        let (inner, owner) = (self.inner.clone(), caller.user_id.clone());
        let task = self.inner.tasks.spawn(async move {
            let kept = inner.store_upload(owner, bounds, upload).await;
            drop(upload_permit);
            kept
        });
        Ok(task.await.map_err(|_| errors::internal())??)
    }

    /// Returns a file of the caller and a stream of its content.
    ///
    /// # Errors
    /// 404 for a file that the caller does not own.
    pub async fn file(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(StoredFile, BoxStream<'static, Result<Bytes, StoreError>>), UserError> {
        Ok(self.inner.file(caller, id).await?)
    }

    /// Deletes a file of the caller that no message uses.
    ///
    /// # Errors
    /// 404 for a file that the caller does not own, or that a message uses, since it is deleted
    /// with its conversation.
    pub async fn delete_file(&self, caller: &Caller, id: &str) -> Result<(), UserError> {
        Ok(self.inner.delete_file(caller, id).await?)
    }
}

impl Inner {
    /// See [`Chat::file`].
    async fn file(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<(StoredFile, BoxStream<'static, Result<Bytes, StoreError>>)> {
        let row = self.store.file(&caller.user_id, id).await?;
        let row = row.ok_or_else(UserError::not_found)?;
        let bytes = content::pieces(self.store.clone(), caller.user_id.clone(), row.id.clone());
        Ok((kept(row), bytes))
    }

    /// See [`Chat::delete_file`].
    async fn delete_file(&self, caller: &Caller, id: &str) -> Result<()> {
        let gone = self.store.delete_unused_file(&caller.user_id, id).await?;
        if gone { Ok(()) } else { Err(UserError::not_found().into()) }
    }
}

impl Inner {
    async fn store_upload<S, E>(
        self: Arc<Self>,
        owner: String,
        bounds: FileLimits,
        upload: NewUpload<S>,
    ) -> Result<StoredFile>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
    {
        let room = upload.length.unwrap_or(bounds.file);
        if room > bounds.file {
            return Err(too_large(bounds.file).into());
        }
        let id = crate::ids::new_id();
        let name = clean_file_name(&upload.name);
        let new = NewFile { id: id.clone(), name: name.clone(), reserved: room, now: crate::now() };
        if !self.store.begin_file(&owner, new, bounds.user).await? {
            let message = format!(
                "Your files would take more than {} in total. Delete conversations with files that you no longer need.",
                size(bounds.user)
            );
            return Err(UserError::new(ErrorCode::TooLarge, message).into());
        }
        let arrived = store_content(&self.store, &owner, &id, &name, room, upload.bytes).await;
        if arrived.is_err()
            && let Err(error) = self.store.delete_unused_file(&owner, &id).await
        {
            tracing::warn!(%error, "an incomplete upload could not be deleted; it is deleted within a day");
        }
        arrived
    }
}

/// Stores the content as it arrives.
async fn store_content<S, E>(
    store: &Store,
    owner: &str,
    id: &str,
    name: &str,
    room: u64,
    mut bytes: S,
) -> Result<StoredFile>
where
    S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
{
    let (mut piece, mut no, mut size) = (BytesMut::with_capacity(FILE_PIECE), 0, 0);
    let mut kind = None;
    let mut next = true;
    while next {
        match bytes.next().await {
            Some(Ok(more)) => {
                size += more.len() as u64;
                if size > room {
                    return Err(too_large(room).into());
                }
                piece.extend_from_slice(&more);
            }
            Some(Err(_)) => {
                let message = "The upload was interrupted. Send the file again.";
                return Err(UserError::new(ErrorCode::Malformed, message).into());
            }
            None => next = false,
        }
        while piece.len() >= FILE_PIECE || (!next && !piece.is_empty()) {
            let whole = piece.split_to(piece.len().min(FILE_PIECE)).freeze();
            kind.get_or_insert_with(|| sniff::media_type(&whole, name));
            store.add_piece(owner, id, no, whole).await?;
            no += 1;
        }
    }
    let Some(media_type) = kind else { return Err(UserError::invalid("/", "The file is empty.").into()) };
    store.finish_file(owner, id, &media_type, size).await?;
    Ok(kept(FileRow { id: id.to_owned(), name: name.to_owned(), media_type, size }))
}

/// Deletes files that no message has used for a day, as of `now` (Unix time, milliseconds).
pub(crate) async fn purge(store: &Store, now: i64) -> Result<(), StoreError> {
    while store.purge_files(now - UNUSED.as_millis() as i64, BATCH).await? == u64::from(BATCH) {}
    Ok(())
}

fn kept(row: FileRow) -> StoredFile {
    StoredFile {
        url: format!("{FILES}{}", row.id),
        id: row.id,
        media_type: row.media_type,
        filename: row.name,
        size: row.size,
    }
}

fn too_large(bound: u64) -> UserError {
    UserError::new(ErrorCode::TooLarge, format!("The file is too large: {} at most.", size(bound)))
}

/// Formats a number of bytes for people.
fn size(bytes: u64) -> String {
    match FileSize::from_bytes(bytes) {
        FileSize::Bytes(bytes) => format!("{bytes} bytes"),
        FileSize::Kilobytes(number) => format!("{number} KB"),
        FileSize::Megabytes(number) => format!("{number} MB"),
        FileSize::TenthsOfMegabytes(whole, tenths) => format!("{whole}.{tenths} MB"),
    }
}
