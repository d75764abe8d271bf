//! The card of a tool call, as a tree: a summary line, and the details below it when it is opened.
//! It is drawn again on each change; unchanged nodes stay, so that a spinner does not restart.

use super::labels::CallStatus;
use crate::hidden_characters::{self, TextKind};
use crate::icons::{Shape, icon};
use crate::node::{Node, element};
use crate::texts::{Text, t};

/// The content of a card.
pub(super) struct Card {
    pub(super) status: CallStatus,
    pub(super) icon: Shape,
    pub(super) name: String,
    /// The subject of the call or its current activity, in a few words.
    pub(super) detail: String,
    /// The progress bar.
    pub(super) bar: Option<Node>,
    pub(super) state: Vec<Node>,
    /// Whether the card is open from the start.
    pub(super) open: bool,
    pub(super) body: Vec<Node>,
}

impl Card {
    /// The element of the card.
    pub(super) fn node(self) -> Node {
        let span = |class: &'static str| element("span").attr("class", class);
        let mut line = vec![
            span("cw-tool-icon").children(vec![icon(self.icon)]),
            span("cw-tool-name").text(self.name),
            span("cw-tool-summary")
                .attr("dir", "auto")
                .children(hidden_characters::visible_nodes(&self.detail, TextKind::Value)),
            span("cw-tool-state").children(self.state),
            span("cw-chevron").children(vec![icon(Shape::Chevron)]),
        ];
        if let Some(bar) = self.bar {
            // It is placed after the element that it replaces, so that nothing else moves.
            line.insert(3, bar);
        }
        let card = element("details").attr("class", "cw-tool").attr("data-state", self.status.name());
        let card = if self.open { card.attr("open", "") } else { card };
        card.children(vec![
            element("summary").children(line),
            element("div").attr("class", "cw-tool-body").children(self.body),
        ])
    }
}

/// A section in the body of a card.
pub(super) fn section(title: &'static str, content: Vec<Node>) -> Node {
    let heading = std::iter::once(element("h4").text(title));
    element("section").children(heading.chain(content).collect())
}

/// The error of a call, as a section.
pub(super) fn failure(error: &str) -> Node {
    let error = element("p")
        .attr("class", "cw-tool-error")
        .attr("dir", "auto")
        .children(hidden_characters::visible_nodes(error, TextKind::Value));
    section(t(Text::WhatWentWrong), vec![error])
}
