//! `search-files`.

use super::base::{self, BaseFolder};
use super::budget::WalkBudget;
use super::glob::Glob;
use super::input::object;
use super::notice::{Truncation, with_notice};
use super::path::BasePath;
use super::walk::{WalkEnd, walk};
use contract::{ToolError, ToolSpec};
use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use std::ops::{ControlFlow, Range};

/// The maximum number of matching lines, in all files together.
pub(super) const MAX_MATCHES: usize = 200;
/// The maximum size of a file that is searched, in bytes.
pub(super) const MAX_FILE: usize = 1024 * 1024;
/// The maximum number of characters that are shown of a line.
pub(super) const MAX_LINE: usize = 300;
/// The maximum length of a query in characters.
const MAX_QUERY: usize = 500;
/// The number of characters that are shown before a match in a truncated line.
const LEAD: usize = 60;

#[derive(Deserialize)]
pub(super) struct SearchInput {
    query: String,
    glob: Option<String>,
}

/// Returns the declaration of the tool.
pub(super) fn spec() -> ToolSpec {
    let query = "The text to find, regardless of case. It is not a regular expression.";
    let glob = "The files to search, for example `docs/**/*.md`; all files if omitted.";
    let properties = [
        ("query", json!({ "type": "string", "minLength": 1, "maxLength": MAX_QUERY, "description": query })),
        ("glob", json!({ "type": "string", "maxLength": Glob::MAX_CHARS, "description": glob })),
    ];
    let description = format!(
        "Finds text in files: line numbers and lines, each with the lines before and after. At most {MAX_MATCHES} matches; \
         files larger than {} MB are left out.",
        MAX_FILE / (1024 * 1024)
    );
    ToolSpec::new("search-files", description, object(properties, &["query"]))
}

/// Returns the matches, file by file.
pub(super) fn run(base: &BaseFolder, input: SearchInput, budget: &mut WalkBudget) -> Result<Value, ToolError> {
    let glob = Glob::parse(input.glob.as_deref().unwrap_or("**/*"))?;
    let query = query(&input.query)?;
    let (mut files, mut left, mut more) = (Vec::new(), MAX_MATCHES, false);
    let start = BasePath::base();
    let walked = walk(base, &start, glob.depth, budget, |path, _| {
        // Files that cannot be read are omitted, and so are those that lead out of the base.
        if let Some(text) = glob.fits(path.relative_to(&start)).then(|| searchable(base, path)).flatten() {
            let matches = matches(&text, &query, left + 1);
            more = matches.len() > left;
            let matches: Vec<Value> = matches.into_iter().take(left).collect();
            left -= matches.len();
            if !matches.is_empty() {
                files.push(json!({ "path": path.display_path(), "matches": matches }));
            }
        }
        if more { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    let cut = match walked.map_err(|refusal| refusal.into_tool_error("."))? {
        WalkEnd::Complete => None,
        WalkEnd::Enough => Some(Truncation::Full(MAX_MATCHES, "matches")),
        WalkEnd::Spent(spent) => Some(Truncation::Spent(spent)),
    };
    with_notice(files, "Search stopped", cut)
}

/// Compiles the query. Any query is matched in linear time.
fn query(text: &str) -> Result<Regex, ToolError> {
    let pattern = RegexBuilder::new(&regex::escape(text)).case_insensitive(true).size_limit(1024 * 1024).build();
    match pattern {
        Ok(pattern) if !text.is_empty() => Ok(pattern),
        Ok(_) => Err(ToolError::new("The query is empty.")),
        Err(_) => Err(ToolError::new("The query is too long.")),
    }
}

/// Returns the text of a file, unless it is too large or binary.
fn searchable(base: &BaseFolder, path: &BasePath) -> Option<String> {
    let file = base.open_file(path).ok().filter(|file| file.size <= MAX_FILE as u64)?;
    base::text(&file.read(MAX_FILE).ok()?)
}

/// Returns at most `most` matching lines, with the lines before and after.
fn matches(text: &str, query: &Regex, most: usize) -> Vec<Value> {
    if !query.is_match(text) {
        return Vec::new();
    }
    let (mut found, mut before) = (Vec::new(), None);
    let mut lines = text.lines().enumerate().peekable();
    while let Some((index, line)) = lines.next() {
        if found.len() == most {
            break;
        }
        if let Some(place) = query.find(line) {
            let after = lines.peek().map(|(_, line)| excerpt(line, 0..0));
            let context = json!({ "before": before.map(|line| excerpt(line, 0..0)), "after": after });
            found.push(json!({ "lineNumber": index + 1, "line": excerpt(line, place.range()), "context": context }));
        }
        before = Some(line);
    }
    found
}

/// Returns a line, or the text around `place` if the line is long; `…` marks omitted text.
fn excerpt(line: &str, place: Range<usize>) -> String {
    if line.chars().nth(MAX_LINE).is_none() {
        return line.to_owned();
    }
    let lead = line[..place.start].char_indices().rev().take(LEAD).last().map_or(place.start, |(at, _)| at);
    let shown: String = line[lead..].chars().take(MAX_LINE).collect();
    let (front, back) = (if lead > 0 { "…" } else { "" }, if lead + shown.len() < line.len() { "…" } else { "" });
    format!("{front}{shown}{back}")
}
