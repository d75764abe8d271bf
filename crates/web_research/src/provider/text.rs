//! Texts of results: without markup and characters that nobody sees.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use regex::Regex;
use std::sync::LazyLock;

/// The tags with which providers mark the words that were found.
static TAGS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?i)</?(?:strong|em|b|i|mark|span|br)(?:\s[^<>]{0,100})?/?>").ok());

/// The entities that providers write.
const ENTITIES: [(&str, &str); 7] =
    [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&#x27;", "'"), ("&nbsp;", " "), ("&amp;", "&")];

/// Returns a text in one line of at most `most` characters, without markup and invisible characters.
pub(super) fn clean(text: &str, most: usize) -> String {
    let mut text = match &*TAGS {
        Some(tags) => tags.replace_all(text, "").into_owned(),
        None => text.to_owned(),
    };
    if text.contains('&') {
        text = ENTITIES.iter().fold(text, |text, (entity, plain)| text.replace(entity, plain));
    }
    let visible: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    let mut line = String::new();
    for word in visible.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(most) {
        Some(_) => {
            let end = line.char_indices().nth(most.saturating_sub(1)).map_or(line.len(), |(end, _)| end);
            format!("{}…", &line[..end])
        }
        None => line,
    }
}

/// Returns whether a character is not seen: in such characters a text can carry instructions that no
/// user notices.
pub(crate) fn is_invisible(c: char) -> bool {
    let is_control = c.is_control() && !c.is_whitespace();
    let is_format = matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
    );
    is_control || is_format
}

/// Returns a date as `2026-11-24` from the forms that providers write.
pub(super) fn date(text: &str) -> Option<String> {
    let text = text.trim();
    let date = text.parse::<Timestamp>().ok().map(|at| at.to_zoned(jiff::tz::TimeZone::UTC).date());
    let date = date.or_else(|| text.parse::<DateTime>().ok().map(|at| at.date()));
    let date = date.or_else(|| text.parse::<Date>().ok());
    let date = date.or_else(|| jiff::fmt::rfc2822::parse(text).ok().map(|at| at.date()));
    date.map(|date| date.to_string())
}
