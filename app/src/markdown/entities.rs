//! HTML's names of characters, such as `&copy;`. The parser has a table of all 2,125, which few texts need. In the browser it stands in a
//! chunk of its own: `xtask/src/site/entities.rs` lets the parser look into [`ROOM`], where nothing is until the chunk puts the table there.

use crate::chunks::{Chunk, Loading, Missing};
use wasm_split_helpers::wasm_split;

/// The parser's table. Nothing calls it: with it the parser finds what it looks for.
pub(crate) static ENTITIES: Chunk<Table> = Chunk::new("entities", load);

/// The table is in its place.
pub(crate) struct Table;

fn load() -> Loading {
    Box::pin(async { ENTITIES.fill(table().await?) })
}

#[wasm_split(entities, fallible)]
fn table() -> Result<Table, Missing> {
    #[cfg(not(feature = "ssr"))]
    place::fill();
    Ok(Table)
}

/// Asks for the names if a text may have one; what has asked is drawn again when they are there. Tracked.
pub(super) fn need(text: &str) {
    if may_have_name(text) {
        ENTITIES.get();
    }
}

/// Whether there is an `&` with letters and digits and then a semicolon behind it.
fn may_have_name(text: &str) -> bool {
    text.split('&').skip(1).any(|rest| {
        let end = rest.bytes().position(|byte| !byte.is_ascii_alphanumeric());
        rest.starts_with(|first: char| first.is_ascii_alphabetic())
            && end.is_some_and(|end| rest[end..].starts_with(';'))
    })
}

#[cfg(not(feature = "ssr"))]
mod place {
    use std::hint::black_box;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// For each of the names where it is, how long it is, and the same of what it stands for.
    const WORDS: usize = 2_125 * 4;

    /// Where the parser looks. All zeros are names without letters, among which nothing is found.
    static ROOM: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];
    /// The build puts the parser's table in its place.
    static TABLE: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];

    /// The compiler knows nothing of what the build does, and must not conclude anything from the zeros.
    pub(super) fn fill() {
        for (to, from) in black_box(&ROOM).iter().zip(black_box(&TABLE)) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::may_have_name;

    #[test]
    fn names_of_characters() {
        let check = |text: &str, expected: bool| assert_eq!(may_have_name(text), expected, "{text}");
        check("&copy;", true);
        check("a & b &frac12; c", true);
        check("&&amp;", true);
        for none in ["", "&", "a & b;", "&#169;", "&;", "&copy", "&a-b;", "if (a &&b) {;}", "&9a;", "AT&T, P&L"] {
            check(none, false);
        }
    }
}
