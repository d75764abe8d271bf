//! A call as a tree: a line that says what it is and how it stands, and below it, when it is unfolded, everything else. Drawn as a
//! whole whenever something of it changes; what is the same stays, so that a spinner does not begin to turn again.

use super::words::Standing;
use crate::icons::{Shape, icon};
use crate::node::{Node, element};
use crate::texts::{Text, t};
use crate::visible::{self, Kind};

/// What a card shows.
pub(super) struct Card {
    pub(super) standing: Standing,
    pub(super) icon: Shape,
    pub(super) name: String,
    /// What it is about, or what is going on, in a few words.
    pub(super) detail: String,
    /// How far it has come.
    pub(super) bar: Option<Node>,
    pub(super) state: Vec<Node>,
    /// Whether it is unfolded from the start.
    pub(super) open: bool,
    pub(super) body: Vec<Node>,
}

impl Card {
    /// The card's element.
    pub(super) fn node(self) -> Node {
        let span = |class: &'static str| element("span").with("class", class);
        let mut line = vec![
            span("cw-tool-icon").around(vec![icon(self.icon)]),
            span("cw-tool-name").text(self.name),
            span("cw-tool-summary").with("dir", "auto").around(visible::nodes(&self.detail, Kind::Value)),
            span("cw-tool-state").around(self.state),
            span("cw-chevron").around(vec![icon(Shape::Chevron)]),
        ];
        if let Some(bar) = self.bar {
            // Behind what changes place with it nothing stands that moves.
            line.insert(3, bar);
        }
        let card = element("details").with("class", "cw-tool").with("data-state", self.standing.name());
        let card = if self.open { card.with("open", "") } else { card };
        card.around(vec![
            element("summary").around(line),
            element("div").with("class", "cw-tool-body").around(self.body),
        ])
    }
}

/// A part of a card's body.
pub(super) fn section(title: &'static str, content: Vec<Node>) -> Node {
    let heading = std::iter::once(element("h4").text(title));
    element("section").around(heading.chain(content).collect())
}

/// What went wrong.
pub(super) fn failure(error: &str) -> Node {
    let error =
        element("p").with("class", "cw-tool-error").with("dir", "auto").around(visible::nodes(error, Kind::Value));
    section(t(Text::WhatWentWrong), vec![error])
}
