//! Datasets as CSV: a row for each case, under a line with the names of the columns.

use super::{MAX_PROBLEMS, PlacedCase};
use crate::case::Case;
use crate::document::{from_value, problem_of_line};
use config::Diagnostic;
use csv::{ReaderBuilder, StringRecord};
use serde_json::{Map, Value, json};

/// Separates the tags of a case, and the texts of a list.
const SEPARATOR: char = '|';
/// The suffix of a column whose values are lists.
const LIST: &str = "[]";

/// A column.
#[derive(PartialEq, Eq)]
enum Column {
    Id,
    Input,
    Expected,
    /// `expected.NAME`
    ExpectedValue(String),
    /// `expected.NAME[]`
    ExpectedList(String),
    Tags,
    Split,
    Must,
    RatedAnswer,
    RatedLiked,
    /// `metadata.NAME`
    Metadata(String),
}

impl Column {
    fn named(name: &str) -> Option<Self> {
        Some(match name.trim() {
            "id" => Self::Id,
            "input" => Self::Input,
            "expected" => Self::Expected,
            "tags" => Self::Tags,
            "split" => Self::Split,
            "must" => Self::Must,
            "rated.answer" => Self::RatedAnswer,
            "rated.liked" => Self::RatedLiked,
            other => match other.split_once('.')? {
                ("expected", key) if key.len() > LIST.len() && key.ends_with(LIST) => {
                    Self::ExpectedList(key.trim_end_matches(LIST).to_owned())
                }
                ("expected", key) if !key.is_empty() => Self::ExpectedValue(key.to_owned()),
                ("metadata", key) if !key.is_empty() => Self::Metadata(key.to_owned()),
                _ => return None,
            },
        })
    }
}

/// Reads the cases.
///
/// # Errors
/// The problems of the file, with their lines.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<PlacedCase>, Vec<Diagnostic>> {
    let mut reader = ReaderBuilder::new().from_reader(text.as_bytes());
    let columns = columns(name, reader.headers().map_err(|error| vec![unreadable(name, &error)])?)?;
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for record in reader.records() {
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
        let record = match record {
            Ok(record) => record,
            Err(error) => {
                problems.push(unreadable(name, &error));
                continue;
            }
        };
        let line = record.position().map_or(0, |position| position.line() as usize);
        match case(&columns, &record) {
            Ok(case) => {
                let found = case.problems().into_iter();
                problems.extend(found.map(|(_, message)| problem_of_line(name, (line, 1), message)));
                cases.push((case, format!("{name}:{line}")));
            }
            Err(message) => problems.push(problem_of_line(name, (line, 1), message)),
        }
    }
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}

fn unreadable(name: &str, error: &csv::Error) -> Diagnostic {
    let line = error.position().map_or(0, |position| position.line() as usize);
    problem_of_line(name, (line, usize::from(line > 0)), format!("the row cannot be read: {error}"))
}

fn columns(name: &str, header: &StringRecord) -> Result<Vec<Column>, Vec<Diagnostic>> {
    let (mut columns, mut problems) = (Vec::new(), Vec::new());
    let mut add = |message: String| problems.push(problem_of_line(name, (1, 1), message));
    for title in header {
        match Column::named(title) {
            Some(column) if columns.contains(&column) => add(format!("there are two columns `{title}`")),
            Some(column) => columns.push(column),
            None if header.len() == 1 && title.contains([';', '\t']) => {
                let other = if title.contains(';') { "semicolons" } else { "tabs" };
                add(format!("the columns are separated by {other}; separate them by commas (`id,input,expected`)"));
            }
            None => add(format!(
                "unknown column `{title}`; columns are `id`, `input`, `expected`, `expected.NAME`, `expected.NAME[]`, `tags`, `split`, `must`, `rated.answer`, `rated.liked` and `metadata.NAME`"
            )),
        }
    }
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(columns) } else { Err(problems) }
}

fn case(columns: &[Column], record: &StringRecord) -> Result<Case, String> {
    let mut case = Map::new();
    let (mut expected, mut metadata, mut rated) = (Map::new(), Map::new(), Map::new());
    for (column, text) in columns.iter().zip(record) {
        // An empty cell is no value, but an empty input is a mistake.
        if text.is_empty() && !matches!(column, Column::Id | Column::Input) {
            continue;
        }
        let mut put = |key: &str, value: Value| drop(case.insert(key.to_owned(), value));
        match column {
            Column::Id => put("id", json!(text)),
            Column::Input => put("input", json!(text)),
            Column::Expected => put("expected", json!(text)),
            Column::Split => put("split", json!(text)),
            Column::Tags => put("tags", texts(text)),
            Column::Must => put("must", json!(truth("must", text)?)),
            Column::RatedAnswer => drop(rated.insert("answer".to_owned(), json!(text))),
            Column::RatedLiked => drop(rated.insert("liked".to_owned(), json!(truth("rated.liked", text)?))),
            Column::ExpectedList(key) => drop(expected.insert(key.clone(), texts(text))),
            Column::ExpectedValue(key) => drop(expected.insert(key.clone(), json!(text))),
            Column::Metadata(key) => drop(metadata.insert(key.clone(), json!(text))),
        }
    }
    if !expected.is_empty() && case.insert("expected".to_owned(), Value::Object(expected)).is_some() {
        return Err("a case has either `expected` or `expected.NAME`".to_owned());
    }
    if !rated.is_empty() {
        case.insert("rated".to_owned(), Value::Object(rated));
    }
    case.insert("metadata".to_owned(), Value::Object(metadata));
    from_value(Value::Object(case)).map_err(|(_, message)| message)
}

/// Returns the texts of a cell as a list.
fn texts(cell: &str) -> Value {
    cell.split(SEPARATOR).map(str::trim).collect()
}

fn truth(column: &str, text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" | "yes" | "1" => Ok(true),
        "false" | "no" | "0" => Ok(false),
        _ => Err(format!("`{column}` is `true` or `false`, not `{text}`")),
    }
}
