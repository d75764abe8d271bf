//! JSON. Text with short lines is kept, so that its lines are those of the file; other text is
//! formatted first.

use super::text::push_lines;
use crate::Source;
use crate::collector::Collector;
use crate::encoding;
use serde_json::Value;

/// The length in bytes from which a line is too long to be shown.
const LONG_LINE: usize = 2_000;
/// The maximum size in bytes of a text that is formatted; the values of larger ones would need many
/// times their memory.
const MAX_FORMATTED: usize = 16 << 20;

/// Adds the text with its lines.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) {
    let decoded = encoding::decode(source.bytes, None);
    collector.warn_of_encoding(decoded.is_lossy);
    let is_long = decoded.text.lines().any(|line| line.len() > LONG_LINE);
    let formatted = (is_long && decoded.text.len() <= MAX_FORMATTED).then(|| formatted(&decoded.text)).flatten();
    push_lines(collector, formatted.unwrap_or(decoded.text));
}

/// Formats one JSON value, or one per line.
fn formatted(text: &str) -> Option<String> {
    let values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let lines: Result<Vec<_>, _> = values.map(|value| serde_json::to_string_pretty(&value?)).collect();
    lines.ok().map(|lines| lines.join("\n"))
}
