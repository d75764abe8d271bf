//! Files → a tree in which every key and value knows where it was written.

mod files;
mod include;
mod parse;
mod scalar;
mod tree;

pub(crate) use files::Files;
pub(crate) use parse::load;
pub(crate) use tree::{Entry, Kind, Node, Step};

use crate::diagnostic::{Diagnostic, Excerpt, Severity};
use crate::mask::mask;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of one file.
pub(crate) const MAX_FILE_BYTES: usize = 1 << 20;
/// Bytes of all files, each counted as often as it is included.
pub(crate) const MAX_TOTAL_BYTES: usize = 10 << 20;
/// How deep lists, mappings and includes may nest.
pub(crate) const MAX_DEPTH: usize = 64;
/// Values in the whole tree, with aliases and includes expanded.
pub(crate) const MAX_VALUES: usize = 500_000;

/// Problems that are shown; who has more of them starts with these.
const MAX_DIAGNOSTICS: usize = 100;

/// A place in a file: where something starts and how many characters of that line it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    /// Index into [`Sources`].
    pub(crate) file: u32,
    /// From 1; 0 for the file as a whole.
    pub(crate) line: u32,
    /// From 1, in characters.
    pub(crate) column: u32,
    /// At least 1.
    pub(crate) width: u32,
}

/// A place in a config, for messages about a thing that was declared there. `Display` gives `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file as diagnostics name it.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
    /// From 1, in characters.
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One file that was read.
#[derive(Debug)]
struct SourceFile {
    name: Arc<str>,
    /// `None` when it could not be read.
    text: Option<Arc<str>>,
}

/// All files that were read, and what was found wrong in them so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    files: Vec<SourceFile>,
    /// Files on disk that were asked for, whether or not they could be read.
    asked: Vec<PathBuf>,
    diagnostics: Vec<Diagnostic>,
    /// All of them, with those that are not shown.
    errors: usize,
    warnings: usize,
}

impl Report {
    /// Remembers a file, so that spans can point into it.
    fn add_file(&mut self, name: &str, text: Option<Arc<str>>) -> u32 {
        self.files.push(SourceFile { name: name.into(), text });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    fn ask(&mut self, file: Option<PathBuf>) {
        self.asked.extend(file);
    }

    /// The files on disk that were asked for.
    pub(crate) fn asked(&self) -> &[PathBuf] {
        &self.asked
    }

    /// Tells texts apart.
    pub(crate) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.files.iter().for_each(|file| file.text.hash(&mut hasher));
        hasher.finish()
    }

    /// Where a span is, for people.
    pub(crate) fn location(&self, span: Span) -> Location {
        let file = self.files.get(span.file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.name));
        Location { file, line: span.line, column: span.column }
    }

    /// An error at a place.
    pub(crate) fn error(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.errors += 1;
        self.add(Severity::Error, span, message.into(), help);
    }

    /// A warning at a place.
    pub(crate) fn warning(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.warnings += 1;
        self.add(Severity::Warning, span, message.into(), help);
    }

    fn add(&mut self, severity: Severity, span: Span, message: String, help: Option<String>) {
        if self.diagnostics.len() == MAX_DIAGNOSTICS {
            return;
        }
        let file = self.files.get(span.file as usize);
        let mut span = span;
        let text = file.and_then(|file| file.text.as_deref()).filter(|text| span.line > 0 && !text.is_empty());
        let mut line = text.and_then(|text| text.lines().nth(span.line as usize - 1));
        if let (None, Some(text)) = (line, text) {
            // What ends too early is shown at the end of the last line.
            let (number, last) = text.lines().enumerate().last().unwrap_or_default();
            let column = last.chars().count() + 1;
            span = Span { line: small(number + 1), column: small(column), ..span };
            line = Some(last);
        }
        self.diagnostics.push(Diagnostic {
            severity,
            file: file.map(|file| file.name.to_string()).unwrap_or_default(),
            line: span.line,
            column: span.column,
            message: mask(&message),
            help,
            excerpt: line.map(|line| Excerpt::new(&mask(line), span.column, span.width)),
        });
    }

    /// How many errors there are so far.
    pub(crate) fn error_count(&self) -> usize {
        self.errors
    }

    /// Whether anything so far is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// All of them in the order of the text: files as they were first included, then lines.
    pub(crate) fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        let order = |name: &str| self.files.iter().position(|file| &*file.name == name);
        self.diagnostics.sort_by_key(|diagnostic| (order(&diagnostic.file), diagnostic.line, diagnostic.column));
        let hidden = self.errors + self.warnings - self.diagnostics.len();
        if let Some(last) = self.diagnostics.last().filter(|_| hidden > 0) {
            self.diagnostics.push(Diagnostic {
                severity: if self.errors > 0 { Severity::Error } else { Severity::Warning },
                file: last.file.clone(),
                line: 0,
                column: 0,
                message: format!("there are {hidden} more problems, which are not shown"),
                help: None,
                excerpt: None,
            });
        }
        self.diagnostics
    }
}

fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
