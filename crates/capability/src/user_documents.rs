//! The documents that users may read, for other programs than the pages of this server.

use chat::Caller;
use futures::future::BoxFuture;
use wire::UserError;

/// The documents that users may read. The capability with libraries implements this, with the rights of its API: a document
/// that a caller may not read does not exist for them. Each caller sets its own bounds.
pub trait UserDocuments: Send + Sync + 'static {
    /// Returns at most `most` documents of the libraries that a caller may read: those after the document `after`, or the
    /// first ones. Documents without text and files attached to conversations are left out.
    ///
    /// # Errors
    /// The database failed.
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        after: Option<&'a UserDocumentId>,
        most: u32,
    ) -> BoxFuture<'a, Result<UserDocumentPage, UserError>>;

    /// Returns about `most` bytes of the text of a document, from a position on.
    ///
    /// # Errors
    /// 404 for a document that the caller may not read, and for a position that it does not have; 409 if it has no text yet,
    /// or was changed meanwhile; the database failed.
    fn text<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a UserDocumentId,
        from: TextPosition,
        most: usize,
    ) -> BoxFuture<'a, Result<DocumentText, UserError>>;

    /// Returns the file of a document, with its content if that has at most `most` bytes.
    ///
    /// # Errors
    /// 404 for a document that the caller may not read; 409 if it was changed meanwhile; the database failed.
    fn file<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a UserDocumentId,
        most: usize,
    ) -> BoxFuture<'a, Result<DocumentFile, UserError>>;
}

/// The ids by which a document is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDocumentId {
    /// Its library.
    pub library_id: String,
    /// The document.
    pub document_id: String,
}

/// A page of a list of documents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDocumentPage {
    /// The documents.
    pub documents: Vec<UserDocument>,
    /// Whether there are more documents after the last one.
    pub has_more: bool,
}

/// A document in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserDocument {
    /// Its ids.
    pub id: UserDocumentId,
    /// The name of its file.
    pub file_name: String,
    /// The name of its library.
    pub library_name: String,
    /// The media type of its text.
    pub text_type: &'static str,
}

/// Some of the text of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentText {
    /// The media type.
    pub media_type: &'static str,
    /// The text.
    pub text: String,
    /// Where the text continues; `None` if this is its end.
    pub next: Option<TextPosition>,
}

/// A position in the text of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPosition {
    /// The part, counted from 1.
    pub part: u32,
    /// The number of bytes of the part before the position. It is above 0 only if the part does not fit in a page.
    pub offset: usize,
}

impl TextPosition {
    /// The beginning of a text.
    pub const START: Self = Self::of_part(1);

    /// Returns the beginning of a part.
    pub const fn of_part(part: u32) -> Self {
        Self { part, offset: 0 }
    }
}

/// The file of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentFile {
    /// The media type.
    pub media_type: String,
    /// The content; `None` if it is larger than the caller accepts.
    pub content: Option<Vec<u8>>,
}
