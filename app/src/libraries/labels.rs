//! The texts that describe libraries, documents and places in them.

use crate::texts::{Text, fill, group_digits, t};
use crate::ui::numbers::byte_size;
use wire::library::{Document, DocumentCounts, DocumentState, Library, LibraryAccess, TextPassage, TextPlace};

/// Returns the name of a state.
pub(super) fn state_label(state: DocumentState) -> &'static str {
    t(match state {
        DocumentState::Queued => Text::DocumentQueued,
        DocumentState::Processing => Text::DocumentReadingStep,
        DocumentState::Ready => Text::DocumentReady,
        DocumentState::Failed => Text::DocumentFailed,
    })
}

/// Returns the name of a document's state, or of the step that is being done.
pub(super) fn document_label(document: &Document) -> &'static str {
    match document.step.as_deref() {
        Some("splitting") => t(Text::DocumentSplitting),
        Some("indexing") => t(Text::DocumentIndexing),
        _ => state_label(document.state),
    }
}

/// Returns where a part of a text is, and the headings above it.
pub(super) fn passage_label(part: &TextPassage) -> String {
    let place = match place_label(&part.place) {
        place if place.is_empty() => fill(Text::PlacePart, &[&part.no.to_string()]),
        place => place,
    };
    if part.heading.is_empty() { place } else { [&place, " · ", &part.heading].concat() }
}

/// Returns a place for the user; empty if it says nothing.
pub(super) fn place_label(place: &TextPlace) -> String {
    let number = |text: Text, number: u64| fill(text, &[&number.to_string()]);
    let range = |text: Text, first: u64| fill(text, &[&first.to_string(), &place.last.unwrap_or(first).to_string()]);
    let is_rows = place.sheet.is_some() || place.kind == "rows";
    let numbers = match (place.page, place.slide, place.first) {
        (Some(page), ..) => number(Text::PlacePage, page),
        (_, Some(slide), _) => number(Text::PlaceSlide, slide),
        (.., Some(first)) if is_rows => range(Text::PlaceRows, first),
        (.., Some(first)) => range(Text::PlaceLines, first),
        _ => String::new(),
    };
    match &place.sheet {
        Some(sheet) if numbers.is_empty() => sheet.clone(),
        Some(sheet) => [sheet, " · ", &numbers].concat(),
        None => numbers,
    }
}

/// Describes the contents of a library, and its readers.
pub(super) fn library_facts(library: &Library) -> String {
    let DocumentCounts { ready, failed, .. } = library.documents;
    let open = library.documents.open();
    let mut facts = Vec::new();
    for (text, count) in [(Text::LibraryReady, ready), (Text::LibraryReading, open), (Text::LibraryFailed, failed)] {
        if count > 0 {
            facts.push(fill(text, &[&group_digits(count)]));
        }
    }
    if facts.is_empty() {
        facts.push(t(Text::LibraryEmpty).to_owned())
    } else {
        facts.push(byte_size(library.bytes))
    }
    facts.join(" · ")
}

/// Says who may read a library, and what the user may not do.
pub(super) fn library_rights(library: &Library) -> Vec<String> {
    let named = |text: Text, roles: &[String]| (!roles.is_empty()).then(|| fill(text, &[&roles.join(", ")]));
    let is_shared = !library.readers.is_empty() || !library.writers.is_empty();
    let mut said = Vec::new();
    if library.declared {
        said.push(t(Text::LibraryFollowed).to_owned());
    } else if library.access == LibraryAccess::Manage && !is_shared {
        said.push(t(Text::LibraryOnlyYou).to_owned());
    } else if library.access == LibraryAccess::Read {
        said.push(t(Text::LibraryReadOnly).to_owned());
    }
    said.extend(library.folder_problem.clone());
    said.extend(named(Text::LibraryReadBy, &library.readers));
    said.extend(named(Text::LibraryWrittenBy, &library.writers));
    said
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn places_are_named() {
        let check = |place: serde_json::Value, expected: &str| {
            let place: TextPlace = serde_json::from_value(place).unwrap();
            assert_eq!(place_label(&place), expected);
        };
        check(json!({ "kind": "page", "page": 3 }), "Page 3");
        check(json!({ "kind": "slide", "slide": 2 }), "Slide 2");
        check(json!({ "kind": "lines", "first": 2, "last": 9 }), "Lines 2–9");
        check(json!({ "kind": "rows", "sheet": "Prices", "first": 2, "last": 9 }), "Prices · Rows 2–9");
        check(json!({ "kind": "rows", "sheet": null, "first": 2, "last": 9 }), "Rows 2–9");
        check(json!({ "kind": "section" }), "");
    }
}
