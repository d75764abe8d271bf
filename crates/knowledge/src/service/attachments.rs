//! The files that users attach in a conversation, as documents that its agents search.

use super::upload::{NewFile, UploadOptions};
use super::{Knowledge, failed};
use crate::store::{self, DocumentRow, DocumentState, LibraryRow};
use ::store::{FileRow, StoreError};
use bytes::Bytes;
use contract::RunScope;
use futures::stream::{BoxStream, StreamExt};
use std::collections::HashMap;
use std::time::Duration;
use web::times::now_millis;
use wire::UserError;

/// The most files of a conversation that are searched, the newest ones.
const MAX_FILES: u32 = 200;
/// The maximum time for which a search waits for files that are being read.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
const WAIT_INTERVAL: Duration = Duration::from_millis(100);

impl Knowledge {
    /// Returns the library of what is attached in the conversation of a run; `None` if nothing is.
    pub(super) async fn attachments(&self, scope: &RunScope) -> Result<Option<LibraryRow>, UserError> {
        match scope.conversation_id.as_str() {
            "" => Ok(None),
            id => store::attachment_library(self.store(), id).await.map_err(failed),
        }
    }

    /// Makes documents of the files that are attached in the conversation of a run and are none yet, and deletes
    /// those whose file is gone. Returns whether anything is attached that can be searched.
    ///
    /// # Errors
    /// The database failed. A file that cannot be added is logged, and [`Knowledge::unread_attachments`] names it.
    pub(crate) async fn follow_attachments(&self, scope: &RunScope) -> Result<bool, UserError> {
        let files = self.attached_files(scope).await.map_err(failed)?;
        let mut library = self.attachments(scope).await?;
        if files.is_empty() && library.is_none() {
            return Ok(false);
        }
        if library.is_none() {
            let (id, conversation_id) = (crate::new_id(), &scope.conversation_id);
            let insert =
                store::insert_attachment_library(self.store(), &id, &scope.user_id, conversation_id, now_millis());
            insert.await.map_err(failed)?;
            library = self.attachments(scope).await?;
        }
        let Some(library) = library else { return Ok(false) };
        let mut known = self.attached_documents(&library.id).await.map_err(failed)?;
        for file in &files {
            if known.remove(&file.id).is_none() {
                self.add_attachment(&library, file).await;
            }
        }
        for document in known.into_values() {
            let delete = store::delete_document(self.store(), (&document.id, &library.id), None, now_millis());
            delete.await.map_err(failed)?;
        }
        Ok(!files.is_empty())
    }

    async fn add_attachment(&self, library: &LibraryRow, file: &FileRow) {
        let new = NewFile {
            name: file.name.clone(),
            media_type: Some(file.media_type.clone()),
            identity: Some(file.id.clone()),
            // It has no entry of its own in the audit log: the message has one.
            stamp: Some(file.size.to_string()),
        };
        let options = UploadOptions { is_attached: true, ..UploadOptions::default() };
        let content = self.file_content(&library.owner, &file.id);
        if let Err(error) = self.add(&library.id, &library.owner, &library.owner, new, options, content).await {
            tracing::warn!(file = file.id, error = error.message, "an attached file cannot be searched");
        }
    }

    /// Returns the bytes of an attached file.
    fn file_content(&self, owner: &str, id: &str) -> BoxStream<'static, Result<Bytes, StoreError>> {
        let (store, owner, id) = (self.store().clone(), owner.to_owned(), id.to_owned());
        let pieces = futures::stream::try_unfold(0, move |no| {
            let (store, owner, id) = (store.clone(), owner.clone(), id.clone());
            async move { Ok(store.file_piece(&owner, &id, no).await?.map(|piece| (piece, no + 1))) }
        });
        pieces.boxed()
    }

    /// Returns the files of a conversation that have text.
    async fn attached_files(&self, scope: &RunScope) -> Result<Vec<FileRow>, StoreError> {
        let files = self.store().files_of_conversation(&scope.user_id, &scope.conversation_id, MAX_FILES).await?;
        let has_text =
            |file: &FileRow| !["image/", "audio/", "video/"].iter().any(|kind| file.media_type.starts_with(kind));
        Ok(files.into_iter().filter(has_text).collect())
    }

    /// Returns the documents of attached files, by the ids of the files.
    async fn attached_documents(&self, library: &str) -> Result<HashMap<String, DocumentRow>, StoreError> {
        let documents = store::documents(self.store(), library, None, "", 2 * MAX_FILES).await?;
        Ok(documents.into_iter().map(|document| (document.identity.clone(), document)).collect())
    }

    /// Waits until the files that are attached in the conversation of a run are read, for a while. Returns those
    /// that are not searched, each with the reason.
    ///
    /// # Errors
    /// The database failed.
    pub(crate) async fn unread_attachments(&self, scope: &RunScope) -> Result<Vec<(String, String)>, UserError> {
        let Some(library) = self.attachments(scope).await? else { return Ok(Vec::new()) };
        let files = self.attached_files(scope).await.map_err(failed)?;
        let wait = async {
            loop {
                let documents = self.attached_documents(&library.id).await?;
                if !documents.values().any(is_being_read) {
                    return Ok(documents);
                }
                tokio::time::sleep(WAIT_INTERVAL).await;
            }
        };
        let documents = match tokio::time::timeout(LONGEST_WAIT, wait).await {
            Ok(documents) => documents,
            Err(_) => self.attached_documents(&library.id).await,
        };
        let documents: Result<_, StoreError> = documents;
        let documents = documents.map_err(failed)?;
        let unread = files.into_iter().filter_map(|file| {
            let reason = match documents.get(&file.id) {
                None => "It cannot be searched.".to_owned(),
                Some(document) if is_being_read(document) => "It is still being read. Search again later.".to_owned(),
                Some(DocumentRow { error: Some((_, message)), .. }) => message.clone(),
                Some(_) => return None,
            };
            Some((file.name, reason))
        });
        Ok(unread.collect())
    }
}

fn is_being_read(document: &DocumentRow) -> bool {
    matches!(document.state, DocumentState::Queued | DocumentState::Processing)
}
