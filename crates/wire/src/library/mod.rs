//! The answers of the HTTP API about libraries, with the fields that pages show. The answers of the server have more
//! fields; a test of the crate `knowledge` reads them as these types.

mod documents;
mod entities;
mod questions;
mod search;

pub use documents::{
    AddedDocument, AddedDocuments, Document, DocumentCounts, DocumentList, DocumentProblem, DocumentState, TextParts,
    TextPassage, TextPlace,
};
pub use entities::{
    EntityDetails, EntityList, EntityPassage, ExtractionStatus, LibraryEntity, LibraryRelation, RelationEnd,
};
pub use questions::{LibraryQuestion, QuestionList};
pub use search::{LibraryResult, LibraryResults};

use serde::Deserialize;

/// A library.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Library {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its description.
    #[serde(default)]
    pub description: Option<String>,
    /// The roles whose users may read it.
    pub readers: Vec<String>,
    /// The roles whose users may add and delete documents.
    pub writers: Vec<String>,
    /// The access of the user.
    pub access: LibraryAccess,
    /// Whether its documents are the files of a folder.
    pub declared: bool,
    /// Why its folder cannot be followed, for administrators.
    #[serde(default)]
    pub folder_problem: Option<String>,
    /// The number of documents by state.
    pub documents: DocumentCounts,
    /// The bytes of all files.
    pub bytes: u64,
    /// Whether entities are extracted from its documents; absent if the server does not offer it.
    #[serde(default)]
    pub graph: Option<bool>,
    /// Whether the user can see what was asked of it.
    #[serde(default)]
    pub questions: bool,
}

/// The access of a user to a library; each level includes those before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LibraryAccess {
    /// Search it and read its documents.
    Read,
    /// Add and delete documents.
    Write,
    /// Change and delete it.
    Manage,
}

/// The libraries.
#[derive(Clone, Debug, Deserialize)]
pub struct LibraryList {
    /// The libraries that the user may read.
    pub items: Vec<Library>,
}

/// The changes of a library since a cursor.
#[derive(Clone, Debug, Deserialize)]
pub struct LibraryChanges {
    /// The cursor of the next request.
    pub cursor: String,
    /// The library as it is now.
    pub library: Library,
    /// The documents that were added or have changed.
    pub documents: Vec<Document>,
    /// Whether the list of documents is to be loaded again.
    pub reload: bool,
    /// Whether the user cannot read the library any more.
    pub deleted: bool,
}

/// The roles that the config names.
#[derive(Clone, Debug, Deserialize)]
pub struct RoleList {
    /// In alphabetical order.
    pub roles: Vec<String>,
}

/// Returns the number of a passage in its document, from 1, by the id of its chunk.
pub(crate) fn passage_number(chunk_id: &str) -> Option<u64> {
    chunk_id.rsplit_once('.')?.1.parse::<u64>().ok().map(|no| no + 1)
}
