//! Documents and their texts.

use serde::Deserialize;

/// The number of documents by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct DocumentCounts {
    /// The number of documents that wait to be processed.
    pub queued: u64,
    /// The number of documents that are being processed.
    pub processing: u64,
    /// The number of documents that searches find.
    pub ready: u64,
    /// The number of documents whose processing failed.
    pub failed: u64,
}

impl DocumentCounts {
    /// Returns the number of documents that are not read yet.
    pub fn open(self) -> u64 {
        self.queued + self.processing
    }

    /// Returns the number of documents that are read, or could not be.
    pub fn ended(self) -> u64 {
        self.ready + self.failed
    }

    /// Returns the number of all documents.
    pub fn all(self) -> u64 {
        self.open() + self.ended()
    }
}

/// The state of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DocumentState {
    /// It waits to be read.
    Queued,
    /// It is being read.
    Processing,
    /// Searches find it.
    Ready,
    /// It could not be read.
    Failed,
}

impl DocumentState {
    /// All states, in the order in which a document has them.
    pub const ALL: [Self; 4] = [Self::Queued, Self::Processing, Self::Ready, Self::Failed];

    /// Returns the name in the API.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }

    /// Returns the state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns whether the document is not read yet.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Processing)
    }
}

/// A document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    /// Its id.
    pub id: String,
    /// The name of its file.
    pub file_name: String,
    /// The size of its file.
    pub bytes: u64,
    /// The number of its pages, sheets or sections.
    pub pages: u64,
    /// The number of its chunks.
    pub chunks: u64,
    /// Its state.
    pub state: DocumentState,
    /// The current step of the processing: `reading`, `splitting` or `indexing`.
    #[serde(default)]
    pub step: Option<String>,
    /// How far reading is, from 0 to 1.
    pub progress: f64,
    /// Why it could not be read.
    #[serde(default)]
    pub error: Option<DocumentProblem>,
    /// Warnings about contents that are missing in its text.
    #[serde(default)]
    pub warnings: Vec<DocumentProblem>,
}

/// Why a document could not be read, or was not read completely.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct DocumentProblem {
    /// The reason for the user.
    pub message: String,
}

/// A page of documents.
#[derive(Clone, Debug, Deserialize)]
pub struct DocumentList {
    /// The documents.
    pub items: Vec<Document>,
    /// The cursor of the next page; absent on the last one.
    #[serde(default)]
    pub cursor: Option<String>,
}

/// A page of a text, or of its chunks.
#[derive(Clone, Debug, Deserialize)]
pub struct TextParts {
    /// The parts in reading order.
    pub parts: Vec<TextPassage>,
    /// The number of the part with which the text goes on; absent at its end.
    #[serde(default)]
    pub next: Option<u64>,
    /// The number of the part in which the chunk begins that was asked for.
    #[serde(default, rename = "chunkPart")]
    pub chunk_part: Option<u64>,
}

/// A part of a text, or a chunk.
#[derive(Clone, Debug, Deserialize)]
pub struct TextPassage {
    /// Its number, from 1.
    pub no: u64,
    /// Where it is in the file.
    pub place: TextPlace,
    /// The headings above it.
    pub heading: String,
    /// The text.
    pub text: String,
}

/// Where a text is in its file. Each kind has some of these fields; one type costs the browser less
/// than a type for each kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct TextPlace {
    /// The number of the page.
    #[serde(default)]
    pub page: Option<u64>,
    /// The number of the slide.
    #[serde(default)]
    pub slide: Option<u64>,
    /// The name of the sheet.
    #[serde(default)]
    pub sheet: Option<String>,
    /// The first line or row.
    #[serde(default)]
    pub first: Option<u64>,
    /// The last line or row.
    #[serde(default)]
    pub last: Option<u64>,
    /// The name of the kind.
    #[serde(default)]
    pub kind: String,
}

/// The answer to an upload.
#[derive(Clone, Debug, Deserialize)]
pub struct AddedDocuments {
    /// One for each file.
    pub documents: Vec<AddedDocument>,
}

/// A document that was added.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AddedDocument {
    /// The name of the document that had the same bytes already.
    #[serde(default)]
    pub already_as: Option<String>,
}
