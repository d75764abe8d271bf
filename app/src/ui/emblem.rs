//! A small picture, or a few characters instead: of a speaker, a prompt, or a list entry. It is
//! decorative, since text always stands next to it.

use super::image_origins::is_allowed_image;
use super::node::{Node, element};
use markdown_stream::link::is_embedded_image;

/// The picture with this address, or the characters; nothing for a picture from a host that the
/// config does not allow.
pub(crate) fn emblem(of: &str, class: &'static str) -> Vec<Node> {
    if of.starts_with('/') || is_allowed_image(of) || is_embedded_image(of) {
        let picture = element("img").attr("class", class).attr("src", of);
        return vec![picture.attr("alt", "").attr("referrerpolicy", "no-referrer")];
    }
    // The picture is not loaded, and its address is not shown as text.
    if of.starts_with("https://") {
        return Vec::new();
    }
    vec![element("span").attr("class", class).attr("aria-hidden", "true").text(of)]
}
