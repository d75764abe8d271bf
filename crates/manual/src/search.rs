//! The search in the documentation.

use crate::render::{PAGES, Part};
use retrieval::{ChunkText, Index, Query};
use std::sync::LazyLock;

/// The most characters of a question; more are not read.
pub(crate) const MAX_QUERY: usize = 200;
/// The most parts that are shown.
const MAX_HITS: usize = 20;
/// How many characters of a part are shown.
const SNIPPET: usize = 240;
/// How many of them stand before the first word of the question.
const BEFORE: usize = 60;

/// A part that was found.
#[derive(Debug)]
pub(crate) struct Found {
    /// The name of the page.
    pub(crate) page: &'static str,
    pub(crate) page_title: &'static str,
    pub(crate) part: &'static Part,
    /// The beginning of its text, or what surrounds the first word of the question in it.
    pub(crate) snippet: String,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index::default();
    for page in PAGES.iter() {
        let headings: Vec<_> = page.parts.iter().map(|part| format!("{} {}", page.title, part.heading)).collect();
        let chunks = page.parts.iter().zip(&headings).map(|(part, heading)| ChunkText { heading, body: &part.text });
        index.add(page.name, &chunks.collect::<Vec<_>>());
    }
    index
});

/// Returns the parts that answer a question best, at most 20.
pub(crate) fn search(question: &str) -> Vec<Found> {
    let question: String = question.chars().take(MAX_QUERY).collect();
    let hits = INDEX.search(&Query::new(&INDEX, &question), MAX_HITS, None, None);
    let found = hits.into_iter().filter_map(|hit| {
        let (name, number) = INDEX.chunk(hit.slot)?;
        let page = PAGES.iter().find(|page| page.name == name)?;
        let part = page.parts.get(number as usize)?;
        Some(Found { page: page.name, page_title: &page.title, part, snippet: snippet(&part.text, &question) })
    });
    found.collect()
}

/// Returns a piece of a text in one line: what surrounds the first of the words in it, or its beginning.
fn snippet(text: &str, words: &str) -> String {
    let text: Vec<char> = text.split_whitespace().collect::<Vec<_>>().join(" ").chars().collect();
    let lower: Vec<char> = text.iter().map(|sign| sign.to_lowercase().next().unwrap_or(*sign)).collect();
    let places = words.split_whitespace().filter_map(|word| {
        let word: Vec<char> = word.to_lowercase().chars().collect();
        lower.windows(word.len()).position(|piece| piece == word)
    });
    let near = places.min().unwrap_or(0).saturating_sub(BEFORE);
    // From the beginning of a word.
    let start =
        if near == 0 { 0 } else { text[near..].iter().position(|sign| *sign == ' ').map_or(near, |at| near + at + 1) };
    let end = (start + SNIPPET).min(text.len());
    let mut piece: String = text[start..end].iter().collect();
    if start > 0 {
        piece.insert(0, '…');
    }
    if end < text.len() {
        piece.push('…');
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_find_the_part_that_answers_them() {
        let check = |question: &str, page: &str| {
            let found = search(question);
            let names: Vec<_> = found.iter().take(4).map(|found| found.page).collect();
            assert!(names.contains(&page), "{question}: {names:?}");
            assert!(found.len() <= MAX_HITS);
        };
        check("how do users sign in with Google", "sign-in");
        check("telegram bot token", "channels");
        check("move from SQLite to PostgreSQL", "operations");
        check("ask before a tool runs approval", "tools");
        assert!(search("").is_empty() && search("qqqqxyz").is_empty());
    }

    #[test]
    fn snippets_surround_the_words() {
        let check = |text: &str, words: &str, expected: &str| assert_eq!(snippet(text, words), expected, "{words}");
        check("Short\n text", "absent", "Short text");
        check("Short text", "TEXT", "Short text");
        let long = format!("{}needle {}", "before ".repeat(30), "after ".repeat(60));
        let piece = snippet(&long, "Needle");
        assert!(piece.starts_with("…before") && piece.contains("needle after") && piece.ends_with('…'), "{piece}");
        assert_eq!(piece.chars().count(), SNIPPET + 2);
    }
}
