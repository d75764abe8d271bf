//! Reads YAML texts as typed values, and reports problems at their positions.

use config::{Diagnostic, Severity, ValueProblem, problems_in_yaml, read_yaml};
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_path_to_error::{Path, Segment};

/// A text with the name of its file, which ends in `.yaml`.
#[derive(Clone, Copy)]
pub(crate) struct Document<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Document<'_> {
    /// Reads the document. `check` returns further problems: pairs of a JSON pointer and a message.
    ///
    /// # Errors
    /// The problems of the document, each with its position.
    pub(crate) fn read<T: DeserializeOwned>(
        self,
        check: impl FnOnce(&T) -> Vec<(String, String)>,
    ) -> Result<T, Vec<Diagnostic>> {
        let value = read_yaml(self.file, self.text)?;
        let read: T = from_value(value).map_err(|problem| self.problems(vec![problem]))?;
        let problems = check(&read);
        if problems.is_empty() { Ok(read) } else { Err(self.problems(problems)) }
    }

    /// Returns problems, pairs of a JSON pointer and a message, at their positions.
    pub(crate) fn problems(self, problems: Vec<(String, String)>) -> Vec<Diagnostic> {
        let problems = problems.into_iter();
        let problems = problems.map(|(path, message)| ValueProblem { path, message, help: None }).collect();
        problems_in_yaml(self.file, self.text, problems)
    }
}

/// Converts a value. An error is a pair of a JSON pointer and a message.
pub(crate) fn from_value<T: DeserializeOwned>(value: Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| (pointer(error.path()), error.inner().to_string()))
}

fn pointer(path: &Path) -> String {
    let segments = path.iter().map(|segment| match segment {
        Segment::Seq { index } => format!("/{index}"),
        Segment::Map { key } => format!("/{}", key.replace('~', "~0").replace('/', "~1")),
        Segment::Enum { variant } => format!("/{variant}"),
        Segment::Unknown => String::new(),
    });
    segments.collect()
}

/// Returns a problem of a line, which is not YAML.
pub(crate) fn problem_of_line(file: &str, (line, column): (usize, usize), message: impl Into<String>) -> Diagnostic {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Diagnostic {
        severity: Severity::Error,
        file: file.to_owned(),
        line: number(line),
        column: number(column),
        message: message.into(),
        help: None,
        excerpt: None,
    }
}

/// Returns a problem of a whole file.
pub(crate) fn problem_of_file(file: &str, message: impl Into<String>) -> Diagnostic {
    problem_of_line(file, (0, 0), message)
}
