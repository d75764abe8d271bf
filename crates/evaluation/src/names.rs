//! Names in messages.

/// The most names in a message.
const MAX_NAMES: usize = 5;

/// Returns names for a message, such as "the case `a` and 3 more".
pub(crate) fn shown_names(what: &str, names: &[impl AsRef<str>]) -> String {
    let shown: Vec<_> = names.iter().take(MAX_NAMES).map(|name| format!("`{}`", name.as_ref())).collect();
    let more = names.len().saturating_sub(MAX_NAMES);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{what} {}{more}", shown.join(", "))
}
