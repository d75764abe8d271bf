//! Reads files into trees, for programs that convert configs of another language.

use crate::diagnostic::Diagnostic;
use crate::files::normalize;
use crate::include::is_parsed;
use crate::parse::Loader;
use crate::{ConfigFiles, Location, Node, NodeKind, Report, Span};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The number of diagnostics that are kept.
const KEPT: usize = 1_000;

/// Reads files of one folder with the bounds of a config: sizes, nesting, aliases. Nothing outside the folder is read.
/// `_ref` is left to the caller. Collects diagnostics about the files.
pub struct SourceReader<'a> {
    files: ConfigFiles<'a>,
    report: Report,
    cache: HashMap<String, Option<(u32, Arc<str>)>>,
    bytes: usize,
    values: usize,
}

impl<'a> SourceReader<'a> {
    /// Reads from a folder on disk.
    pub fn folder(folder: PathBuf) -> Self {
        Self::new(ConfigFiles::Folder(folder))
    }

    /// Reads from pairs of a file name and a text.
    pub fn embedded(files: &'a [(&'a str, &'a str)]) -> Self {
        Self::new(ConfigFiles::Embedded(files))
    }

    fn new(files: ConfigFiles<'a>) -> Self {
        Self { files, report: Report::keeping(KEPT), cache: HashMap::new(), bytes: 0, values: 0 }
    }

    /// Returns the name of a file relative to the folder, without `.` and `..`. `None` if it is
    /// outside the folder.
    pub fn normalize(name: &str) -> Option<String> {
        normalize(name)
    }

    /// Whether a file is parsed as YAML or JSON. Any other file is text.
    pub fn is_parsed(name: &str) -> bool {
        is_parsed(name)
    }

    /// Reads a file by its normalized name. `asked_at` is where it is referred to; a file that
    /// cannot be read is reported there. `None` after an error, which has been reported.
    pub fn read(&mut self, name: &str, asked_at: Option<Span>) -> Option<Node> {
        let errors = self.report.error_count();
        let mut loader = Loader {
            files: &self.files,
            report: &mut self.report,
            cache: std::mem::take(&mut self.cache),
            bytes: self.bytes,
            values: self.values,
            include_stack: Vec::new(),
            limit_exceeded: false,
            resolves_refs: false,
        };
        let node = loader.open_file(name, asked_at).map(|(file, text)| {
            if is_parsed(name) {
                loader.document(file, &text, 0)
            } else {
                let at = Span { file, line: 1, column: 1, width: 1 };
                Node { at, kind: NodeKind::Text(text.to_string()) }
            }
        });
        (self.bytes, self.values, self.cache) = (loader.bytes, loader.values, loader.cache);
        node.filter(|_| self.report.error_count() == errors)
    }

    /// Reports an error.
    pub fn error(&mut self, at: Span, message: impl Into<String>, help: Option<String>) {
        self.report.error(at, message, help);
    }

    /// Reports a warning.
    pub fn warning(&mut self, at: Span, message: impl Into<String>, help: Option<String>) {
        self.report.warning(at, message, help);
    }

    /// Whether an error was reported.
    pub fn has_errors(&self) -> bool {
        self.report.has_errors()
    }

    /// Returns the number of warnings so far.
    pub fn warning_count(&self) -> usize {
        self.report.warning_count()
    }

    /// Converts a span to a location for messages.
    pub fn location(&self, at: Span) -> Location {
        self.report.location(at)
    }

    /// Returns the diagnostics in the order of the text.
    pub fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.report.into_diagnostics()
    }
}
