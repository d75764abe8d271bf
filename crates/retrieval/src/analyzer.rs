//! From text to terms: words in lower case without stop words, stemmed and without accents. Text
//! without spaces between words becomes pairs of characters.

use crate::Language;
use rust_stemmers::Stemmer;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The longest word in bytes; what is longer is not a word that anybody searches.
const MAX_WORD: usize = 64;

/// Makes terms of the words of one language.
pub struct Analyzer {
    language: Language,
    stemmer: Stemmer,
}

impl Analyzer {
    /// Creates an analyzer.
    pub fn new(language: Language) -> Self {
        Self { language, stemmer: language.stemmer() }
    }

    /// Returns the term of a word of [`for_each_word`]; `None` for a stop word.
    pub fn term(&self, word: &str) -> Option<String> {
        if self.language.is_stop_word(word) {
            return None;
        }
        // Stemmers expect letters; a name such as `iso9001` stays as it is.
        let stem = if word.chars().all(char::is_alphabetic) { self.stemmer.stem(word) } else { word.into() };
        let term = without_accents(&stem);
        Some(if term.is_empty() { stem.into_owned() } else { term })
    }

    /// Returns the terms of a text in order.
    pub fn terms(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        for_each_word(text, |word| terms.extend(self.term(word)));
        terms
    }
}

fn without_accents(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    word.nfkd().filter(|char| !is_combining_mark(*char)).collect()
}

/// Calls a function for each word in lower case.
pub(crate) fn for_each_word(text: &str, mut found: impl FnMut(&str)) {
    let mut word = String::new();
    for part in text.split(|char: char| !char.is_alphanumeric() && !is_combining_mark(char)) {
        if part.is_empty() {
            continue;
        }
        if part.is_ascii() {
            word.clear();
            word.push_str(part);
            word.make_ascii_lowercase();
            give(&word, &mut found);
            continue;
        }
        let mut rest = part;
        while let Some(first) = rest.chars().next() {
            let is_dense = is_dense(first);
            let end = rest.char_indices().find(|(_, char)| self::is_dense(*char) != is_dense);
            let (run, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
            if is_dense {
                pairs(run, &mut found);
            } else {
                give(&run.to_lowercase(), &mut found);
            }
            rest = after;
        }
    }
}

fn give(word: &str, found: &mut impl FnMut(&str)) {
    if word.len() <= MAX_WORD {
        found(word);
    }
}

/// Whether a character belongs to a script that writes no spaces between words.
fn is_dense(char: char) -> bool {
    matches!(char, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{0e00}'..='\u{0eff}'
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{20000}'..='\u{3ffff}')
}

/// Gives each pair of neighbouring characters; a single one alone.
fn pairs(run: &str, found: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    if starts.len() <= 2 {
        return found(run);
    }
    starts.windows(3).for_each(|three| found(&run[three[0]..three[2]]));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_becomes_terms() {
        let check = |code: &str, text: &str, terms: &str| {
            let analyzer = Analyzer::new(Language::from_code(code).unwrap());
            assert_eq!(analyzer.terms(text).join(" "), terms, "{text}");
        };
        check("en", "The pumps were RUNNING, weren't they?", "pump run");
        check("en", "ISO-9001 snake_case iso9001", "iso 9001 snake case iso9001");
        check("de", "Die Häuser und das Haus", "haus haus");
        check("fr", "les résumés", "resum");
        check("ru", "насосы насоса", "насос насос");
        check("en", "東京都 abc", "東京 京都 abc");
        check("en", "水", "水");
        check("en", &"x".repeat(65), "");
        check("en", "e\u{301}tudes", "etudes");
    }
}
