//! What an answer refers to, numbered, in a list below it.

use super::attachment::is_web;
use super::message_state::{MessageState, PartKind};
use crate::erase::Erased;
use crate::icons::{Shape, icon};
use crate::markdown::host;
use crate::node::{Node, drawn, element};
use wire::UiPart;

/// The list; nothing while there are no sources.
pub(super) fn sources(message: &MessageState) -> Erased {
    let parts = message.parts.clone();
    drawn(move || {
        let found: Vec<Node> = parts.with(|parts| {
            let fixed = parts.iter().filter_map(|part| match &part.kind {
                PartKind::Fixed(part) => part.with(source),
                _ => None,
            });
            fixed.collect()
        });
        if found.is_empty() { Vec::new() } else { vec![panel(found)] }
    })
}

fn panel(found: Vec<Node>) -> Node {
    let count = if found.len() == 1 { "1 source".to_owned() } else { format!("{} sources", found.len()) };
    let chevron = element("span").with("class", "cw-chevron").around(vec![icon(Shape::Chevron)]);
    let items = found.into_iter().map(|source| element("li").around(vec![source])).collect();
    element("details").with("class", "cw-sources").around(vec![
        element("summary").around(vec![element("span").text(count), chevron]),
        element("ol").around(items),
    ])
}

fn source(part: &UiPart) -> Option<Node> {
    match part {
        UiPart::SourceUrl(source) => {
            let label = source.title.clone().unwrap_or_else(|| source.url.clone());
            Some(if is_web(&source.url) {
                link(&source.url, label)
            } else {
                element("span").with("dir", "auto").text(label)
            })
        }
        UiPart::SourceDocument(source) => Some(element("span").with("dir", "auto").text(source.title.clone())),
        _ => None,
    }
}

fn link(url: &str, label: String) -> Node {
    let link = element("a").with("href", url).with("target", "_blank").with("rel", "noopener noreferrer nofollow");
    let place = element("span").with("class", "cw-source-host").text(host(url));
    link.around(vec![element("span").with("dir", "auto").text(label), place])
}
