//! The requirements of messengers on a message, for tests and fuzz targets.

use super::{Entity, Limits, Rendered, units};

/// Checks a message by the rules of a messenger.
pub(crate) fn assert_valid(message: &Rendered, limits: Limits) {
    let length = units(&message.text);
    assert!(length > 0 && limits.fits(message), "{length}");
    assert!(message.entities.len() <= limits.entities, "{}", message.entities.len());
    let starts: Vec<usize> =
        message.text.chars().scan(0, |at, sign| Some(std::mem::replace(at, *at + sign.len_utf16()))).collect();
    let is_boundary = |at: usize| at == length || starts.binary_search(&at).is_ok();
    let is_exclusive = |entity: &Entity| matches!(entity.kind, "pre" | "code");
    for (index, one) in message.entities.iter().enumerate() {
        let end = one.offset + one.length;
        assert!(one.length > 0 && end <= length && is_boundary(one.offset) && is_boundary(end), "{one:?}");
        for other in &message.entities[index + 1..] {
            let is_apart = other.offset >= end;
            let is_nested = other.offset >= one.offset && other.offset + other.length <= end;
            assert!(is_apart || is_nested && !is_exclusive(one) && !is_exclusive(other), "{one:?} {other:?}");
        }
    }
}
