//! One style sheet out of those that another imports.

use anyhow::{Context, Result};
use std::path::Path;

/// A style sheet with each `@import "NAME.css";` line replaced by the file, and without comments and indentation.
pub(super) fn concatenate(folder: &Path, main: &str) -> Result<Vec<u8>> {
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).with_context(|| format!("style/{name}"));
    let mut all = String::new();
    for line in read(main)?.lines() {
        match line.strip_prefix("@import \"").and_then(|rest| rest.strip_suffix("\";")) {
            Some(name) => all.push_str(&read(name)?),
            None => all.push_str(line),
        }
        all.push('\n');
    }
    Ok(lighten(&all).into_bytes())
}

/// Leaves out what only people read.
fn lighten(css: &str) -> String {
    let mut light = String::with_capacity(css.len());
    let mut rest = css;
    while let Some(at) = rest.find(['"', '\'', '/']) {
        let (before, from) = rest.split_at(at);
        light.push_str(before);
        let length = match from.as_bytes()[0] {
            b'/' if from.starts_with("/*") => {
                rest = from.find("*/").map_or("", |end| &from[end + 2..]);
                continue;
            }
            b'/' => 1,
            quote => string_length(from, quote),
        };
        light.push_str(&from[..length]);
        rest = &from[length..];
    }
    light.push_str(rest);
    let lines = light.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.fold(String::with_capacity(light.len()), |all, line| all + line + "\n")
}

/// The length of the string that begins the text, with its quotes.
fn string_length(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    // The end may be the file's, and no character is cut: both quotes and what they escape in CSS are ASCII or stay whole.
    let end = (at + 1).min(bytes.len());
    (end..=bytes.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::lighten;

    #[test]
    fn only_what_people_read_is_left_out() {
        let check = |css: &str, expected: &str| assert_eq!(lighten(css), expected);
        check("a {\n  color: red; /* why\n  so */\n\n}\n", "a {\ncolor: red;\n}\n");
        check("a { content: \"/* no */\"; b: url(x/y) }", "a { content: \"/* no */\"; b: url(x/y) }\n");
        check("a { content: '\\'/*é'; } /* open", "a { content: '\\'/*é'; }\n");
        check("a { content: \"é", "a { content: \"é\n");
        check("a { content: '\\é", "a { content: '\\é\n");
    }
}
