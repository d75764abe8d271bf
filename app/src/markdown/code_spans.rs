//! The ends of code spans within a text.

use std::collections::{BTreeMap, VecDeque};

/// Finds the ends of code spans. Each paragraph is read once, however many spans begin in it, so openers must be asked for
/// from first to last.
#[derive(Default)]
pub(super) struct CodeSpans {
    /// The end of the paragraph that was read last.
    end: usize,
    /// The positions of its runs of backticks by their length.
    runs: BTreeMap<usize, VecDeque<usize>>,
}

impl CodeSpans {
    /// Returns the end of the span that is opened by `ticks` backticks just before `from`, if its paragraph closes it.
    pub(super) fn end_of(&mut self, text: &str, from: usize, ticks: usize) -> Option<usize> {
        if from >= self.end {
            self.read(text, from);
        }
        let runs = self.runs.get_mut(&ticks)?;
        while runs.front().is_some_and(|at| *at < from) {
            runs.pop_front();
        }
        runs.pop_front().map(|at| at + ticks)
    }

    /// The end of the paragraph with the opener that was asked for last.
    pub(super) fn paragraph_end(&self) -> usize {
        self.end
    }

    fn read(&mut self, text: &str, from: usize) {
        self.end = from + paragraph(&text[from..]).len();
        self.runs.clear();
        let mut at = from;
        while let Some(found) = text[at..self.end].find('`') {
            let length = run(&text[at + found..self.end], '`');
            self.runs.entry(length).or_default().push_back(at + found);
            at += found + length;
        }
    }
}

/// Finds the next position of a sign. The text is read once, so positions must be asked for from first to last.
pub(super) struct Next {
    sign: &'static str,
    /// The position that was found last; the end of the text if there is none.
    found: Option<usize>,
}

impl Next {
    pub(super) fn new(sign: &'static str) -> Self {
        Self { sign, found: None }
    }

    /// Returns where the sign begins next, if that is before `limit` as a whole.
    pub(super) fn find(&mut self, text: &str, from: usize, limit: usize) -> Option<usize> {
        let at = match self.found {
            Some(found) if found >= from => found,
            _ => text[from..].find(self.sign).map_or(text.len(), |found| from + found),
        };
        self.found = Some(at);
        (at + self.sign.len() <= limit).then_some(at)
    }
}

/// The rest of a paragraph: as far as no line is empty or begins another block.
fn paragraph(text: &str) -> &str {
    let mut end = line_of(text).len();
    while end < text.len() {
        let line = line_of(&text[end..]);
        if line.trim().is_empty() || interrupts(line.trim()) {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// Whether a line may end the paragraph above it, as far as its first sign says. Where it does not, code ends too early, which shows only if
/// there is the beginning of a formula in it.
fn interrupts(line: &str) -> bool {
    line.starts_with(['>', '<', '#', '=', '~', '-', '*', '+', '_'])
        || begins_with_digit(line)
        || line.starts_with("```")
}

pub(super) fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|sign: char| sign.is_ascii_digit())
}

/// The first line, with its end.
pub(super) fn line_of(text: &str) -> &str {
    text.find('\n').map_or(text, |end| &text[..=end])
}

/// The length of the run of a sign that a text begins with.
pub(super) fn run(text: &str, sign: char) -> usize {
    text.len() - text.trim_start_matches(sign).len()
}
