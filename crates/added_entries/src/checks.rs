//! Checks of what administrators send.

use std::collections::BTreeSet;
use wire::UserError;

/// Checks the name of a new entry, which has at most `most` characters.
///
/// # Errors
/// 422.
pub fn check_name(name: &str, most: usize) -> Result<(), UserError> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let is_name = (1..=most).contains(&name.len()) && name.bytes().all(is_allowed) && !name.starts_with('-');
    // `new` is the page of a new entry.
    if is_name && name != "new" {
        Ok(())
    } else {
        refuse(
            "/name",
            format!("A name has 1 to {most} letters, digits, `-` and `_`, begins with no `-`, and is not `new`."),
        )
    }
}

/// Returns the texts in their order, each once.
pub fn unique<'t>(texts: impl IntoIterator<Item = &'t str>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    texts.into_iter().filter(|text| seen.insert(*text)).map(str::to_owned).collect()
}

/// Returns a sentence out of a problem in words.
pub fn sentence(problem: &str) -> String {
    let mut letters = problem.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}.", letters.as_str())
}

/// Refuses a field.
///
/// # Errors
/// 422, always.
pub fn refuse<T>(path: &str, message: impl Into<String>) -> Result<T, UserError> {
    Err(UserError::invalid(path, message))
}
