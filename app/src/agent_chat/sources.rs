//! What an answer refers to, numbered: in a list below it, to which the numbers in the text lead, or behind those numbers, each of which
//! opens a card of its own.

use super::EXTRAS;
use super::attachment::is_web;
use super::cited::Cited;
use super::message_state::MessageState;
use super::session::Session;
use crate::icons::{Shape, icon};
use crate::markdown::{Marks, host};
use crate::node::{Node, drawn, element};
use crate::prelude::*;
use crate::texts::{self, Text, fill, t};
use crate::visible::{self, Kind};
use std::sync::Arc;

/// What becomes of the marks in the texts of a message.
pub(super) fn marks(session: Session, message: &MessageState) -> Marks {
    let (is_shown, is_inline) = session.display(|display| (display.show_sources, display.sources_inline));
    let (id, cited) = (message.id.clone(), message.cited.clone());
    match (is_shown, is_inline) {
        (false, _) => Marks::Hidden,
        (true, false) => Marks::Listed,
        (true, true) => Marks::Named(Arc::new(move |number| {
            let title = cited.with(|all| all.get(number.wrapping_sub(1)).map(|cited| cited.title.clone()));
            (card_id(&id, number), title.unwrap_or_default())
        })),
    }
}

fn card_id(message: &str, number: usize) -> String {
    format!("cw-source-{message}-{number}")
}

/// The list, or the cards; nothing while there are no sources.
pub(super) fn sources(message: &MessageState) -> AnyView {
    let (cited, message) = (message.cited.clone(), message.clone());
    let is_there = Memo::new(move |_| cited.with(|all| !all.is_empty()));
    (move || {
        let message = message.clone();
        is_there.get().then(|| EXTRAS.view(move |code| (code.sources)(message.clone())))
    })
    .into_any()
}

/// What is below the text.
pub(super) fn shown(message: MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let (is_inline, is_marked, arrow_first) =
        session.display(|display| (display.sources_inline, display.markdown_rendering, display.sources_arrow_first));
    drawn(move || {
        message.cited.with(|all| match (all.is_empty(), is_inline) {
            (true, _) => Vec::new(),
            (false, false) => vec![list(all, arrow_first)],
            (false, true) => cards(&message.id, all, is_marked),
        })
    })
}

fn list(all: &[Cited], arrow_first: bool) -> Node {
    let chevron = element("span").with("class", "cw-chevron").around(vec![icon(Shape::Chevron)]);
    let mut summary = vec![element("span").text(count(all.len())), chevron];
    if arrow_first {
        summary.reverse();
    }
    element("details").with("class", "cw-sources").around(vec![
        element("summary").around(summary),
        // Takes the focus of whoever comes from its number.
        element("ol")
            .around(all.iter().map(|cited| element("li").with("tabindex", "-1").around(about(cited))).collect()),
    ])
}

fn count(of: usize) -> String {
    if of == 1 { t(Text::OneSource).to_owned() } else { texts::count(Text::Sources, of) }
}

/// A card for each, and behind them, so that a card stays where it is, a line of those whose numbers stand nowhere in the text.
fn cards(message: &str, all: &[Cited], marks_are_shown: bool) -> Vec<Node> {
    let numbered = || all.iter().zip(1..);
    let card = |(cited, number): (&Cited, usize)| {
        let label = fill(Text::SourceNumber, &[&number.to_string()]);
        let card = element("div").with("class", "cw-source-card").with("id", card_id(message, number));
        card.with("popover", "auto").with("role", "group").with("aria-label", label).around(about(cited))
    };
    let unmarked = numbered().filter(|(cited, _)| !(marks_are_shown && cited.is_marked));
    let button = |(cited, number): (&Cited, usize)| {
        let number_text = number.to_string();
        let label = fill(Text::SourceNamed, &[&number_text, &visible::plain(&cited.title, Kind::Prose)]);
        let button = element("button").with("type", "button").with("popovertarget", card_id(message, number));
        let title = element("span").with("dir", "auto").around(visible::nodes(&cited.title, Kind::Prose));
        button.with("aria-label", label).around(vec![element("b").text(number_text), title])
    };
    let buttons: Vec<_> = unmarked.map(button).collect();
    let line =
        element("div").with("class", "cw-source-line").with("role", "group").with("aria-label", count(buttons.len()));
    let line = (!buttons.is_empty()).then(|| line.around(buttons));
    numbered().map(card).chain(line).collect()
}

/// Title, place, and the words that were taken from it.
fn about(cited: &Cited) -> Vec<Node> {
    let title = element("span").with("dir", "auto").around(visible::nodes(&cited.title, Kind::Prose));
    let mut content = vec![match cited.url.as_deref().filter(|url| is_web(url)) {
        Some(url) => link(url, title),
        None => title,
    }];
    content.extend(
        cited
            .words
            .as_ref()
            .map(|words| element("p").with("class", "cw-source-words").with("dir", "auto").text(words.as_str())),
    );
    content
}

fn link(url: &str, title: Node) -> Node {
    let link = element("a").with("href", url).with("target", "_blank").with("rel", "noopener noreferrer nofollow");
    link.around(vec![title, element("span").with("class", "cw-source-host").text(host(url))])
}
