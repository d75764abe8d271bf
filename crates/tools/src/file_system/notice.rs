//! What the model is told about a result that is not whole.

use super::budget::{Budget, Spent};
use contract::ToolError;
use serde_json::Value;

/// Why a result is not whole.
pub(super) enum Cut {
    /// It has so many items as are shown at most; a word for them.
    Full(usize, &'static str),
    /// It would be too long.
    Long,
    /// The walk was too long.
    Spent(Spent),
}

/// The items; the last one says in `notice` that there may be more, so that all items have one shape.
///
/// # Errors
/// When nothing was found until the end of the budget: an empty list would say that nothing is there.
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
