//! A small picture, or a character or two in its place: of who speaks, of something to say, of an entry in a list. Whoever has no use for
//! pictures loses nothing: beside each stand words.

use crate::markdown::is_embedded_image;
use crate::node::{Node, element};
use crate::pictures::may_show;

/// The picture at an address, or the characters; nothing for a picture of a site that the config does not name.
pub(crate) fn emblem(of: &str, class: &'static str) -> Vec<Node> {
    if of.starts_with('/') || may_show(of) || is_embedded_image(of) {
        let picture = element("img").with("class", class).with("src", of);
        return vec![picture.with("alt", "").with("referrerpolicy", "no-referrer")];
    }
    // It is not asked for, and its address is no letter.
    if of.starts_with("https://") {
        return Vec::new();
    }
    vec![element("span").with("class", class).with("aria-hidden", "true").text(of)]
}
