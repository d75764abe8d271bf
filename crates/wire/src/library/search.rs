//! Results of a search.

use super::TextPlace;
use super::passage_number;
use serde::Deserialize;

/// The results of a search.
#[derive(Clone, Debug, Deserialize)]
pub struct LibraryResults {
    /// The best one first.
    pub results: Vec<LibraryResult>,
}

/// A passage that was found.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LibraryResult {
    /// The id of the chunk.
    pub chunk_id: String,
    /// The document.
    pub document_id: String,
    /// The name of the file.
    pub file_name: String,
    /// Where the text is in the file.
    pub place: TextPlace,
    /// The title of the document and the headings above the text.
    pub heading: String,
    /// The text.
    pub text: String,
    /// Where words of the query stand in the text: of each place the first character and the one
    /// after the last, counted in Unicode characters.
    pub marks: Vec<(usize, usize)>,
}

impl LibraryResult {
    /// Returns the number of the passage in its document, from 1.
    pub fn passage(&self) -> Option<u64> {
        passage_number(&self.chunk_id)
    }

    /// Returns the text in pieces, of which every second one is to be marked.
    pub fn pieces(&self) -> Vec<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_second_piece_of_a_passage_is_marked() {
        let result = |marks: &[(usize, usize)]| LibraryResult {
            chunk_id: "v.4".to_owned(),
            document_id: String::new(),
            file_name: String::new(),
            place: TextPlace::default(),
            heading: String::new(),
            text: "é two three".to_owned(),
            marks: marks.to_vec(),
        };
        assert_eq!(result(&[]).pieces(), ["é two three"]);
        assert_eq!(result(&[(2, 5)]).pieces(), ["é ", "two", " three"]);
        assert_eq!(result(&[(0, 1), (6, 11)]).pieces(), ["", "é", " two ", "three", ""]);
        assert_eq!(result(&[]).passage(), Some(5));
    }
}
