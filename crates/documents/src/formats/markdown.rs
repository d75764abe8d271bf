//! Markdown, a part per section.

use crate::Source;
use crate::collector::Collector;
use crate::encoding;
use crate::sections::{Numbering, push_sections};

/// Adds the sections with their lines.
pub(crate) fn read(source: &Source<'_>, collector: &mut Collector<'_>) {
    let decoded = encoding::decode(source.bytes, None);
    collector.warn_of_encoding(decoded.is_lossy);
    push_sections(collector, &decoded.text, &Numbering::Lines);
}
