//! Parses a search text, and converts it to the query syntax of each database. Every word is
//! quoted, so users cannot enter operators.

use std::fmt::Write;
use unicode_normalization::UnicodeNormalization;

/// The maximum number of words that are searched; further ones are ignored.
const MAX_WORDS: usize = 16;

/// The maximum number of characters of a word; further ones are ignored.
const MAX_WORD: usize = 64;

/// The words of a search, at least one. All must match, the last one also as a prefix.
#[derive(Debug)]
pub struct SearchTerms {
    words: Vec<String>,
}

impl SearchTerms {
    /// Parses a text; `None` if it has no word. A word without a letter or a digit is ignored,
    /// because the index has no such words.
    pub fn parse(text: &str) -> Option<Self> {
        let words = text.split(|c: char| c.is_whitespace() || c.is_control());
        let words = words.filter(|word| word.chars().any(char::is_alphanumeric)).take(MAX_WORDS);
        let words: Vec<_> = words.map(|word| word.chars().take(MAX_WORD).collect()).collect();
        (!words.is_empty()).then_some(Self { words })
    }

    /// Returns the FTS5 query for the texts of all users.
    pub fn fts5(&self) -> String {
        self.fts5_whole() + " *"
    }

    /// Returns the same query without prefix matching of the last word.
    pub fn fts5_whole(&self) -> String {
        let quoted = |word: &String| format!("text : \"{}\"", word.replace('"', "\"\""));
        self.words.iter().map(quoted).collect::<Vec<_>>().join(" AND ")
    }

    /// Returns the FTS5 query for an owner's texts.
    pub fn fts5_for_owner(&self, owner: &str) -> String {
        let mut expression = String::from("owner : \"o");
        for byte in owner.bytes() {
            // Writing to a string cannot fail.
            let _ = write!(expression, "{byte:02X}");
        }
        let _ = write!(expression, "\" AND {}", self.fts5());
        expression
    }

    /// Returns the argument of PostgreSQL's `to_tsquery`.
    pub fn tsquery(&self) -> String {
        let phrase = |parts: Vec<String>| {
            let parts: Vec<_> = parts.iter().map(|part| format!("'{part}'")).collect();
            parts.join(" <-> ")
        };
        self.phrases().into_iter().map(phrase).collect::<Vec<_>>().join(" & ") + ":*"
    }

    /// Returns each word as the sequence of index words that it consists of.
    pub(crate) fn phrases(&self) -> Vec<Vec<String>> {
        let parts = |word: &String| {
            let folded = fold(word);
            folded.split(|c| !is_word_character(c)).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        self.words.iter().map(parts).filter(|parts: &Vec<_>| !parts.is_empty()).collect()
    }
}

/// Removes case and diacritics, as `search_fold` of the schema does.
pub(crate) fn fold(text: &str) -> String {
    text.nfd().filter(|c| !is_mark(*c)).flat_map(char::to_lowercase).collect()
}

/// Returns whether a character is a combining diacritic.
pub(crate) fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Returns whether a character is part of a word. Some scripts use combining marks, which are not
/// letters themselves.
pub(crate) fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || unicode_normalization::char::is_combining_mark(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_quoted() {
        let check = |text: &str, fts5: Option<&str>, tsquery: Option<&str>| {
            let terms = SearchTerms::parse(text);
            let expected = fts5.map(|words| format!("owner : \"o616461\" AND {words}"));
            assert_eq!(terms.as_ref().map(|terms| terms.fts5_for_owner("ada")), expected, "{text:?}");
            assert_eq!(terms.map(|terms| terms.tsquery()).as_deref(), tsquery, "{text:?}");
        };
        check("", None, None);
        check(" \" * - \u{0} ()", None, None);
        check("refund", Some("text : \"refund\" *"), Some("'refund':*"));
        check("Überweisung", Some("text : \"Überweisung\" *"), Some("'uberweisung':*"));
        check("a OR b", Some("text : \"a\" AND text : \"OR\" AND text : \"b\" *"), Some("'a' & 'or' & 'b':*"));
        check(
            "say \"hi\" NEAR(x*",
            Some("text : \"say\" AND text : \"\"\"hi\"\"\" AND text : \"NEAR(x*\" *"),
            Some("'say' & 'hi' & 'near' <-> 'x':*"),
        );
        check("nul\u{0}byte", Some("text : \"nul\" AND text : \"byte\" *"), Some("'nul' & 'byte':*"));
    }
}
