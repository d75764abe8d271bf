//! The card of a tool call, as a tree: a summary line, and the details below it when it is opened.
//! It is drawn again on each change; unchanged nodes stay, so that a spinner does not restart.

use super::labels::CallStatus;
use crate::texts::{Text, t};
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::TextKind;
use crate::ui::icons::{Shape, icon};
use crate::ui::node::{Node, element};

/// The content of a card.
pub(in crate::agent_chat) struct Card {
    pub(in crate::agent_chat) status: CallStatus,
    pub(in crate::agent_chat) icon: Shape,
    pub(in crate::agent_chat) name: String,
    /// The subject of the call or its current activity, in a few words.
    pub(in crate::agent_chat) detail: String,
    /// The progress bar.
    pub(in crate::agent_chat) bar: Option<Node>,
    pub(in crate::agent_chat) state: Vec<Node>,
    /// Whether the card is open from the start.
    pub(in crate::agent_chat) open: bool,
    pub(in crate::agent_chat) body: Vec<Node>,
}

impl Card {
    /// The element of the card.
    pub(in crate::agent_chat) fn node(self) -> Node {
        let span = |class: &'static str| element("span").attr("class", class);
        let mut line = vec![
            span("cw-tool-icon").children(vec![icon(self.icon)]),
            span("cw-tool-name").text(self.name),
            span("cw-tool-summary")
                .attr("dir", "auto")
                .children(hidden_characters::visible_nodes(&self.detail, TextKind::Value)),
            span("cw-tool-state").children(self.state),
            span("cw-chevron").children(vec![icon(Shape::CHEVRON)]),
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
pub(in crate::agent_chat) fn section(title: &'static str, content: Vec<Node>) -> Node {
    let heading = std::iter::once(element("h4").text(title));
    element("section").children(heading.chain(content).collect())
}

/// The error of a call, as a section.
pub(in crate::agent_chat) fn failure(error: &str) -> Node {
    let error = element("p")
        .attr("class", "cw-tool-error")
        .attr("dir", "auto")
        .children(hidden_characters::visible_nodes(error, TextKind::Value));
    section(t(Text::WhatWentWrong), vec![error])
}
