//! Warns of values in the path of an `Http` request that are not encoded.

use crate::section::Context;
use config_source::{Node, Span};

/// The operators that read values which callers and other services choose.
const READS: [&str; 6] = ["_payload", "_step", "_state", "_item", "_error", "_expr"];
/// The operators whose values are encoded, or are no part of the path.
const SAFE: [&str; 10] = ["_template", "_uri.encode", "_eq", "_ne", "_gt", "_gte", "_lt", "_lte", "_not", "_type"];
/// The arguments of operators that only decide which other argument is the value.
const CONDITIONS: [&str; 2] = ["test", "if"];

/// Warns of the first value in the path of a step that is not encoded as one segment, so that it can lead to every path
/// below the base URL.
pub(crate) fn warn_of_plain_values(step: &Node, context: &mut Context<'_, '_>) {
    let Some(path) = step.get("properties").and_then(|properties| properties.value.get("path")) else { return };
    // The parts of a text are encoded.
    if matches!(path.value.entries(), [entry] if entry.key == "_string.concat" && !entry.value.items().is_empty()) {
        return;
    }
    if let Some((operator, at)) = plain_value(&path.value) {
        let message = format!("the value of `{operator}` can be several steps of the path, because it is not encoded");
        let help = "write the path as a `_template` such as `/users/{{ payload.id }}`, in which each value is one step";
        context.report.warning(at, message, Some(help.to_owned()));
    }
}

/// Returns the first operator that reads a value which becomes a part of the text as it is.
fn plain_value(value: &Node) -> Option<(&str, Span)> {
    let of_item = value.items().iter().find_map(plain_value);
    of_item.or_else(|| {
        value.entries().iter().find_map(|entry| match entry.key.as_str() {
            key if READS.contains(&key) => Some((key, entry.key_at)),
            key if SAFE.contains(&key) || CONDITIONS.contains(&key) => None,
            _ => plain_value(&entry.value),
        })
    })
}
