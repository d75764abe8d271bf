//! Plain text and source code, which keep their lines.

use crate::Source;
use crate::collector::Collector;
use crate::document::{Place, count_line_breaks};
use crate::encoding;

/// Adds the text with its lines.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) {
    let decoded = encoding::decode(source.bytes, None);
    collector.warn_of_encoding(decoded.is_lossy);
    push_lines(collector, decoded.text);
}

/// Adds text as one range of lines.
pub(crate) fn push_lines(collector: &mut Collector<'_>, text: String) {
    let last = count_line_breaks(text.trim_end_matches('\n')).saturating_add(1);
    collector.push_plain(Place::Lines { first: 1, last }, text);
}
