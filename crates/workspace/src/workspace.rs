//! Reads and changes the workspace of a conversation.

use crate::path::{UPLOADS, WorkspacePath};
use crate::section::WorkspaceLimits;
use crate::store::{self, Conversation, Link, LinkOutcome, NewVersion};
use crate::texts::Texts;
use crate::tree::{FileEntry, Origin, Tree};
use ::store::{AuditEntry, FILE_PIECE, NewFile, Store, StoreError};
use bytes::{Bytes, BytesMut};
use documents::{Converter, Limits};
use futures::{Stream, StreamExt};
use std::sync::Arc;
use std::time::Duration;
use web::times::now_millis;

/// The longest text of an attached document in bytes.
pub(crate) const MAX_TEXT: usize = 4 << 20;
/// The most time for the text of an attached document.
const MAX_TEXT_TIME: Duration = Duration::from_secs(30);

/// The media type of an empty file.
const EMPTY: &str = "text/plain";

/// Opens workspaces.
#[derive(Clone)]
pub(crate) struct Workspaces {
    pub(crate) store: Store,
    converter: Arc<Converter>,
    texts: Arc<Texts>,
}

/// The workspace of a conversation.
#[derive(Clone)]
pub(crate) struct Workspace {
    all: Workspaces,
    pub(crate) of: Conversation,
    pub(crate) limits: WorkspaceLimits,
}

/// Why something cannot be done.
#[derive(Debug)]
pub(crate) enum WorkspaceError {
    /// The reason, as a clause that the model and the user read.
    Refused(String),
    /// The user has no such conversation.
    Gone,
    /// The database failed.
    Failed(StoreError),
}

impl From<StoreError> for WorkspaceError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

/// A change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) path: WorkspacePath,
    /// The version that is replaced or deleted; `None` for a new file.
    pub(crate) base: Option<i64>,
    /// The new content; `None` deletes the file.
    pub(crate) content: Option<Bytes>,
}

impl Workspaces {
    pub(crate) fn new(store: Store) -> Self {
        let limits = Limits { output_bytes: MAX_TEXT, time: MAX_TEXT_TIME, ..Limits::default() };
        Self { store, converter: Arc::new(Converter::new(limits)), texts: Arc::default() }
    }

    pub(crate) fn open(&self, owner: &str, conversation_id: &str, limits: WorkspaceLimits) -> Workspace {
        let of = Conversation { owner: owner.to_owned(), id: conversation_id.to_owned() };
        Workspace { all: self.clone(), of, limits }
    }
}

impl Workspace {
    pub(crate) fn store(&self) -> &Store {
        &self.all.store
    }

    pub(crate) async fn tree(&self) -> Result<Tree, StoreError> {
        store::tree(self.store(), &self.of).await
    }

    /// Reads the content of a file. That of a document's text is read by a converter.
    pub(crate) async fn read(&self, path: &WorkspacePath, entry: &FileEntry) -> Result<Bytes, WorkspaceError> {
        let size = match entry.origin {
            // The entry has no size: that of the text is not known.
            Origin::TextOf => self.store().file(&self.of.owner, &entry.file_id).await?.map(|file| file.size),
            Origin::Stored(_) | Origin::Attached => Some(entry.size),
        };
        let known = (entry.origin == Origin::TextOf && size.is_some()).then(|| self.all.texts.get(&entry.file_id));
        if let Some(text) = known.flatten() {
            return Ok(text);
        }
        let content = match size {
            Some(size) => self.content(&entry.file_id, size).await?,
            None => return Err(gone(path)),
        };
        // A content that was deleted meanwhile has no pieces, or no more of them.
        if Some(content.len() as u64) != size {
            return Err(gone(path));
        }
        if entry.origin != Origin::TextOf {
            return Ok(content);
        }
        let name = path.name().strip_suffix(".txt").unwrap_or(path.name());
        match self.all.converter.convert_bytes(name, None, content).await {
            Ok(document) => {
                let text = document.to_text().into();
                self.all.texts.keep(&entry.file_id, &text);
                Ok(text)
            }
            Err(failure) => {
                tracing::debug!(code = ?failure.code, detail = failure.detail, "an attached file has no text");
                Err(WorkspaceError::Refused(format!("the text of the document cannot be read: {}", failure.message)))
            }
        }
    }

    /// Reads a stored content.
    async fn content(&self, file_id: &str, size: u64) -> Result<Bytes, StoreError> {
        let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0).min(64 << 20));
        let mut no = 0;
        while let Some(piece) = self.store().file_piece(&self.of.owner, file_id, no).await? {
            no += 1;
            bytes.extend_from_slice(&piece);
        }
        Ok(bytes.into())
    }

    /// Stores changes, all or none, and returns the numbers of the new versions in their order.
    ///
    /// The contents are stored first, as uploads that nothing uses. Then one transaction makes files of them. If
    /// the server dies in between, they are deleted after a day like other uploads.
    pub(crate) async fn apply(&self, changes: Vec<Change>) -> Result<Vec<Option<i64>>, WorkspaceError> {
        self.apply_with_audit(changes, Vec::new()).await
    }

    /// Like [`Self::apply`], with rows of the audit log in the same transaction.
    pub(crate) async fn apply_with_audit(
        &self,
        changes: Vec<Change>,
        audit: Vec<AuditEntry>,
    ) -> Result<Vec<Option<i64>>, WorkspaceError> {
        let mut stored = Vec::new();
        let outcome = self.store_and_link(changes, audit, &mut stored).await;
        if outcome.is_err() {
            self.discard(stored).await;
        }
        outcome
    }

    /// Deletes contents that nothing uses.
    pub(crate) async fn discard(&self, file_ids: Vec<String>) {
        for id in file_ids {
            if let Err(error) = self.store().delete_unused_file(&self.of.owner, &id).await {
                tracing::warn!(%error, "a refused file could not be deleted; it is deleted within a day");
            }
        }
    }

    async fn store_and_link(
        &self,
        changes: Vec<Change>,
        audit: Vec<AuditEntry>,
        stored: &mut Vec<String>,
    ) -> Result<Vec<Option<i64>>, WorkspaceError> {
        // Before anything is stored.
        for Change { path, content, .. } in &changes {
            let size = content.as_ref().map_or(0, Bytes::len) as u64;
            if size > self.limits.file_bytes {
                let most = self.limits.file_bytes;
                return Err(WorkspaceError::Refused(format!(
                    "`{path}` would have {size} bytes, and a file may have {most}"
                )));
            }
        }
        let mut links = Vec::new();
        for Change { path, base, content } in changes {
            let new = match content {
                Some(content) => Some(self.store_content(&path, content, stored).await?),
                None => None,
            };
            links.push(Link { path, base, new });
        }
        self.link(links, audit).await
    }

    /// Makes files of stored contents, all or none, and returns the numbers of the new versions.
    pub(crate) async fn link(
        &self,
        links: Vec<Link>,
        audit: Vec<AuditEntry>,
    ) -> Result<Vec<Option<i64>>, WorkspaceError> {
        match store::link(self.store(), &self.of, self.limits, links, audit).await? {
            LinkOutcome::Linked(numbers) => Ok(numbers),
            LinkOutcome::Refused(reason) => Err(WorkspaceError::Refused(reason)),
            LinkOutcome::Gone => Err(WorkspaceError::Gone),
        }
    }

    async fn store_content(
        &self,
        path: &WorkspacePath,
        content: Bytes,
        stored: &mut Vec<String>,
    ) -> Result<NewVersion, WorkspaceError> {
        let size = content.len() as u64;
        let id = self.begin(path.name(), size).await?;
        stored.push(id.clone());
        for (no, at) in (0..content.len()).step_by(FILE_PIECE).enumerate() {
            let piece = content.slice(at..content.len().min(at + FILE_PIECE));
            self.store().add_piece(&self.of.owner, &id, no as u32, piece).await?;
        }
        self.finish(&id, path.name(), &content, size).await?;
        Ok(NewVersion { file_id: id, size })
    }

    /// Reserves room for a content, and returns its id.
    async fn begin(&self, name: &str, size: u64) -> Result<String, WorkspaceError> {
        let id = uuid::Uuid::now_v7().to_string();
        let new = NewFile { id: id.clone(), name: name.to_owned(), reserved: size, now: now_millis() };
        if self.store().begin_file(&self.of.owner, new, self.limits.user_bytes).await? {
            return Ok(id);
        }
        let most = self.limits.user_bytes;
        let reason =
            format!("all files of the user may have {most} bytes: delete some, or conversations with files, first");
        Err(WorkspaceError::Refused(reason))
    }

    async fn finish(&self, id: &str, name: &str, head: &[u8], size: u64) -> Result<(), StoreError> {
        let media_type = if head.is_empty() { EMPTY.to_owned() } else { chat::media_type(head, name) };
        self.store().finish_file(&self.of.owner, id, &media_type, size).await
    }

    /// Stores a content as it arrives. Nothing refers to it yet.
    pub(crate) async fn upload<S, E>(&self, name: &str, mut content: S) -> Result<NewVersion, UploadError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
    {
        let id = self.begin(name, self.limits.file_bytes).await?;
        let arrived = self.receive(&id, name, &mut content).await;
        match arrived {
            Ok(size) => Ok(NewVersion { file_id: id, size }),
            Err(error) => {
                self.discard(vec![id]).await;
                Err(error)
            }
        }
    }

    async fn receive<S, E>(&self, id: &str, name: &str, content: &mut S) -> Result<u64, UploadError>
    where
        S: Stream<Item = Result<Bytes, E>> + Send + Unpin,
    {
        let (mut piece, mut head, mut no, mut size) = (BytesMut::new(), Bytes::new(), 0, 0);
        let mut more = true;
        while more {
            match content.next().await {
                Some(Ok(bytes)) => {
                    size += bytes.len() as u64;
                    piece.extend_from_slice(&bytes);
                }
                Some(Err(_)) => return Err(UploadError::Interrupted),
                None => more = false,
            }
            if size > self.limits.file_bytes {
                let reason = format!("a file may have {} bytes", self.limits.file_bytes);
                return Err(WorkspaceError::Refused(reason).into());
            }
            while piece.len() >= FILE_PIECE || (!more && !piece.is_empty()) {
                let whole = piece.split_to(piece.len().min(FILE_PIECE)).freeze();
                if no == 0 {
                    head = whole.clone();
                }
                self.store().add_piece(&self.of.owner, id, no, whole).await?;
                no += 1;
            }
        }
        self.finish(id, name, &head, size).await?;
        Ok(size)
    }
}

/// Why an upload has failed.
#[derive(Debug)]
pub(crate) enum UploadError {
    /// It cannot be stored.
    Workspace(WorkspaceError),
    /// The client did not send all of it.
    Interrupted,
}

impl From<WorkspaceError> for UploadError {
    fn from(error: WorkspaceError) -> Self {
        Self::Workspace(error)
    }
}

impl From<StoreError> for UploadError {
    fn from(error: StoreError) -> Self {
        Self::Workspace(error.into())
    }
}

fn gone(path: &WorkspacePath) -> WorkspaceError {
    WorkspaceError::Refused(format!("`{path}` has been deleted or changed in the meantime: list the files again"))
}

/// Returns whether the agent may change files here.
pub(crate) fn is_writable(path: &WorkspacePath) -> bool {
    !path.is_below(UPLOADS) && path.as_str() != UPLOADS
}
