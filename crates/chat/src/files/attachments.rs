//! Stored files in messages. Their owner is checked when a message is sent and again when a model
//! reads it, so that nobody can attach another user's file.

use crate::files::{content, sniff};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};
use store::{FileRow, Store, StoreError};
use wire::file::stored_file_id;
use wire::message::FilePart;
use wire::{Role, TextPart, UiMessage, UiPart};

/// The maximum number of files in a message.
pub(crate) const MAX_FILES: usize = 20;
/// The maximum size in bytes of the images and documents that a model reads in one turn. Providers
/// accept 32 MB, and Base64 adds a third.
const MAX_BYTES: u64 = 22 * 1024 * 1024;
/// The maximum number of bytes of a text file that a model reads.
const MAX_TEXT: usize = 128 * 1024;
/// The maximum number of bytes of all text files that a model reads in one turn.
const MAX_TEXTS: usize = 512 * 1024;

/// The longest text in bytes that an agent reads whole if it searches what is attached.
const MAX_WHOLE: u64 = 16 * 1024;
/// How many bytes of a longer one it reads.
const BEGINNING: usize = 4 * 1024;
/// The type of documents that models read, and that have text to search.
const PDF: &str = "application/pdf";

/// The maximum number of files whose text is kept for the next turns.
const MAX_CACHED: usize = 32;

/// Reads the text of documents that models do not read themselves, such as office formats.
pub trait AttachmentReader: Send + Sync {
    /// Returns the text of a file.
    fn read<'a>(
        &'a self,
        name: &'a str,
        media_type: &'a str,
        content: Bytes,
    ) -> BoxFuture<'a, Result<String, AttachmentError>>;
}

/// Why the text of an attached file is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AttachmentError {
    /// The format cannot be read.
    Unsupported,
    /// The file cannot be read, for a reason that the model and the user are told.
    Unreadable(String),
}

/// The reader of documents, with the texts of the files that were read last.
#[derive(Default)]
pub(crate) struct AttachmentTexts {
    reader: OnceLock<Arc<dyn AttachmentReader>>,
    /// The ids of files and their texts, the newest last.
    cached: Mutex<VecDeque<(String, Arc<str>)>>,
}

impl AttachmentTexts {
    /// Sets the reader. Only the first call has an effect.
    pub(crate) fn set_reader(&self, reader: Arc<dyn AttachmentReader>) {
        // A second reader has no effect.
        let _ = self.reader.set(reader);
    }

    /// Returns the text of an owner's file, at most [`MAX_TEXT`] bytes of it.
    async fn read(
        &self,
        store: &Store,
        owner: &str,
        row: &FileRow,
    ) -> Result<Result<Arc<str>, AttachmentError>, StoreError> {
        let Some(reader) = self.reader.get() else { return Ok(Err(AttachmentError::Unsupported)) };
        if let Some((_, text)) = self.cached.lock().iter().find(|(id, _)| *id == row.id) {
            return Ok(Ok(text.clone()));
        }
        let content = content::read(store, owner, &row.id).await?;
        let text = match reader.read(&row.name, &row.media_type, content.into()).await {
            Ok(text) => text,
            Err(error) => return Ok(Err(error)),
        };
        let text: Arc<str> = text[..text.floor_char_boundary(MAX_TEXT)].into();
        let mut cached = self.cached.lock();
        if cached.len() >= MAX_CACHED {
            cached.pop_front();
        }
        cached.push_back((row.id.clone(), text.clone()));
        Ok(Ok(text))
    }
}

/// Replaces the client's data about stored files by the server's own.
///
/// # Errors
/// [`StoreError::NotFound`] if the owner has no such file.
pub(crate) async fn resolve_files(store: &Store, owner: &str, message: &mut UiMessage) -> Result<(), StoreError> {
    for part in &mut message.parts {
        let UiPart::File(file) = part else { continue };
        let Some(id) = stored_file_id(&file.url) else { continue };
        let row = store.file(owner, id).await?.ok_or(StoreError::NotFound)?;
        (file.media_type, file.filename) = (row.media_type, Some(row.name));
    }
    Ok(())
}

/// Reads the files in the messages of a prompt.
pub(crate) struct FileReader<'a> {
    pub(crate) store: &'a Store,
    pub(crate) texts: &'a AttachmentTexts,
    /// The user whose files are read.
    pub(crate) owner: &'a str,
    /// Whether the agent searches documents that are attached.
    pub(crate) are_searched: bool,
}

impl FileReader<'_> {
    /// Returns the messages with the content of stored files inserted, the newest files first, up to
    /// the limits of a turn.
    pub(crate) async fn with_files<'m>(&self, messages: &'m [UiMessage]) -> Result<Cow<'m, [UiMessage]>, StoreError> {
        let kept = |part: &UiPart| matches!(part, UiPart::File(file) if stored_file_id(&file.url).is_some());
        if !messages.iter().any(|message| message.role == Role::User && message.parts.iter().any(kept)) {
            return Ok(Cow::Borrowed(messages));
        }
        let mut messages = messages.to_vec();
        let mut room = FileBudget { bytes: MAX_BYTES, text: MAX_TEXTS };
        for message in messages.iter_mut().rev().filter(|message| message.role == Role::User) {
            for part in &mut message.parts {
                let UiPart::File(file) = part else { continue };
                let Some(id) = stored_file_id(&file.url) else { continue };
                *part = match self.store.file(self.owner, id).await? {
                    Some(row) => self.content(&row, &mut room).await?,
                    None => {
                        text_part(&format!("(The file {} is no longer there.)", quoted_name(file.filename.as_deref())))
                    }
                };
            }
        }
        Ok(Cow::Owned(messages))
    }

    async fn content(&self, row: &FileRow, room: &mut FileBudget) -> Result<UiPart, StoreError> {
        let name = quoted_name(Some(&row.name));
        if sniff::is_text(&row.media_type, &row.name) {
            return self.text(row, &name, room).await;
        }
        if !is_seen(&row.media_type) {
            return self.document(row, &name, room).await;
        }
        // A scan has no text to search, so the model looks at its pages.
        if self.are_searched
            && row.media_type == PDF
            && let Ok(text) = self.texts.read(self.store, self.owner, row).await?
        {
            return Ok(self.block(&name, &text, text.len() as u64, room));
        }
        if row.size > room.bytes {
            return Ok(not_shown(&name));
        }
        room.bytes -= row.size;
        let content = STANDARD.encode(content::read(self.store, self.owner, &row.id).await?);
        Ok(UiPart::File(FilePart {
            url: format!("data:{};base64,{content}", row.media_type),
            media_type: row.media_type.clone(),
            filename: Some(row.name.clone()),
            provider_metadata: None,
        }))
    }

    /// Returns the text of a document, or a note that says why there is none.
    async fn document(&self, row: &FileRow, name: &str, room: &mut FileBudget) -> Result<UiPart, StoreError> {
        if room.text == 0 {
            return Ok(not_shown(name));
        }
        Ok(match self.texts.read(self.store, self.owner, row).await? {
            // A text of this length was cut.
            Ok(text) if text.len() >= MAX_TEXT => self.block(name, &text, u64::MAX, room),
            Ok(text) => self.block(name, &text, text.len() as u64, room),
            Err(AttachmentError::Unsupported) => text_part(&format!(
                "(The user sent the file {name} of type {}, which cannot be read here.)",
                row.media_type
            )),
            Err(AttachmentError::Unreadable(reason)) => {
                text_part(&format!("(The user sent the file {name}, which cannot be read: {reason})"))
            }
        })
    }

    async fn text(&self, row: &FileRow, name: &str, room: &mut FileBudget) -> Result<UiPart, StoreError> {
        if room.text == 0 {
            return Ok(not_shown(name));
        }
        let most = self.shown_length(row.size, room);
        let mut bytes = Vec::new();
        let mut no = 0;
        while bytes.len() < most {
            let Some(piece) = self.store.file_piece(self.owner, &row.id, no).await? else { break };
            bytes.extend_from_slice(&piece);
            no += 1;
        }
        Ok(self.block(name, &String::from_utf8_lossy(&bytes), row.size, room))
    }

    /// Returns how much of a text with `size` bytes is shown.
    fn shown_length(&self, size: u64, room: &FileBudget) -> usize {
        let most = if self.are_searched && size > MAX_WHOLE { BEGINNING } else { MAX_TEXT };
        most.min(room.text)
    }

    /// Returns the text of a file with `size` bytes of text within the budget, marked as such.
    fn block(&self, name: &str, text: &str, size: u64, room: &mut FileBudget) -> UiPart {
        let shown = &text[..text.floor_char_boundary(self.shown_length(size, room))];
        room.text -= shown.len();
        let rest = if shown.len() as u64 >= size {
            ""
        } else if self.are_searched {
            "\n(This is the beginning of the file. Search the documents for the rest.)"
        } else {
            "\n(The rest of the file is left out.)"
        };
        // The content must not close the block and pass for the user's own text.
        let shown = shown.replace("</file", "<\\/file");
        text_part(&format!("<file name={name}>\n{shown}{rest}\n</file>"))
    }
}

/// The remaining file budget of a turn.
struct FileBudget {
    bytes: u64,
    text: usize,
}

/// Returns what stands for a file that has no room.
fn not_shown(name: &str) -> UiPart {
    text_part(&format!("(The file {name} is not shown here: there are too many others.)"))
}

/// Returns whether models may accept the type directly. A provider's codec reports types that its
/// models do not accept.
fn is_seen(media_type: &str) -> bool {
    media_type == PDF || ["image/", "audio/", "video/"].iter().any(|kind| media_type.starts_with(kind))
}

/// Quotes a name and escapes markup in it.
fn quoted_name(name: Option<&str>) -> String {
    serde_json::Value::from(name.unwrap_or("without a name")).to_string().replace('<', "\\u003c")
}

fn text_part(text: &str) -> UiPart {
    UiPart::Text(TextPart { text: text.to_owned(), ..TextPart::default() })
}

#[cfg(test)]
mod tests;
