//! The answers of the HTTP API about libraries, with the fields that the block shows.

use crate::texts::{Text, fill, t};
use serde::Deserialize;

/// A library.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Library {
    pub(super) id: String,
    pub(super) name: String,
    #[serde(default)]
    pub(super) description: Option<String>,
    pub(super) readers: Vec<String>,
    pub(super) writers: Vec<String>,
    pub(super) access: Access,
    /// Whether its documents are the files of a folder.
    pub(super) declared: bool,
    /// Why its folder cannot be followed, for administrators.
    #[serde(default)]
    pub(super) folder_problem: Option<String>,
    pub(super) documents: Counts,
    pub(super) bytes: u64,
    /// Whether entities are extracted from its documents; none if the server does not offer it.
    #[serde(default)]
    pub(super) graph: Option<bool>,
}

/// What the user may do with a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Access {
    Read,
    Write,
    Manage,
}

/// The number of documents by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Counts {
    pub(super) queued: u64,
    pub(super) processing: u64,
    pub(super) ready: u64,
    pub(super) failed: u64,
}

impl Counts {
    pub(super) fn open(self) -> u64 {
        self.queued + self.processing
    }

    pub(super) fn ended(self) -> u64 {
        self.ready + self.failed
    }

    pub(super) fn all(self) -> u64 {
        self.open() + self.ended()
    }
}

/// The state of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum DocumentState {
    Queued,
    Processing,
    Ready,
    Failed,
}

impl DocumentState {
    pub(super) const ALL: [Self; 4] = [Self::Queued, Self::Processing, Self::Ready, Self::Failed];

    /// Returns the name in the API.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Processing => "processing",
            Self::Ready => "ready",
            Self::Failed => "failed",
        }
    }

    /// Returns the state with this name.
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Returns the name for the user.
    pub(super) fn label(self) -> &'static str {
        t(match self {
            Self::Queued => Text::DocumentQueued,
            Self::Processing => Text::DocumentReadingStep,
            Self::Ready => Text::DocumentReady,
            Self::Failed => Text::DocumentFailed,
        })
    }

    pub(super) fn is_open(self) -> bool {
        matches!(self, Self::Queued | Self::Processing)
    }
}

/// A document.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Document {
    pub(super) id: String,
    pub(super) file_name: String,
    pub(super) bytes: u64,
    pub(super) pages: u64,
    pub(super) chunks: u64,
    pub(super) state: DocumentState,
    #[serde(default)]
    pub(super) step: Option<String>,
    pub(super) progress: f64,
    #[serde(default)]
    pub(super) error: Option<Reason>,
    /// What was left out of its text.
    #[serde(default)]
    pub(super) warnings: Vec<Reason>,
}

impl Document {
    /// Returns the name of the state, or of the step that is being done.
    pub(super) fn label(&self) -> &'static str {
        match self.step.as_deref() {
            Some("splitting") => t(Text::DocumentSplitting),
            Some("indexing") => t(Text::DocumentIndexing),
            _ => self.state.label(),
        }
    }
}

/// Why a document could not be read, or was not read completely.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(super) struct Reason {
    pub(super) message: String,
}

/// The libraries.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct LibraryList {
    pub(super) items: Vec<Library>,
}

/// A page of documents.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct DocumentList {
    pub(super) items: Vec<Document>,
    #[serde(default)]
    pub(super) cursor: Option<String>,
}

/// What has changed in a library.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Changes {
    pub(super) cursor: String,
    pub(super) library: Library,
    pub(super) documents: Vec<Document>,
    pub(super) reload: bool,
    pub(super) deleted: bool,
}

/// The roles that the config names.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RoleList {
    pub(super) roles: Vec<String>,
}

/// A page of a text, or of its chunks.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Parts {
    pub(super) parts: Vec<Part>,
    #[serde(default)]
    pub(super) next: Option<u64>,
    /// The part in which the chunk begins that was asked for.
    #[serde(default, rename = "chunkPart")]
    pub(super) chunk_part: Option<u64>,
}

/// A part of a text, or a chunk.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Part {
    pub(super) no: u64,
    pub(super) place: Place,
    pub(super) heading: String,
    pub(super) text: String,
}

impl Part {
    /// Returns where a part of a text is, and the headings above it.
    pub(super) fn label(&self) -> String {
        let place = match self.place.label() {
            place if place.is_empty() => fill(Text::PlacePart, &[&self.no.to_string()]),
            place => place,
        };
        if self.heading.is_empty() { place } else { [&place, " · ", &self.heading].concat() }
    }
}

/// Where a text is in its file. The kinds share these fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct Place {
    #[serde(default)]
    page: Option<u64>,
    #[serde(default)]
    slide: Option<u64>,
    #[serde(default)]
    sheet: Option<String>,
    #[serde(default)]
    first: Option<u64>,
    #[serde(default)]
    last: Option<u64>,
    #[serde(default)]
    kind: String,
}

impl Place {
    /// Returns the place for the user; empty if it says nothing.
    pub(super) fn label(&self) -> String {
        let number = |text: Text, number: u64| fill(text, &[&number.to_string()]);
        let range = |text: Text, first: u64| fill(text, &[&first.to_string(), &self.last.unwrap_or(first).to_string()]);
        let is_rows = self.sheet.is_some() || self.kind == "rows";
        let numbers = match (self.page, self.slide, self.first) {
            (Some(page), ..) => number(Text::PlacePage, page),
            (_, Some(slide), _) => number(Text::PlaceSlide, slide),
            (.., Some(first)) if is_rows => range(Text::PlaceRows, first),
            (.., Some(first)) => range(Text::PlaceLines, first),
            _ => String::new(),
        };
        match &self.sheet {
            Some(sheet) if numbers.is_empty() => sheet.clone(),
            Some(sheet) => [sheet, " · ", &numbers].concat(),
            None => numbers,
        }
    }
}

/// The results of a search.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Results {
    pub(super) results: Vec<Hit>,
}

/// A passage that was found.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Hit {
    pub(super) chunk_id: String,
    pub(super) document_id: String,
    pub(super) file_name: String,
    pub(super) place: Place,
    pub(super) heading: String,
    pub(super) text: String,
    pub(super) marks: Vec<(usize, usize)>,
}

impl Hit {
    /// Returns the number of the passage in its document, from 1.
    pub(super) fn passage(&self) -> Option<u64> {
        passage_number(&self.chunk_id)
    }

    /// Returns the text in pieces, of which every second one is to be marked.
    pub(super) fn pieces(&self) -> Vec<String> {
        let mut chars = self.text.chars();
        let (mut pieces, mut at) = (Vec::new(), 0);
        for (from, to) in &self.marks {
            pieces.push(chars.by_ref().take(from.saturating_sub(at)).collect());
            pieces.push(chars.by_ref().take(to.saturating_sub(*from)).collect());
            at = *to;
        }
        pieces.push(chars.collect());
        pieces
    }
}

/// Returns the number of a passage in its document, from 1, by the id of its chunk.
pub(super) fn passage_number(chunk_id: &str) -> Option<u64> {
    chunk_id.rsplit_once('.')?.1.parse::<u64>().ok().map(|no| no + 1)
}

/// The answer to an upload.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Added {
    pub(super) documents: Vec<AddedDocument>,
}

/// A document that was added.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AddedDocument {
    /// The name of the document that had the same bytes already.
    #[serde(default)]
    pub(super) already_as: Option<String>,
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_named() {
        let check = |place: serde_json::Value, expected: &str| {
            let place: Place = serde_json::from_value(place).unwrap();
            assert_eq!(place.label(), expected);
        };
        check(json!({ "kind": "page", "page": 3 }), "Page 3");
        check(json!({ "kind": "slide", "slide": 2 }), "Slide 2");
        check(json!({ "kind": "lines", "first": 2, "last": 9 }), "Lines 2–9");
        check(json!({ "kind": "rows", "sheet": "Prices", "first": 2, "last": 9 }), "Prices · Rows 2–9");
        check(json!({ "kind": "rows", "sheet": null, "first": 2, "last": 9 }), "Rows 2–9");
        check(json!({ "kind": "section" }), "");
    }

    #[test]
    fn every_second_piece_of_a_passage_is_marked() {
        let hit = |marks: &[(usize, usize)]| Hit {
            chunk_id: "v.4".to_owned(),
            document_id: String::new(),
            file_name: String::new(),
            place: Place::default(),
            heading: String::new(),
            text: "é two three".to_owned(),
            marks: marks.to_vec(),
        };
        assert_eq!(hit(&[]).pieces(), ["é two three"]);
        assert_eq!(hit(&[(2, 5)]).pieces(), ["é ", "two", " three"]);
        assert_eq!(hit(&[(0, 1), (6, 11)]).pieces(), ["", "é", " two ", "three", ""]);
        assert_eq!(hit(&[]).passage(), Some(5));
    }
}
