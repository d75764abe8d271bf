//! A small picture, or a character or two in its place: of who speaks, of something to say, of an entry in a list. Whoever has no use for
//! pictures loses nothing: beside each stand words.

use crate::markdown::is_embedded_image;
use crate::node::{Node, element};

/// The picture at an address, or the characters.
pub(crate) fn emblem(of: &str, class: &'static str) -> Node {
    let is_picture = of.starts_with('/') || of.starts_with("https://") || is_embedded_image(of);
    match is_picture {
        true => {
            element("img").with("class", class).with("src", of).with("alt", "").with("referrerpolicy", "no-referrer")
        }
        false => element("span").with("class", class).with("aria-hidden", "true").text(of),
    }
}
