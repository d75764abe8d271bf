//! Reads datasets: files with cases, as JSON Lines, CSV or YAML.

mod csv_file;
mod json_lines;

use crate::case::Case;
use crate::document::{Document, problem_of_file};
use config::Diagnostic;
use serde::Deserialize;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file in bytes.
pub(crate) const MAX_BYTES: u64 = 64 << 20;
/// The most cases of an evaluation.
pub(crate) const MAX_CASES: usize = 100_000;
/// The most problems that are reported of a file.
const MAX_PROBLEMS: usize = 50;

/// A case with the place where it is written.
pub(crate) type PlacedCase = (Case, String);

/// Which cases of a dataset are evaluated; all by default.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// The ids of cases. Empty: all.
    pub ids: Vec<String>,
    /// The part of the dataset.
    pub split: Option<String>,
    /// Cases with one of these tags. Empty: all.
    pub tags: Vec<String>,
}

impl Selection {
    /// Returns the selected cases, in their order.
    ///
    /// # Errors
    /// A case that is named does not exist, or no case is selected.
    pub fn apply(&self, cases: Vec<Case>) -> Result<Vec<Case>, String> {
        if let Some(unknown) = self.ids.iter().find(|id| cases.iter().all(|case| case.id != **id)) {
            return Err(format!("there is no case `{unknown}` in the dataset"));
        }
        let is_selected = |case: &Case| {
            (self.ids.is_empty() || self.ids.contains(&case.id))
                && self.split.as_ref().is_none_or(|split| case.split.as_ref() == Some(split))
                && (self.tags.is_empty() || case.tags.iter().any(|tag| self.tags.contains(tag)))
        };
        let selected: Vec<_> = cases.into_iter().filter(is_selected).collect();
        if selected.is_empty() { Err("no case is selected".to_owned()) } else { Ok(selected) }
    }
}

/// Reads a text file of at most 64 MB. `name` is the file in messages.
///
/// # Errors
/// It cannot be read, is too large, or is not UTF-8.
pub fn read_text(path: &Path, name: &str) -> Result<String, Vec<Diagnostic>> {
    let problem = |message: String| vec![problem_of_file(name, message)];
    let unreadable = |error: std::io::Error| problem(format!("the file cannot be read: {error}"));
    let mut bytes = Vec::new();
    File::open(path).map_err(unreadable)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(problem(format!("the file is larger than {} MB", MAX_BYTES >> 20)));
    }
    let text = String::from_utf8(bytes).map_err(|_| problem("the file is not UTF-8".to_owned()))?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads the cases of a file by its extension. `name` is the file in messages.
///
/// # Errors
/// The problems of the file.
pub(crate) fn read_cases(name: &str, text: &str) -> Result<Vec<PlacedCase>, Vec<Diagnostic>> {
    let extension = Path::new(name).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    match extension.to_ascii_lowercase().as_str() {
        "jsonl" | "ndjson" => json_lines::read(name, text),
        "csv" => csv_file::read(name, text),
        "yaml" | "yml" => yaml_cases(name, text),
        _ => Err(vec![problem_of_file(name, "a dataset is a .jsonl, .csv or .yaml file")]),
    }
}

fn yaml_cases(name: &str, text: &str) -> Result<Vec<PlacedCase>, Vec<Diagnostic>> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Cases(Vec<Case>);
    let document = Document { file: name, text };
    let Cases(cases) = document.read(|Cases(cases)| {
        let cases = cases.iter().enumerate();
        let problems = cases.flat_map(|(index, case)| {
            case.problems().into_iter().map(move |(path, message)| (format!("/{index}{path}"), message))
        });
        problems.take(MAX_PROBLEMS).collect()
    })?;
    let cases = cases.into_iter().enumerate();
    Ok(cases.map(|(index, case)| (case, format!("{name}, item {}", index + 1))).collect())
}

/// Checks the cases of all files together.
///
/// # Errors
/// An id that is used twice, or too many cases.
pub(crate) fn joined(cases: Vec<PlacedCase>) -> Result<Vec<Case>, Vec<Diagnostic>> {
    if cases.len() > MAX_CASES {
        return Err(vec![problem_of_file("the dataset", format!("there are more than {MAX_CASES} cases"))]);
    }
    let (mut places, mut problems) = (HashMap::new(), Vec::new());
    for (case, place) in &cases {
        if let Some(first) = places.insert(case.id.as_str(), place.as_str()) {
            problems.push(problem_of_file(place, format!("the case `{}` is in {first} already", case.id)));
        }
    }
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(cases.into_iter().map(|(case, _)| case).collect()) } else { Err(problems) }
}
