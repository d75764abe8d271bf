//! Links to other sites.

use super::node::{Node, element};

/// Returns a link to another site, which opens in a new tab and learns nothing of this page. The address has passed
/// [`markdown_stream::link::allowed_url`].
pub(crate) fn web_link(url: &str) -> Node {
    element("a").attr("href", url).attr("target", "_blank").attr("rel", "noopener noreferrer nofollow")
}
