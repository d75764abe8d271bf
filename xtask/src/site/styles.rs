//! Combines a style sheet with those that it imports.

use anyhow::{Context, Result};
use std::collections::BTreeSet;
use std::path::Path;

/// The folder of the style sheets of chunks, each named after its chunk.
const CHUNKS: &str = "chunks";

/// Returns the chunks that have a style sheet, which is loaded with them.
pub(super) fn chunks_with_styles(folder: &Path) -> Result<BTreeSet<String>> {
    let files = std::fs::read_dir(folder.join(CHUNKS)).context("style/chunks")?;
    let name = |path: &Path| path.file_name()?.to_str()?.strip_suffix(".css").map(str::to_owned);
    let names = files.map(|file| Ok(name(&file?.path())));
    names.filter_map(Result::transpose).collect()
}

/// Returns the style sheet of a chunk, minified.
pub(super) fn of_chunk(folder: &Path, chunk: &str) -> Result<Vec<u8>> {
    concatenate(folder, &format!("{CHUNKS}/{chunk}.css"))
}

/// Returns a style sheet with each `@import "NAME.css";` line replaced by that file, minified.
pub(super) fn concatenate(folder: &Path, main: &str) -> Result<Vec<u8>> {
    let mut all = String::new();
    append(folder, main, &mut all)?;
    Ok(minify(&all).into_bytes())
}

/// Appends a style sheet with those that it imports.
fn append(folder: &Path, name: &str, all: &mut String) -> Result<()> {
    let content = std::fs::read_to_string(folder.join(name)).with_context(|| format!("style/{name}"))?;
    for line in content.lines() {
        match line.strip_prefix("@import \"").and_then(|rest| rest.strip_suffix("\";")) {
            Some(name) => append(folder, name, all)?,
            None => all.push_str(line),
        }
        all.push('\n');
    }
    Ok(())
}

/// Removes comments, indentation, empty lines, and line breaks that separate nothing.
fn minify(css: &str) -> String {
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
    let end = |line: &str| if line.ends_with(['{', '}', ';', ',']) { "" } else { "\n" };
    lines.fold(String::with_capacity(light.len()), |all, line| all + line + end(line))
}

/// Returns the length of the string literal at the start of the text, including its quotes.
fn string_length(text: &str, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    // The string may be unterminated. The result is a character boundary, since an escape may be
    // followed by a character of several bytes.
    let end = (at + 1).min(bytes.len());
    (end..=bytes.len()).find(|end| text.is_char_boundary(*end)).unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::minify;

    #[test]
    fn minify_keeps_strings_and_urls() {
        let check = |css: &str, expected: &str| assert_eq!(minify(css), expected);
        check("a {\n  color: red; /* why\n  so */\n\n}\n", "a {color: red;}");
        check("a,\nb\nc {\n  margin:\n    0\n    1px;\n}\n", "a,b\nc {margin:\n0\n1px;}");
        check("a { content: \"/* no */\"; b: url(x/y) }", "a { content: \"/* no */\"; b: url(x/y) }");
        check("a { content: '\\'/*é'; } /* open", "a { content: '\\'/*é'; }");
        check("a { content: \"é", "a { content: \"é\n");
        check("a { content: '\\é", "a { content: '\\é\n");
    }
}
