//! Finds the ends of code spans in a text.

use std::collections::{BTreeMap, VecDeque};

/// Finds the ends of code spans. Reads each paragraph once, however many spans begin in it; so the
/// queries must be in ascending order.
#[derive(Default)]
pub(super) struct CodeSpans {
    /// The end of the last paragraph that was read.
    end: usize,
    /// The positions of its runs of backticks, by the length of the run.
    runs: BTreeMap<usize, VecDeque<usize>>,
}

impl CodeSpans {
    /// Returns the end of the span that is opened by `ticks` backticks just before `from`, if it is
    /// closed within its paragraph.
    pub(super) fn find_end(&mut self, text: &str, from: usize, ticks: usize) -> Option<usize> {
        if from >= self.end {
            self.scan_paragraph(text, from);
        }
        let runs = self.runs.get_mut(&ticks)?;
        while runs.front().is_some_and(|at| *at < from) {
            runs.pop_front();
        }
        runs.pop_front().map(|at| at + ticks)
    }

    /// Returns the end of the paragraph of the last query.
    pub(super) fn paragraph_end(&self) -> usize {
        self.end
    }

    fn scan_paragraph(&mut self, text: &str, from: usize) {
        self.end = from + rest_of_paragraph(&text[from..]).len();
        self.runs.clear();
        let mut at = from;
        while let Some(found) = text[at..self.end].find('`') {
            let length = run_length(&text[at + found..self.end], '`');
            self.runs.entry(length).or_default().push_back(at + found);
            at += found + length;
        }
    }
}

/// Finds the next position of a delimiter. Reads the text once; so the queries must be in ascending
/// order.
pub(super) struct ForwardSearch {
    sign: &'static str,
    /// The position that was found last; the end of the text if there is none.
    found: Option<usize>,
}

impl ForwardSearch {
    pub(super) fn new(sign: &'static str) -> Self {
        Self { sign, found: None }
    }

    /// Returns the next position of the delimiter if all of it is before `limit`.
    pub(super) fn find(&mut self, text: &str, from: usize, limit: usize) -> Option<usize> {
        let at = match self.found {
            Some(found) if found >= from => found,
            _ => text[from..].find(self.sign).map_or(text.len(), |found| from + found),
        };
        self.found = Some(at);
        (at + self.sign.len() <= limit).then_some(at)
    }
}

/// Returns the rest of a paragraph: up to an empty line or a line that begins another block.
fn rest_of_paragraph(text: &str) -> &str {
    let mut end = first_line(text).len();
    while end < text.len() {
        let line = first_line(&text[end..]);
        if line.trim().is_empty() || may_end_paragraph(line.trim()) {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// Returns whether a line may end the paragraph above it, judging by its first characters. If it
/// does not in fact, a code span ends too early; that matters only if the span contains the
/// beginning of a formula.
fn may_end_paragraph(line: &str) -> bool {
    line.starts_with(['>', '<', '#', '=', '~', '-', '*', '+', '_'])
        || begins_with_digit(line)
        || line.starts_with("```")
}

pub(super) fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_digit())
}

/// Returns the first line with its line break.
pub(super) fn first_line(text: &str) -> &str {
    text.find('\n').map_or(text, |end| &text[..=end])
}

/// Returns how often a text repeats a character at its beginning.
pub(super) fn run_length(text: &str, sign: char) -> usize {
    text.len() - text.trim_start_matches(sign).len()
}
