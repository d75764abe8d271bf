//! The documents that users may read, for other programs than the pages of this server: their texts in pages of a certain
//! length, and their files.

use super::{Access, Knowledge, failed};
use crate::store::{self, DocumentRow, PartRow};
use ::store::StoreError;
use capability::{
    DocumentFile, DocumentText, TextPosition, UserDocument, UserDocumentId, UserDocumentPage, UserDocuments,
};
use chat::{Caller, Viewer};
use documents::Place;
use futures::StreamExt;
use futures::future::BoxFuture;
use std::collections::HashMap;
use wire::{ErrorCode, UserError};

/// The number of parts of a text that the first query reads. A part has at most about 64 KB.
const PARTS: u32 = 8;
/// The most parts that one query reads. Each query reads twice as many as the one before it, because thousands of short
/// parts may fit in a page.
const MAX_PARTS: u32 = 64;

impl Knowledge {
    /// Returns a document of a library that a caller may read.
    ///
    /// # Errors
    /// 404 for a document that they may not read, and for one of another library.
    async fn document_of_library(&self, caller: &Caller, id: &UserDocumentId) -> Result<DocumentRow, UserError> {
        let document = self.document(&Viewer::from(caller), &id.document_id, Access::Read).await?;
        let is_of_library = document.library_id == id.library_id;
        is_of_library.then_some(document).ok_or_else(UserError::not_found)
    }

    async fn listed(
        &self,
        caller: &Caller,
        after: Option<&UserDocumentId>,
        most: u32,
    ) -> Result<UserDocumentPage, UserError> {
        let libraries = self.libraries(&Viewer::from(caller)).await?;
        let names: HashMap<String, String> = libraries.into_iter().map(|library| (library.id, library.name)).collect();
        let after = after.map_or(("", ""), |after| (after.library_id.as_str(), after.document_id.as_str()));
        // One document more than requested shows whether there is a next page.
        let ids = names.keys().cloned().collect();
        let found = store::documents_with_text(self.store(), ids, after, most.saturating_add(1)).await;
        let mut rows = found.map_err(failed)?;
        let has_more = rows.len() > most as usize;
        rows.truncate(most as usize);
        let documents = rows.into_iter().map(|row| UserDocument {
            library_name: names.get(&row.library_id).cloned().unwrap_or_default(),
            text_type: text_type(&row.media_type),
            id: UserDocumentId { library_id: row.library_id, document_id: row.id },
            file_name: row.file_name,
        });
        Ok(UserDocumentPage { documents: documents.collect(), has_more })
    }

    /// Returns the text of a document from a position on.
    ///
    /// # Errors
    /// As [`UserDocuments::text`]; 409 also if the text was replaced or deleted meanwhile.
    pub(crate) async fn text_from(
        &self,
        document: DocumentRow,
        from: TextPosition,
        most: usize,
    ) -> Result<DocumentText, UserError> {
        let media_type = text_type(&document.media_type);
        let Some(version) = document.version_id else {
            let message = "This document has no text yet: it is being read, or could not be read.";
            return Err(UserError::new(ErrorCode::Conflict, message));
        };
        let mut page = TextPage { text: String::new(), most, place: None };
        // Parts are stored with numbers from 0, without gaps.
        let first = from.part.saturating_sub(1);
        let (mut next, mut skip, mut count) = (first, from.offset, PARTS);
        loop {
            let rows = store::parts(self.store(), &version, next, count).await.map_err(failed)?;
            let is_end = rows.len() < count as usize;
            for row in rows {
                if skip > 0 && skip >= row.text.len() {
                    return Err(UserError::not_found());
                }
                if let Some(offset) = page.push(row, std::mem::take(&mut skip)) {
                    let next = Some(TextPosition { part: next + 1, offset });
                    return Ok(DocumentText { media_type, text: page.text, next });
                }
                next += 1;
            }
            if is_end {
                break;
            }
            count = MAX_PARTS.min(count * 2);
        }
        store::check_stored(self.store(), &version).await.map_err(changed)?;
        if next == first && first > 0 {
            return Err(UserError::not_found());
        }
        let mut text = page.text;
        for warning in &document.warnings {
            // Without this, readers would conclude that the document says nothing about a part that could not be read.
            text.push_str(&format!("\n\n({})", warning.message));
        }
        Ok(DocumentText { media_type, text, next: None })
    }

    /// Returns the bytes of a version; `None` if there are more than `most`.
    ///
    /// # Errors
    /// 409 if the version was replaced or deleted meanwhile; the database failed.
    async fn bounded_file(&self, version: String, most: usize) -> Result<Option<Vec<u8>>, UserError> {
        let mut pieces = store::whole_file(self.store().clone(), version);
        let mut file = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(changed)?;
            if file.len() + piece.len() > most {
                return Ok(None);
            }
            file.extend_from_slice(&piece);
        }
        Ok(Some(file))
    }
}

impl UserDocuments for Knowledge {
    fn list<'a>(
        &'a self,
        caller: &'a Caller,
        after: Option<&'a UserDocumentId>,
        most: u32,
    ) -> BoxFuture<'a, Result<UserDocumentPage, UserError>> {
        Box::pin(self.listed(caller, after, most))
    }

    fn text<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a UserDocumentId,
        from: TextPosition,
        most: usize,
    ) -> BoxFuture<'a, Result<DocumentText, UserError>> {
        Box::pin(async move {
            let document = self.document_of_library(caller, id).await?;
            self.text_from(document, from, most).await
        })
    }

    fn file<'a>(
        &'a self,
        caller: &'a Caller,
        id: &'a UserDocumentId,
        most: usize,
    ) -> BoxFuture<'a, Result<DocumentFile, UserError>> {
        Box::pin(async move {
            let DocumentRow { version_id, next_id, media_type, .. } = self.document_of_library(caller, id).await?;
            let version = version_id.or(next_id).ok_or_else(UserError::not_found)?;
            Ok(DocumentFile { media_type, content: self.bounded_file(version, most).await? })
        })
    }
}

/// Converts an error of the database while a version was read.
fn changed(error: StoreError) -> UserError {
    match error {
        StoreError::NotFound => {
            UserError::new(ErrorCode::Conflict, "The document was changed while it was read. Read it again.")
        }
        error => failed(error),
    }
}

/// Returns the media type of the text that was read from a file. Texts of most formats have some Markdown in them, but
/// only a file of Markdown is known to be it.
fn text_type(media_type: &str) -> &'static str {
    if media_type.starts_with("text/markdown") { "text/markdown" } else { "text/plain" }
}

/// A text of a certain length, which is put together from parts.
struct TextPage {
    text: String,
    /// The maximum length in bytes.
    most: usize,
    /// The place of the last part.
    place: Option<Place>,
}

impl TextPage {
    /// Adds a part without its first `skip` bytes. If a page, a slide or another place with a name begins with it, the name is
    /// added before its text. Returns the offset in the part at which the next page begins, if there is no room for all of it: 0 unless
    /// the part is longer than a whole page.
    fn push(&mut self, PartRow { place, text, .. }: PartRow, skip: usize) -> Option<usize> {
        let is_named = !matches!(place, Place::Section { .. } | Place::Lines { .. });
        let name = if is_named && self.place.as_ref() != Some(&place) { format!("[{place}]\n") } else { String::new() };
        let gap = if self.text.is_empty() { "" } else { "\n\n" };
        // A program may ask for an offset within a character.
        let skip = text.floor_char_boundary(skip);
        let rest = &text[skip..];
        let used = self.text.len() + gap.len() + name.len();
        let length = if used + rest.len() <= self.most {
            rest.len()
        } else if self.text.is_empty() {
            // At least one character, so that each page is further on than the one before.
            rest.floor_char_boundary(self.most.saturating_sub(used)).max(rest.ceil_char_boundary(1))
        } else {
            return Some(0);
        };
        for added in [gap, &name, &rest[..length]] {
            self.text.push_str(added);
        }
        self.place = Some(place);
        (length < rest.len()).then_some(skip + length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(place: Place, text: &str) -> PartRow {
        PartRow { no: 0, place, heading: String::new(), text: text.to_owned() }
    }

    #[test]
    fn parts_fill_a_page() {
        let check = |most: usize, expected: &str, taken: usize, next: Option<usize>| {
            let page = Place::Page { page: 3 };
            let lines = Place::Lines { first: 1, last: 2 };
            let parts = [part(lines, "Pumps é"), part(page.clone(), "run"), part(page, "at night.")];
            let (mut filled, mut end) = (TextPage { text: String::new(), most, place: None }, None);
            let fits = |part: &PartRow| {
                end = filled.push(part.clone(), 0);
                end.is_none()
            };
            let count = parts.into_iter().take_while(fits).count();
            assert_eq!((filled.text.as_str(), count, end), (expected, taken, next), "{most}");
        };
        check(100, "Pumps é\n\n[page 3]\nrun\n\nat night.", 3, None);
        check(33, "Pumps é\n\n[page 3]\nrun\n\nat night.", 3, None);
        check(32, "Pumps é\n\n[page 3]\nrun", 2, Some(0));
        check(8, "Pumps é", 1, Some(0));
        check(7, "Pumps ", 0, Some(6));
        check(0, "P", 0, Some(1));
    }

    #[test]
    fn long_part_goes_on_in_the_next_page() {
        let check = |skip: usize, most: usize, expected: &str, next: Option<usize>| {
            let mut filled = TextPage { text: String::new(), most, place: None };
            let end = filled.push(part(Place::Page { page: 3 }, "Pumps é run"), skip);
            assert_eq!((filled.text.as_str(), end), (expected, next), "{skip} {most}");
        };
        check(0, 15, "[page 3]\nPumps ", Some(6));
        check(6, 15, "[page 3]\né run", None);
        check(6, 11, "[page 3]\né", Some(8));
        check(6, 3, "[page 3]\né", Some(8));
        // It is within a character.
        check(7, 100, "[page 3]\né run", None);
    }
}
