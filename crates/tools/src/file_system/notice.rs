//! Notices about truncated results, for the model.

use super::budget::{Budget, Spent};
use contract::ToolError;
use serde_json::Value;

/// Why a result is truncated.
pub(super) enum Cut {
    /// The maximum number of items is reached; with a noun for them.
    Full(usize, &'static str),
    /// The result would be too long.
    Long,
    /// The walk exceeded its budget.
    Spent(Spent),
}

/// Returns the items. If they are truncated, the last one says so in `notice`; in this way all
/// items have the same shape.
///
/// # Errors
/// Nothing was found before the budget was used up: an empty list would mean that nothing exists.
pub(super) fn with_notice(mut items: Vec<Value>, what: &str, cut: Option<Cut>) -> Result<Value, ToolError> {
    let Some(cut) = cut else { return Ok(Value::Array(items)) };
    let why = match cut {
        Cut::Full(count, word) => format!("there are more than {count} {word}"),
        Cut::Long => "the list is too long".to_owned(),
        Cut::Spent(Spent::Time) => format!("it took longer than {} s", Budget::TIME.as_secs()),
        Cut::Spent(Spent::Entries) => format!("there are more than {} entries", Budget::ENTRIES),
    };
    let notice = format!("[{what} — {why}. Narrow it down with path or glob.]");
    match items.last_mut().and_then(Value::as_object_mut) {
        Some(last) => drop(last.insert("notice".to_owned(), Value::String(notice))),
        None => return Err(ToolError::new(notice)),
    }
    Ok(Value::Array(items))
}
