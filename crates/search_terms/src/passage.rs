//! Extracts the passage of a text that matches a search.

use crate::terms::{self, SearchTerms};
use std::ops::Range;

/// The number of words of a passage, the same as for FTS5's `snippet`.
const WORDS: usize = 16;

/// The number of words before the first match, if there are that many.
const BEFORE: usize = 4;

/// Returns the passage that matches most of the search terms, as a list in which every second
/// element is a match.
pub fn passage(text: &str, terms: &SearchTerms) -> Vec<String> {
    let words = words(text);
    let finds = find_matches(text, &words, &terms.phrases());
    let from = best(&finds, words.len());
    let until = (from + WORDS).min(words.len());
    let begin = if from == 0 { 0 } else { words[from].start };
    let end = if until == words.len() { text.len() } else { words[until - 1].end };
    let mut pieces = vec![String::from(if from == 0 { "" } else { "…" })];
    let mut at = begin;
    for find in finds.iter().filter(|find| find.words.start >= from && find.words.end <= until) {
        let (start, stop) = (words[find.words.start].start, words[find.words.end - 1].end);
        if start < at {
            // Overlaps the previous match.
            continue;
        }
        add(&mut pieces, &text[at..start]);
        pieces.extend([text[start..stop].to_owned(), String::new()]);
        at = stop;
    }
    add(&mut pieces, &text[at..end]);
    if until < words.len() {
        add(&mut pieces, "…");
    }
    pieces
}

fn add(pieces: &mut [String], text: &str) {
    if let Some(last) = pieces.last_mut() {
        last.push_str(text);
    }
}

/// Returns the byte ranges of the words of a text.
fn words(text: &str) -> Vec<Range<usize>> {
    let mut words: Vec<Range<usize>> = Vec::new();
    for (at, c) in text.char_indices().filter(|(_, c)| terms::is_word_character(*c)) {
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(last) if last.end == at => last.end = end,
            _ => words.push(at..end),
        }
    }
    words
}

/// A match.
struct Match {
    /// The index of the phrase.
    phrase: usize,
    /// The matching words, as indices into the words of the text.
    words: Range<usize>,
}

fn find_matches(text: &str, words: &[Range<usize>], phrases: &[Vec<String>]) -> Vec<Match> {
    let folded: Vec<_> = words.iter().map(|word| terms::fold(&text[word.clone()])).collect();
    let stands_at = |number: usize, at: usize| {
        let phrase = &phrases[number];
        let there = folded.get(at..at + phrase.len())?;
        let last = phrase.len() - 1;
        let fits = |(place, (word, part)): (usize, (&String, &String))| {
            word == part || (place == last && number == phrases.len() - 1 && word.starts_with(part.as_str()))
        };
        let is_there = there.iter().zip(phrase).enumerate().all(fits);
        is_there.then(|| Match { phrase: number, words: at..at + phrase.len() })
    };
    let at_each = |at: usize| (0..phrases.len()).filter_map(move |number| stands_at(number, at));
    (0..words.len()).flat_map(at_each).collect()
}

/// Returns the index of the passage's first word.
fn best(finds: &[Match], words: usize) -> usize {
    let last = words.saturating_sub(WORDS);
    let from = |find: &Match| find.words.start.saturating_sub(BEFORE).min(last);
    let score = |from: usize| {
        let within = finds.iter().filter(|find| find.words.start >= from && find.words.end <= from + WORDS);
        within.map(|find| find.phrase).collect::<std::collections::BTreeSet<_>>().len()
    };
    // The earliest of equally good passages; the number of candidates is limited, because one word
    // may occur thousands of times.
    let candidates = finds.iter().take(200).map(from).rev();
    candidates.max_by_key(|from| score(*from)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passage_has_the_most_matches() {
        let check = |text: &str, query: &str, expected: &str| {
            let pieces = passage(text, &SearchTerms::parse(query).unwrap());
            let shown = |(at, piece): (usize, &String)| if at % 2 == 1 { format!("[{piece}]") } else { piece.clone() };
            assert_eq!(pieces.iter().enumerate().map(shown).collect::<String>(), expected, "{query}");
        };
        check("Where is my Überweisung?", "uberw", "Where is my [Überweisung]?");
        check("A refund takes five days.", "five refund", "A [refund] takes [five] days.");
        check("A five-day week, day by day", "five-day", "A [five-day] week, day by day");
        check("nothing of it", "else", "nothing of it");
        check("", "else", "");
        let long: String = (1..=40).map(|number| format!("w{number} ")).collect();
        check(&long, "w20", "…w16 w17 w18 w19 [w20] w21 w22 w23 w24 w25 w26 w27 w28 w29 w30 w31…");
        check(&long, "w40", "…w25 w26 w27 w28 w29 w30 w31 w32 w33 w34 w35 w36 w37 w38 w39 [w40] ");
        check(
            &format!("w20 {long}"),
            "w20 w22",
            "…w16 w17 w18 w19 [w20] w21 [w22] w23 w24 w25 w26 w27 w28 w29 w30 w31…",
        );
        check(&format!("w9 {long}"), "w9 w12", "[w9] w1 w2 w3 w4 w5 w6 w7 w8 [w9] w10 w11 [w12] w13 w14 w15…");
    }
}
