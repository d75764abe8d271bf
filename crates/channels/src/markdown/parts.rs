//! A message as parts, each with its own styles, for messengers that have no positions.

use super::{Entity, Rendered};

/// A part of a text, with its styles, the outer ones first.
pub(crate) type Part<'m> = (String, Vec<&'m Entity>);

/// Returns the parts of a text with the styles that each has.
pub(crate) fn parts(message: &Rendered) -> Vec<Part<'_>> {
    let units: Vec<u16> = message.text.encode_utf16().collect();
    let mut cuts: Vec<usize> =
        message.entities.iter().flat_map(|entity| [entity.offset, entity.offset + entity.length]).collect();
    cuts.extend([0, units.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let part = |cut: &[usize]| {
        let &[from, to] = cut else { return None };
        let styles =
            message.entities.iter().filter(|entity| entity.offset <= from && entity.offset + entity.length >= to);
        Some((String::from_utf16_lossy(units.get(from..to)?), styles.collect()))
    };
    cuts.windows(2).filter_map(part).collect()
}
