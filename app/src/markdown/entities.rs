//! HTML's names of characters, such as `&copy;`. The parser has a table of all 2,125, which few texts need. In the browser it stands in a
//! chunk of its own: `xtask/src/site/entities.rs` lets the parser look into a place where no name is until the chunk puts the table there.

use super::document::Lookup;
use super::split::OPTIONS;
use crate::chunks::{Chunk, Loading, Missing};
use leptos::prelude::untrack;
use pulldown_cmark::{Event, Parser};
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

/// Called before a text is parsed: asks for the names if it may have one. What has asked is drawn again when they are there. Tracked.
pub(super) fn need(text: &str) {
    prepare();
    if may_have_name(text) {
        ENTITIES.get();
    }
}

/// Whether the names of a text were known when it was parsed, if it has any; if not, they are asked for.
pub(super) fn are_known(text: &str) -> bool {
    !may_have_name(text) || untrack(|| ENTITIES.get().is_some())
}

/// A text that was parsed when its names were [not known](are_known), with the characters for them as soon as they are. Tracked.
pub(super) fn replaced(text: &str) -> String {
    let mut parts = text.split('&');
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    let is_there = ENTITIES.get().is_some();
    for part in parts {
        let (name, after) = part.split_once(';').filter(|(name, _)| is_there && is_name(name)).unwrap_or(("", part));
        match character(name) {
            Some(character) => replaced += &character,
            None => replaced.push('&'),
        }
        replaced += after;
    }
    replaced
}

/// What the parser makes of a name; none of the empty one.
fn character(name: &str) -> Option<String> {
    let text = (!name.is_empty()).then(|| format!("&{name};"))?;
    let events = Parser::new_with_broken_link_callback(&text, OPTIONS, Some(Lookup(None)));
    events.into_offset_iter().find_map(|(event, _)| match event {
        Event::Text(character) => Some(character.into_string()),
        _ => None,
    })
}

/// Called before anything is parsed. On the server the parser has its own table.
#[cfg(feature = "ssr")]
pub(super) fn prepare() {}

#[cfg(not(feature = "ssr"))]
pub(super) use place::prepare;

/// Whether there is an `&` with letters and digits and then a semicolon behind it.
fn may_have_name(text: &str) -> bool {
    text.split('&').skip(1).any(|rest| rest.split_once(';').is_some_and(|(name, _)| is_name(name)))
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic()) && name.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(not(feature = "ssr"))]
mod place {
    use std::hint::black_box;
    use std::sync::Once;
    use std::sync::atomic::{AtomicU32, Ordering};

    /// For each of the names where it is, how long it is, and the same of what it stands for.
    const ENTRY: usize = 4;
    const WORDS: usize = 2_125 * ENTRY;
    /// A name that no text has: names are letters and digits.
    static NOBODYS: &str = "\0";

    /// Where the parser looks.
    static ROOM: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];
    /// The build puts the parser's table in its place.
    static TABLE: [AtomicU32; WORDS] = [const { AtomicU32::new(0) }; WORDS];

    /// Fills the place with a name that is never looked for, so that nothing is found.
    pub(in crate::markdown) fn prepare() {
        static PREPARED: Once = Once::new();
        PREPARED.call_once(|| {
            let address = u32::try_from(NOBODYS.as_ptr().addr()).unwrap_or_default();
            let entry: [u32; ENTRY] = [address, 1, address, 1];
            for (word, value) in black_box(&ROOM).iter().zip(entry.into_iter().cycle()) {
                word.store(value, Ordering::Relaxed);
            }
        });
    }

    /// Puts the table there; only what is [prepared](prepare) asks for it. The compiler knows nothing of what the build does, and must not conclude anything from the zeros.
    pub(super) fn fill() {
        for (to, from) in black_box(&ROOM).iter().zip(black_box(&TABLE)) {
            to.store(from.load(Ordering::Relaxed), Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{may_have_name, replaced};

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

    #[test]
    fn names_that_were_not_known_when_a_text_was_parsed() {
        let check = |text: &str, expected: &str| assert_eq!(replaced(text), expected, "{text}");
        check("https://x/?a=1&amp;b=2&c=3", "https://x/?a=1&b=2&c=3");
        check("&nonsense;&copy;&;", "&nonsense;©&;");
        check("none", "none");
    }
}
