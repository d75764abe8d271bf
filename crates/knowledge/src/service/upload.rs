//! Files that callers add. A large file is stored in pieces as it arrives, so none is ever in memory; when
//! it is complete, one transaction makes it a document and enqueues the job that reads it. A small file is also stored in
//! that transaction, because the files of a request are stored one after the other, and each transaction waits for the
//! disk.

use super::{Access, Knowledge, failed};
use crate::store::{self, DocumentRow, NewDocument, PIECE, SMALL};
use crate::{audit, ingest};
use ::store::sql::Db;
use ::store::{StoreError, append_audit};
use bytes::{Bytes, BytesMut};
use capability::ProjectMembers;
use chat::Viewer;
use futures::{Stream, StreamExt};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use web::times::now_millis;
use wire::file::clean_file_name;
use wire::{ErrorCode, UserError};

/// The largest metadata, as JSON in bytes.
const MAX_METADATA: usize = 16 * 1024;

/// A file to add.
#[derive(Clone, Debug)]
pub(crate) struct NewFile {
    pub(crate) name: String,
    pub(crate) media_type: Option<String>,
    /// The identity of the document, if it is not identified by its bytes.
    pub(crate) identity: Option<String>,
    pub(crate) stamp: Option<String>,
}

/// How files are added.
#[derive(Clone, Debug, Default)]
pub(crate) struct UploadOptions {
    /// Whether a file replaces the document with the same name.
    pub(crate) replace: bool,
    /// Whether it is an attached file, whose bytes count as such already.
    pub(crate) is_attached: bool,
    /// Whether it is a file of a project: its bytes count as those of the user who adds it.
    pub(crate) of_project: bool,
}

/// The document that a file has become, or that it was before.
#[derive(Clone, Debug)]
pub(crate) struct AddedFile {
    pub(crate) document: DocumentRow,
    /// Whether it is stored as a document; otherwise the library had its bytes already.
    pub(crate) is_new: bool,
}

/// A file that has arrived.
struct Arrived {
    version_id: String,
    bytes: u64,
    hash: String,
    /// The content of a small file, of which nothing is stored yet.
    small: Option<Bytes>,
}

impl Knowledge {
    /// Adds a file to a library. Its document is known already if one has the same bytes, unless the file
    /// replaces another one.
    ///
    /// # Errors
    /// 404 and 403 as for [`Knowledge::library`]; 413 if a limit would be passed; 422 for an empty
    /// file; 400 for an interrupted upload.
    pub(crate) async fn upload<S, E>(
        &self,
        viewer: &Viewer,
        library_id: &str,
        file: NewFile,
        options: UploadOptions,
        content: S,
    ) -> Result<AddedFile, UserError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
    {
        let library = self.library(viewer, library_id, Access::Write).await?;
        let options = UploadOptions { of_project: library.of_project, ..options };
        self.add(&library.id, &library.owner, &viewer.user_id, file, options, content).await
    }

    /// As [`Knowledge::upload`], without rights: also for the files of a folder.
    pub(crate) async fn add<S, E>(
        &self,
        library_id: &str,
        owner: &str,
        added_by: &str,
        file: NewFile,
        options: UploadOptions,
        content: S,
    ) -> Result<AddedFile, UserError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
    {
        let Ok(_permit) = self.0.uploads.try_acquire() else {
            let message = "Too many files are being uploaded. Try again in a moment.";
            return Err(UserError { retry_after: Some(1), ..UserError::new(ErrorCode::Unavailable, message) });
        };
        let counted = match options {
            UploadOptions { is_attached: true, .. } => "",
            UploadOptions { of_project: true, .. } => added_by,
            UploadOptions { .. } => owner,
        };
        let most = self.check_limits(library_id, counted).await?;
        let version_id = crate::new_id();
        let received = self.receive(&version_id, most, content).await;
        // A request may have many files.
        let received = received.map_err(|error| match error.code {
            ErrorCode::Invalid => {
                UserError::invalid("/file", format!("The file {} is empty.", clean_file_name(&file.name)))
            }
            _ => error,
        });
        let added = match received {
            Ok(arrived) => self.make_document(library_id, owner, added_by, file, options, arrived).await,
            Err(error) => Err(error),
        };
        if !matches!(added, Ok(AddedFile { is_new: true, .. })) {
            let write =
                self.store().write(move |db| Box::pin(async move { store::delete_version(db, &version_id).await }));
            if let Err(error) = write.await {
                tracing::warn!(%error, "a file that became no document could not be deleted; it is deleted within a day");
            }
        }
        added
    }

    /// Checks that a library has room for a file; returns how large it may be.
    async fn check_limits(&self, library_id: &str, owner: &str) -> Result<u64, UserError> {
        let settings = self.settings();
        let counts = store::counts(self.store(), vec![library_id.to_owned()]).await.map_err(failed)?;
        let counts = counts.get(library_id).copied().unwrap_or_default();
        let full = |message: String| Err(UserError::new(ErrorCode::TooLarge, message));
        if counts.documents() >= i64::from(settings.library_documents) {
            return full(format!("The library has {} documents, which is the limit.", settings.library_documents));
        }
        if counts.chunks >= i64::from(settings.library_chunks) {
            return full(
                "The library has reached its limit of text. Delete documents that you no longer need.".to_owned(),
            );
        }
        let used = if owner.is_empty() { 0 } else { store::used_bytes(self.store(), owner).await.map_err(failed)? };
        let room = settings.library_bytes.saturating_sub(counts.bytes.cast_unsigned());
        let room = room.min(settings.user_bytes.saturating_sub(used.cast_unsigned()));
        if room == 0 {
            return full(
                "The files of the library have reached their limit of space. Delete documents that you no longer need."
                    .to_owned(),
            );
        }
        Ok(room.min(settings.document_bytes))
    }

    /// Stores a file in pieces as it arrives, unless it is small.
    async fn receive<S, E>(&self, version_id: &str, most: u64, mut content: S) -> Result<Arrived, UserError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
    {
        let (mut piece, mut no, mut bytes, mut hash) = (BytesMut::new(), 0, 0, Sha256::new());
        let mut has_more = true;
        while has_more {
            match content.next().await {
                Some(Ok(more)) => {
                    bytes += more.len() as u64;
                    if bytes > most {
                        let message = format!("The file is too large: at most {most} bytes have room.");
                        return Err(UserError::new(ErrorCode::TooLarge, message));
                    }
                    hash.update(&more);
                    piece.extend_from_slice(&more);
                }
                Some(Err(_)) => {
                    let message = "The upload was interrupted. Send the file again.";
                    return Err(UserError::new(ErrorCode::Malformed, message));
                }
                None => has_more = false,
            }
            let is_small = no == 0 && piece.len() <= SMALL;
            while piece.len() >= PIECE || !(has_more || is_small || piece.is_empty()) {
                let whole = piece.split_to(piece.len().min(PIECE)).freeze();
                if no == 0 {
                    store::insert_version(self.store(), version_id, now_millis()).await.map_err(failed)?;
                }
                store::add_piece(self.store(), version_id, no, whole).await.map_err(failed)?;
                no += 1;
            }
        }
        if bytes == 0 {
            return Err(UserError::invalid("/file", "The file is empty."));
        }
        let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let small = (no == 0).then(|| piece.freeze());
        Ok(Arrived { version_id: version_id.to_owned(), bytes, hash, small })
    }

    /// Makes a document of a file, or finds the one that it is.
    async fn make_document(
        &self,
        library_id: &str,
        owner: &str,
        added_by: &str,
        file: NewFile,
        options: UploadOptions,
        arrived: Arrived,
    ) -> Result<AddedFile, UserError> {
        // Files of a folder have their path as name.
        let file_name = if file.identity.is_some() { file.name } else { clean_file_name(&file.name) };
        let guessed = || mime_guess::from_path(&file_name).first_raw().unwrap_or("application/octet-stream").to_owned();
        let mut new = NewDocument {
            id: crate::new_id(),
            library_id: library_id.to_owned(),
            identity: file.identity.unwrap_or_else(|| format!("bytes {}", arrived.hash)),
            media_type: file.media_type.filter(|kind| kind != "application/octet-stream").unwrap_or_else(guessed),
            file_name,
            bytes: arrived.bytes,
            added_by: added_by.to_owned(),
            metadata: Map::new(),
            version_id: arrived.version_id,
            stamp: file.stamp,
            now: now_millis(),
        };
        let is_guest = options.of_project && added_by != owner;
        let members = self.0.libraries.get().filter(|_| is_guest).and_then(capability::Libraries::members);
        let (jobs, owner, small) = (self.jobs().clone(), owner.to_owned(), arrived.small);
        let (id, is_new) = self
            .store()
            .write(move |db| {
                Box::pin(async move {
                    if let Some(members) = members {
                        check_member(db, &*members, &new).await?;
                    }
                    let is_upload = new.stamp.is_none();
                    let known = if is_upload {
                        match document_of_upload(db, &mut new, options.replace).await? {
                            Target::Same(id) => return Ok((id, false)),
                            Target::Replaced(known) => Some(known),
                            Target::New => None,
                        }
                    } else {
                        store::by_identity(db, &new.library_id, &new.identity).await?.map(Box::new)
                    };
                    if let Some(content) = small {
                        store::insert_small_version(db, &new.version_id, new.now, content).await?;
                    }
                    store::add_document(db, &new, known.as_deref()).await?;
                    let action = if known.is_some() { "replace" } else { "add" };
                    let id = known.map_or(new.id, |known| known.id);
                    if is_upload {
                        let entry = audit::document(&new.added_by, action, &new.library_id, &id, &new.file_name);
                        append_audit(db, vec![entry]).await?;
                    }
                    ingest::enqueue(&jobs, db, &id, &owner).await?;
                    Ok((id, true))
                })
            })
            .await
            .map_err(failed)?;
        let document = store::document(self.store(), &id).await.map_err(failed)?;
        Ok(AddedFile { document: document.ok_or_else(UserError::not_found)?, is_new })
    }

    /// Sets the metadata of a document.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn set_metadata(
        &self,
        document: &DocumentRow,
        metadata: Map<String, Value>,
    ) -> Result<(), UserError> {
        store::set_metadata(self.store(), &document.id, &document.library_id, metadata, now_millis())
            .await
            .map_err(failed)
    }
}

/// Checks that the user who adds a file to a project may still do so: they may have left while it arrived.
///
/// # Errors
/// [`StoreError::NotFound`] if they may not, or the project was deleted.
async fn check_member(db: &mut Db, members: &dyn ProjectMembers, new: &NewDocument) -> Result<(), StoreError> {
    let membership = members.membership(db, &new.added_by, &new.library_id).await?;
    if membership.is_some_and(|membership| membership.may_write) { Ok(()) } else { Err(StoreError::NotFound) }
}

/// The document that an uploaded file becomes.
enum Target {
    /// This one has the bytes already.
    Same(String),
    /// A new version of this one.
    Replaced(Box<DocumentRow>),
    New,
}

/// Finds the document that an uploaded file becomes. A file that replaces another one is stored under that
/// name even if a third document has the same bytes: the text that is replaced must not be found any more.
async fn document_of_upload(db: &mut Db, new: &mut NewDocument, replaces: bool) -> Result<Target, StoreError> {
    let same = store::by_identity(db, &new.library_id, &new.identity).await?;
    let named = if replaces { store::by_file_name(db, &new.library_id, &new.file_name).await? } else { None };
    Ok(match (same, named) {
        (None, None) => Target::New,
        (None, Some(named)) => Target::Replaced(Box::new(named)),
        (Some(same), None) => Target::Same(same.id),
        (Some(same), Some(named)) if same.id == named.id => Target::Same(same.id),
        (Some(_), Some(named)) => {
            new.identity = format!("{} {}", new.identity, named.id);
            if named.identity == new.identity { Target::Same(named.id) } else { Target::Replaced(Box::new(named)) }
        }
    })
}

/// Reads the metadata of an upload: a JSON object.
///
/// # Errors
/// 422 if it is something else or too large.
pub(crate) fn read_metadata(text: &str) -> Result<Map<String, Value>, UserError> {
    let invalid =
        || UserError::invalid("/metadata", format!("The metadata is a JSON object of at most {MAX_METADATA} bytes."));
    if text.len() > MAX_METADATA {
        return Err(invalid());
    }
    serde_json::from_str(text).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_a_bounded_object() {
        assert_eq!(read_metadata("{\"a\": 1}").unwrap().len(), 1);
        for text in ["[]", "1", "", "{", &format!("{{\"a\": \"{}\"}}", "x".repeat(MAX_METADATA))] {
            assert!(read_metadata(text).is_err(), "{text}");
        }
    }
}
