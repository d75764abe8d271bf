//! Messages that are about to be sent or are queued, and their files.

use crate::prelude::*;
use crate::ui::browser;
use serde_json::{Value, json};
use wire::file::StoredFile;
use wire::message::FilePart;
use wire::{TextPart, UiMessage, UiPart};

/// The text and files of a message.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::agent_chat) struct OutgoingMessage {
    pub(in crate::agent_chat) text: String,
    pub(in crate::agent_chat) files: Vec<OutgoingFile>,
    /// The metadata that the page gives the message; `null` for none.
    pub(in crate::agent_chat) metadata: Value,
}

/// A file that is stored on the server or in the page's own storage.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent_chat) struct OutgoingFile {
    pub(in crate::agent_chat) part: FilePart,
    /// In bytes, if known.
    pub(in crate::agent_chat) size: Option<u64>,
}

/// A message that is sent when the current answer is complete.
#[derive(Clone)]
pub(in crate::agent_chat) struct QueuedMessage {
    pub(in crate::agent_chat) key: String,
    pub(in crate::agent_chat) text: ArcRwSignal<String>,
    pub(in crate::agent_chat) files: Vec<OutgoingFile>,
    /// The metadata that the page gives the message; `null` for none.
    pub(in crate::agent_chat) metadata: Value,
    /// Whether the user is editing it; it is not sent meanwhile.
    pub(in crate::agent_chat) is_edited: ArcRwSignal<bool>,
    /// The text in the field while the user is editing it.
    pub(in crate::agent_chat) typed: ArcRwSignal<String>,
    /// The copy on the server.
    pub(in crate::agent_chat) copy: ArcRwSignal<ServerCopy>,
}

/// The copy of a waiting message on the server.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::agent_chat) struct ServerCopy {
    /// The text, and whether it is being edited here, as the server knows it; none if it has no copy.
    pub(in crate::agent_chat) stored: Option<(String, bool)>,
    /// Whether it is being edited in another tab; it is not sent meanwhile, unless the user asks for it.
    pub(in crate::agent_chat) is_held: bool,
    /// Why the server could not send it.
    pub(in crate::agent_chat) refusal: Option<String>,
    /// Whether the user has removed the message, and the server cannot be told yet.
    pub(in crate::agent_chat) is_removed: bool,
}

impl QueuedMessage {
    /// The text, and whether it is being edited. Not tracked.
    pub(in crate::agent_chat) fn state(&self) -> (String, bool) {
        (self.text.get_untracked(), self.is_edited.get_untracked())
    }

    /// Whether the user has removed it, and the server cannot be told yet. Tracked.
    pub(in crate::agent_chat) fn is_removed(&self) -> bool {
        self.copy.with(|copy| copy.is_removed)
    }
}

/// A file attached to the next message.
#[derive(Clone)]
pub(in crate::agent_chat) struct Attachment {
    pub(in crate::agent_chat) key: String,
    pub(in crate::agent_chat) name: String,
    /// In bytes.
    pub(in crate::agent_chat) size: u64,
    /// The address of a preview picture.
    pub(in crate::agent_chat) preview: Option<String>,
    pub(in crate::agent_chat) upload: ArcRwSignal<Upload>,
}

/// The state of an upload.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::agent_chat) enum Upload {
    /// The progress in percent.
    Running(u8),
    /// The upload is complete.
    Done(OutgoingFile),
    /// The upload failed, with the error for the user.
    Failed(String),
}

impl OutgoingMessage {
    /// A message with a text of the page, such as a suggestion.
    pub(in crate::agent_chat) fn from_text(text: String) -> Self {
        Self { text, files: Vec::new(), metadata: of_page() }
    }

    /// Reads a message of the page: a text, or `{text, files, metadata}` with files as parts of a
    /// message. None if there is nothing to send.
    pub(in crate::agent_chat) fn from_page(given: &Value) -> Option<Self> {
        let text = given.get("text").unwrap_or(given).as_str().unwrap_or_default().trim().to_owned();
        let files = given.get("files").and_then(Value::as_array).into_iter().flatten();
        let file = |file: &Value| {
            let mut part = file.as_object()?.clone();
            part.insert("type".to_owned(), "file".into());
            OutgoingFile::from_part(serde_json::from_value(Value::Object(part)).ok()?)
        };
        let metadata = extended(of_page(), &given["metadata"]);
        let out = Self { text, files: files.filter_map(file).collect(), metadata };
        (!out.is_empty()).then_some(out)
    }

    pub(in crate::agent_chat) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.files.is_empty()
    }

    /// Converts it to a user message.
    pub(in crate::agent_chat) fn to_message(&self, id: String) -> UiMessage {
        let mut message = UiMessage::new(id, wire::Role::User);
        // The server sets the final time.
        message.metadata = Some(extended(json!({ "createdAt": browser::unix_time_ms() }), &self.metadata));
        if !self.text.is_empty() {
            message.parts.push(UiPart::Text(TextPart { text: self.text.clone(), ..TextPart::default() }));
        }
        message.parts.extend(self.files.iter().map(|file| UiPart::File(file.part.clone())));
        message
    }

    /// The files as described to the page's event handlers.
    pub(in crate::agent_chat) fn files_json(&self) -> Value {
        let about = |file: &OutgoingFile| json!({ "name": file.part.filename, "type": file.part.media_type, "size": file.size });
        self.files.iter().map(about).collect()
    }
}

/// The metadata of a message that the user has not written: nothing of it is remembered about them.
fn of_page() -> Value {
    json!({ "textOrigin": "page" })
}

/// Adds fields to an object.
fn extended(mut fields: Value, more: &Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut fields, more) {
        fields.extend(more.clone());
    }
    fields
}

impl OutgoingFile {
    /// The file of a message part; none for other parts.
    pub(in crate::agent_chat) fn from_part(part: UiPart) -> Option<Self> {
        match part {
            UiPart::File(part) => Some(Self { part, size: None }),
            _ => None,
        }
    }
}

impl From<StoredFile> for OutgoingFile {
    fn from(file: StoredFile) -> Self {
        let part = FilePart {
            media_type: file.media_type,
            url: file.url,
            filename: Some(file.filename),
            provider_metadata: None,
        };
        Self { part, size: Some(file.size) }
    }
}

impl Attachment {
    /// An attachment whose file is already uploaded.
    pub(in crate::agent_chat) fn from_file(key: String, file: OutgoingFile) -> Self {
        let shown = wire::file::is_shown_inline(&file.part.media_type);
        Self {
            key,
            name: file.part.filename.clone().unwrap_or_default(),
            size: file.size.unwrap_or_default(),
            preview: shown.then(|| file.part.url.clone()),
            upload: ArcRwSignal::new(Upload::Done(file)),
        }
    }

    /// The file, once it is uploaded. Tracked.
    pub(in crate::agent_chat) fn file(&self) -> Option<OutgoingFile> {
        self.upload.with(|upload| match upload {
            Upload::Done(file) => Some(file.clone()),
            Upload::Running(_) | Upload::Failed(_) => None,
        })
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    /// The name is that of `chat::TextOrigin`, which the browser does not have.
    #[test]
    fn texts_of_the_page_are_marked() {
        let check = |given: Value, expected: Value| {
            let out = OutgoingMessage::from_page(&given).unwrap();
            assert_eq!(out.metadata, expected, "{given}");
        };
        check(json!("Hi"), json!({ "textOrigin": "page" }));
        check(json!({ "text": "Hi", "metadata": { "topic": "a" } }), json!({ "textOrigin": "page", "topic": "a" }));
        check(json!({ "text": "Hi", "metadata": { "textOrigin": "user" } }), json!({ "textOrigin": "user" }));
        let suggestion = OutgoingMessage::from_text("Hi".to_owned());
        assert_eq!(suggestion.metadata[chat::TEXT_ORIGIN], chat::TextOrigin::Page.name());
        assert_eq!(OutgoingMessage::default().metadata, Value::Null);
    }
}
