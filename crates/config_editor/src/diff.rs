//! Differences of two texts line by line, with the words that differ.

use crate::check;
use similar::{ChangeTag, TextDiff};
use std::time::Duration;
use wire::UserError;

/// The number of equal lines that are shown around a difference.
const CONTEXT: usize = 3;
/// How long two texts are compared; after that the rest counts as replaced.
const MAX_TIME: Duration = Duration::from_secs(2);
/// The most lines of a difference that are shown.
const MAX_LINES: usize = 2_000;

/// A line of a difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum DiffLine {
    /// A line of both texts.
    Same(String),
    /// Equal lines that are left out, or the end of a long difference.
    Gap,
    /// A line of the second text, in pieces; those with `true` are not in the first one.
    Added(Vec<(bool, String)>),
    /// A line of the first text, in pieces.
    Removed(Vec<(bool, String)>),
}

/// Returns the difference between two texts; nothing if they are equal.
///
/// # Errors
/// 503 if the server is busy.
pub(crate) async fn diff(before: Vec<String>, after: Vec<String>) -> Result<Vec<DiffLine>, UserError> {
    check::in_time(move || lines(&before, &after)).await
}

fn lines(before: &[String], after: &[String]) -> Vec<DiffLine> {
    let joined = |lines: &[String]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let (before, after) = (joined(before), joined(after));
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(&before, &after);
    let mut lines = Vec::new();
    for (index, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if index > 0 {
            lines.push(DiffLine::Gap);
        }
        for change in group.iter().flat_map(|op| diff.iter_inline_changes(op)) {
            if lines.len() >= MAX_LINES {
                lines.push(DiffLine::Gap);
                return lines;
            }
            let pieces = change.iter_strings_lossy();
            let pieces = pieces.map(|(differs, piece)| (differs, piece.trim_end_matches('\n').to_owned()));
            let pieces: Vec<_> = pieces.filter(|(_, piece)| !piece.is_empty()).collect();
            lines.push(match change.tag() {
                ChangeTag::Equal => DiffLine::Same(pieces.into_iter().map(|(_, piece)| piece).collect()),
                ChangeTag::Insert => DiffLine::Added(pieces),
                ChangeTag::Delete => DiffLine::Removed(pieces),
            });
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_compared_with_their_words() {
        let check = |before: &str, after: &str, expected: &[&str]| {
            let split = |text: &str| text.split('\n').map(str::to_owned).collect::<Vec<_>>();
            let pieces = |sign: &str, pieces: &[(bool, String)]| {
                let marked =
                    pieces.iter().map(|(differs, piece)| if *differs { format!("[{piece}]") } else { piece.clone() });
                format!("{sign} {}", marked.collect::<String>())
            };
            let shown = lines(&split(before), &split(after)).into_iter().map(|line| match line {
                DiffLine::Same(text) => format!("  {text}"),
                DiffLine::Gap => "…".to_owned(),
                DiffLine::Added(line) => pieces("+", &line),
                DiffLine::Removed(line) => pieces("-", &line),
            });
            assert_eq!(shown.collect::<Vec<_>>(), expected);
        };
        check("a\nb", "a\nb", &[]);
        check("a: one two three\nb", "a: one six three\nb", &["- a: one [two] three", "+ a: one [six] three", "  b"]);
        check("1\n2\n3\n4\n5\n6\n7\n8\n9\nold", "new\n1\n2\n3\n4\n5\n6\n7\n8\n9\nold", &["+ new", "  1", "  2", "  3"]);
        check(
            "x\n1\n2\n3\n4\n5\n6\n7\ny",
            "1\n2\n3\n4\n5\n6\n7",
            &["- x", "  1", "  2", "  3", "…", "  5", "  6", "  7", "- y"],
        );
    }
}
