//! Notices about truncated results, for the model.

use super::budget::{BudgetLimit, WalkBudget};
use contract::ToolError;
use serde_json::Value;

/// Why a result is truncated.
pub(super) enum Truncation {
    /// The maximum number of items is reached; with a noun for them.
    Full(usize, &'static str),
    /// The result would be too long.
    Long,
    /// The walk exceeded its budget.
    Spent(BudgetLimit),
}

/// Returns the items. If they are truncated, the last one says so in `notice`; in this way all
/// items have the same shape.
///
/// # Errors
/// No item was found before the budget was used up: an empty list would mean that there are none.
pub(super) fn with_notice(mut items: Vec<Value>, what: &str, cut: Option<Truncation>) -> Result<Value, ToolError> {
    let Some(cut) = cut else { return Ok(Value::Array(items)) };
    let why = match cut {
        Truncation::Full(count, word) => format!("there are more than {count} {word}"),
        Truncation::Long => "the list is too long".to_owned(),
        Truncation::Spent(BudgetLimit::Time) => format!("it took longer than {} s", WalkBudget::TIME.as_secs()),
        Truncation::Spent(BudgetLimit::Entries) => format!("there are more than {} entries", WalkBudget::ENTRIES),
    };
    let notice = format!("[{what} — {why}. Narrow it down with path or glob.]");
    match items.last_mut().and_then(Value::as_object_mut) {
        Some(last) => drop(last.insert("notice".to_owned(), Value::String(notice))),
        None => return Err(ToolError::new(notice)),
    }
    Ok(Value::Array(items))
}
