//! What is about to be sent: words and files; and what waits for its turn.

use super::browser;
use crate::prelude::*;
use serde_json::{Value, json};
use wire::file::KeptFile;
use wire::message::FilePart;
use wire::{TextPart, UiMessage, UiPart};

/// Words and files that are sent together.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outgoing {
    pub(super) text: String,
    pub(super) files: Vec<OutgoingFile>,
}

/// A file that the server has.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OutgoingFile {
    pub(super) part: FilePart,
    /// In bytes, where it is known.
    pub(super) size: Option<u64>,
}

/// What waits for the end of the answer.
#[derive(Clone)]
pub(super) struct Queued {
    pub(super) key: String,
    pub(super) text: ArcRwSignal<String>,
    pub(super) files: Vec<OutgoingFile>,
    /// Whether it is being changed; it is not sent then.
    pub(super) is_edited: ArcRwSignal<bool>,
}

/// A file that goes with the next message.
#[derive(Clone)]
pub(super) struct Attached {
    pub(super) key: String,
    pub(super) name: String,
    /// In bytes.
    pub(super) size: u64,
    /// The address of a small picture of it.
    pub(super) preview: Option<String>,
    pub(super) upload: ArcRwSignal<Upload>,
}

/// How far it has come to the server.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Upload {
    /// So much of it, in percent.
    Running(u8),
    /// It is there.
    Done(OutgoingFile),
    /// It is not, for this reason.
    Failed(String),
}

impl Outgoing {
    /// Words alone.
    pub(super) fn words(text: String) -> Self {
        Self { text, files: Vec::new() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty() && self.files.is_empty()
    }

    /// As a message of the user.
    pub(super) fn message(&self, id: String) -> UiMessage {
        let mut message = UiMessage::new(id, wire::Role::User);
        // The server has the last word.
        message.metadata = Some(json!({ "createdAt": browser::clock() }));
        if !self.text.is_empty() {
            message.parts.push(UiPart::Text(TextPart { text: self.text.clone(), ..TextPart::default() }));
        }
        message.parts.extend(self.files.iter().map(|file| UiPart::File(file.part.clone())));
        message
    }

    /// What the page is told of the files.
    pub(super) fn about_files(&self) -> Value {
        let about = |file: &OutgoingFile| json!({ "name": file.part.filename, "type": file.part.media_type, "size": file.size });
        self.files.iter().map(about).collect()
    }
}

impl OutgoingFile {
    /// One that was in a message before.
    pub(super) fn known(part: UiPart) -> Option<Self> {
        match part {
            UiPart::File(part) => Some(Self { part, size: None }),
            _ => None,
        }
    }
}

impl From<KeptFile> for OutgoingFile {
    fn from(file: KeptFile) -> Self {
        let part = FilePart {
            media_type: file.media_type,
            url: file.url,
            filename: Some(file.filename),
            provider_metadata: None,
        };
        Self { part, size: Some(file.size) }
    }
}

impl Attached {
    /// One that the server has already.
    pub(super) fn done(key: String, file: OutgoingFile) -> Self {
        let shown = wire::file::is_shown_inline(&file.part.media_type);
        Self {
            key,
            name: file.part.filename.clone().unwrap_or_default(),
            size: file.size.unwrap_or_default(),
            preview: shown.then(|| file.part.url.clone()),
            upload: ArcRwSignal::new(Upload::Done(file)),
        }
    }

    /// The file, once the server has it. Tracked.
    pub(super) fn file(&self) -> Option<OutgoingFile> {
        self.upload.with(|upload| match upload {
            Upload::Done(file) => Some(file.clone()),
            Upload::Running(_) | Upload::Failed(_) => None,
        })
    }
}
