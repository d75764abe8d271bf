//! Finds the words of a query in a passage, by the stems that the search compares.

use retrieval::{Analyzer, Language};
use std::collections::HashSet;

/// The most words of a passage whose language is guessed.
const GUESSED_WORDS: usize = 200;

/// Marks the words of a query.
pub(crate) struct Marker {
    query: String,
}

impl Marker {
    /// Creates a marker for a query.
    pub(crate) fn new(query: &str) -> Self {
        Self { query: query.to_owned() }
    }

    /// Returns the places of the query's words in a text: of each the first character and the one after
    /// the last, counted in Unicode characters. Neighbouring ones are joined.
    pub(crate) fn marks(&self, text: &str) -> Vec<[u32; 2]> {
        let words = words(text);
        let lower: Vec<String> = words.iter().take(GUESSED_WORDS).map(|(_, word)| word.to_lowercase()).collect();
        let language = Language::guess(lower.iter().map(String::as_str)).unwrap_or(Language::ENGLISH);
        let analyzer = Analyzer::new(language);
        let wanted: HashSet<String> = analyzer.terms(&self.query).into_iter().collect();
        let mut marks = Vec::<[u32; 2]>::new();
        for (at, word) in words {
            if !analyzer.terms(word).iter().any(|term| wanted.contains(term)) {
                continue;
            }
            let end = at + word.chars().count() as u32;
            match marks.last_mut() {
                Some(last) if at <= last[1] + 1 => last[1] = end,
                _ => marks.push([at, end]),
            }
        }
        marks
    }
}

/// Returns the words of a text with their positions in characters.
fn words(text: &str) -> Vec<(u32, &str)> {
    let (mut words, mut start) = (Vec::new(), None);
    for (count, (at, char)) in (0..).zip(text.char_indices()) {
        match (char.is_alphanumeric(), start) {
            (true, None) => start = Some((at, count)),
            (false, Some((from, first))) => {
                words.push((first, &text[from..at]));
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.map(|(from, first)| (first, &text[from..])));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_the_query_are_marked() {
        let check = |query: &str, text: &str, expected: &str| {
            let (mut shown, mut chars) = (String::new(), text.chars());
            let mut at = 0;
            for [from, to] in Marker::new(query).marks(text) {
                shown.extend(chars.by_ref().take((from - at) as usize));
                shown.push('[');
                shown.extend(chars.by_ref().take((to - from) as usize));
                shown.push(']');
                at = to;
            }
            shown.extend(chars);
            assert_eq!(shown, expected, "{query}");
        };
        check("running the pumps", "The pump runs, the valve does not.", "The [pump runs], the valve does not.");
        check("vacation days", "You have 28 days. Vacations end.", "You have 28 [days]. [Vacations] end.");
        check(
            "Häuser",
            "Das Haus ist alt, und die Häuser sind es auch.",
            "Das [Haus] ist alt, und die [Häuser] sind es auch.",
        );
        check("the", "the end", "the end");
        check("", "text", "text");
        check("text", "", "");
    }

    proptest! {
        #[test]
        fn marks_are_in_order_and_in_the_text(query in ".{0,20}", text in ".{0,60}") {
            let count = text.chars().count() as u32;
            let mut last = 0;
            for [from, to] in Marker::new(&query).marks(&text) {
                prop_assert!(last <= from && from < to && to <= count);
                last = to;
            }
        }
    }
}
