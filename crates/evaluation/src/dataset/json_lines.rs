//! Datasets as JSON Lines: a JSON object for each case. Empty lines are skipped.

use super::{MAX_PROBLEMS, PlacedCase};
use crate::case::Case;
use crate::document::problem_of_line;
use config::Diagnostic;

/// Reads the cases.
///
/// # Errors
/// The problems of the file, with their lines.
pub(super) fn read(name: &str, text: &str) -> Result<Vec<PlacedCase>, Vec<Diagnostic>> {
    let (mut cases, mut problems) = (Vec::new(), Vec::new());
    for (line, number) in text.lines().zip(1..) {
        if line.trim().is_empty() {
            continue;
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
        match serde_json::from_str::<Case>(line) {
            Ok(case) => {
                let found = case.problems().into_iter();
                problems.extend(found.map(|(path, message)| {
                    problem_of_line(name, (number, 1), format!("`{}`: {message}", path.trim_start_matches('/')))
                }));
                cases.push((case, format!("{name}:{number}")));
            }
            Err(error) => {
                // The position is reported apart.
                let message = error.to_string();
                let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
                problems.push(problem_of_line(name, (number, error.column().max(1)), message));
            }
        }
    }
    if problems.is_empty() { Ok(cases) } else { Err(problems) }
}
