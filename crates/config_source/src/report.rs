//! Positions in files, and the report in which problems are collected.

use crate::diagnostic::{Diagnostic, Excerpt, Severity};
use crate::mask::{MIN_SECRET, hidden_lines, mask_passwords, mask_secrets};
use crate::{ConfigSource, Node, SourceText};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

/// The number of diagnostics that are kept; further ones are only counted.
const MAX_DIAGNOSTICS: usize = 100;

/// The position of a value or a key: its start, and its length within that line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// The index of the file among those that were read.
    pub file: u32,
    /// The line, counted from 1. 0 stands for the whole file.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
    /// The number of characters, at least 1.
    pub width: u32,
}

/// The position of an entry, for messages. `Display` renders `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file's name in diagnostics.
    pub file: Arc<str>,
    /// The line, counted from 1.
    pub line: u32,
    /// The column in characters, counted from 1.
    pub column: u32,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A file that was requested.
#[derive(Debug)]
struct SourceFile {
    name: Arc<str>,
    /// The name in the folder of the config, for the files of a config.
    relative: Option<Arc<str>>,
    /// The text. `None` if the file could not be read.
    text: Option<Arc<str>>,
}

/// A text that was read, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownText {
    /// The name of the file in the folder of the config, or of the changes.
    pub name: Arc<str>,
    /// The lines. Secrets are hidden, and control characters replaced.
    pub lines: Vec<String>,
}

/// Collects the files that are read and the diagnostics about them.
#[derive(Debug, Default)]
pub struct Report {
    files: Vec<SourceFile>,
    /// The files on disk that were requested, whether or not they could be read.
    requested: Vec<PathBuf>,
    diagnostics: Vec<Diagnostic>,
    /// The number of errors, including those that are not kept.
    errors: usize,
    warnings: usize,
    /// The number of diagnostics that are kept. Default: [`MAX_DIAGNOSTICS`].
    keep: Option<usize>,
}

impl Report {
    /// A report that keeps more diagnostics than others.
    pub fn keeping(diagnostics: usize) -> Self {
        Self { keep: Some(diagnostics), ..Self::default() }
    }

    /// Adds a file, so that spans can refer to it.
    pub(crate) fn add_file(&mut self, name: &str, relative: Option<&str>, text: Option<Arc<str>>) -> u32 {
        self.files.push(SourceFile { name: name.into(), relative: relative.map(Into::into), text });
        u32::try_from(self.files.len() - 1).unwrap_or(u32::MAX)
    }

    pub(crate) fn add_requested(&mut self, file: Option<PathBuf>) {
        self.requested.extend(file);
    }

    /// Returns the files on disk that were requested.
    pub fn requested_files(&self) -> &[PathBuf] {
        &self.requested
    }

    /// Returns the texts of the config's files. `folder` is where they are, if they are on disk.
    pub fn source(&self, folder: Option<PathBuf>) -> ConfigSource {
        let file = |file: &SourceFile| Some(SourceText { name: file.relative.clone()?, text: file.text.clone()? });
        ConfigSource { folder, files: self.files.iter().filter_map(file).collect() }
    }

    /// Returns all texts that were read, changes of a config included, for people: each with its name, and its lines
    /// in which `secrets` are hidden. A secret that is included from a file of its own is hidden there.
    pub fn shown_texts(&self, secrets: &[&Node]) -> Vec<ShownText> {
        let texts: Vec<_> = secrets.iter().filter_map(|secret| secret.text()).collect();
        let files =
            self.files.iter().enumerate().filter_map(|(index, file)| Some((index, file, file.text.as_deref()?)));
        let shown = files.map(|(index, file, text)| {
            let here = secrets.iter().map(|secret| secret.at).filter(|at| at.file as usize == index);
            ShownText {
                name: file.relative.clone().unwrap_or_else(|| Arc::clone(&file.name)),
                lines: hidden_lines(text, &here.collect::<Vec<_>>(), &texts),
            }
        });
        shown.collect()
    }

    /// Returns a hash of the texts of all files.
    pub fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.files.iter().for_each(|file| file.text.hash(&mut hasher));
        hasher.finish()
    }

    /// Converts a span to a location for messages.
    pub fn location(&self, span: Span) -> Location {
        let file = self.files.get(span.file as usize).map_or_else(|| "".into(), |file| Arc::clone(&file.name));
        Location { file, line: span.line, column: span.column }
    }

    /// Reports an error.
    pub fn error(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.errors += 1;
        self.add(Severity::Error, span, message.into(), help);
    }

    /// Reports a warning.
    pub fn warning(&mut self, span: Span, message: impl Into<String>, help: Option<String>) {
        self.warnings += 1;
        self.add(Severity::Warning, span, message.into(), help);
    }

    fn add(&mut self, severity: Severity, span: Span, message: String, help: Option<String>) {
        if self.diagnostics.len() >= self.keep.unwrap_or(MAX_DIAGNOSTICS) {
            return;
        }
        let file = self.files.get(span.file as usize);
        let mut span = span;
        let text = file.and_then(|file| file.text.as_deref()).filter(|text| span.line > 0 && !text.is_empty());
        let mut line = text.and_then(|text| text.lines().nth(span.line as usize - 1));
        if let (None, Some(text)) = (line, text) {
            // An unexpected end of file is shown at the end of the last line.
            let (number, last) = text.lines().enumerate().last().unwrap_or_default();
            let column = last.chars().count() + 1;
            span = Span { line: to_u32(number + 1), column: to_u32(column), ..span };
            line = Some(last);
        }
        let file = file.map(|file| file.name.to_string()).unwrap_or_default();
        let (line, secrets) = line.map(mask_secrets).unzip();
        let secrets = secrets.into_iter().flatten().filter(|secret: &String| secret.len() >= MIN_SECRET);
        let message = secrets.fold(mask_passwords(&message), |text, secret| text.replace(&secret, "***"));
        self.diagnostics.push(Diagnostic {
            severity,
            file,
            line: span.line,
            column: span.column,
            message,
            help,
            excerpt: line.map(|line: String| Excerpt::new(&line, span.column, span.width)),
        });
    }

    /// Returns the number of errors so far.
    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// Returns the number of warnings so far.
    pub(crate) fn warning_count(&self) -> usize {
        self.warnings
    }

    /// Whether there are errors so far.
    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns the diagnostics in the order of the text: by file in the order of inclusion, then by
    /// line.
    pub fn into_diagnostics(mut self) -> Vec<Diagnostic> {
        let order = |name: &str| self.files.iter().position(|file| &*file.name == name);
        self.diagnostics.sort_by_cached_key(|diagnostic| (order(&diagnostic.file), diagnostic.line, diagnostic.column));
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

pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
