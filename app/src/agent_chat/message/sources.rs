//! The sources of an answer: as a list below it, to which the numbers in the text link, or as cards
//! that these numbers open. Passages of documents have numbers that open the document, see `log/citations.rs`.

use super::attachment::is_web;
use super::state::MessageState;
use crate::agent_chat::chunk_tables::EXTRAS;
use crate::agent_chat::session::Session;
use crate::markdown::CitationStyle;
use crate::prelude::*;
use crate::texts;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters;
use crate::ui::hidden_characters::TextKind;
use crate::ui::icons::{Shape, icon};
use crate::ui::node::{Node, element, reactive_nodes};
use markdown_stream::link::host;
use std::sync::Arc;
use wire::citations::CitedSource;
use wire::page::{LinePosition, SourcesDisplay};

/// How the source marks in the text of a message are shown.
pub(in crate::agent_chat) fn marks(session: Session, message: &MessageState) -> CitationStyle {
    let (is_shown, is_inline) = session.display(|display| (display.show_sources, display.sources_display.inline));
    let (id, cited, passages) = (message.id.clone(), message.cited_sources.clone(), message.cited_sources.clone());
    let others = match (is_shown, is_inline) {
        (false, _) => CitationStyle::Hidden,
        (true, false) => CitationStyle::Listed,
        (true, true) => CitationStyle::Titled(Arc::new(move |number| {
            let title = cited.with(|all| all.get(number.wrapping_sub(1)).map(|cited| cited.title.clone()));
            (card_id(&id, number), title.unwrap_or_default())
        })),
    };
    let passage = move |number: usize| {
        passages.with(|all| {
            let cited = all.get(number.wrapping_sub(1)).filter(|cited| cited.passage.is_some())?;
            Some(hidden_characters::text_with_code_points(&cited.title, TextKind::Prose).into_owned())
        })
    };
    CitationStyle::Opened { passage: Arc::new(passage), others: Box::new(others) }
}

fn card_id(message: &str, number: usize) -> String {
    format!("cw-source-{message}-{number}")
}

/// The list or the cards; nothing while there are no sources.
pub(in crate::agent_chat) fn sources(message: &MessageState) -> AnyView {
    let (cited, message) = (message.cited_sources.clone(), message.clone());
    let is_there = Memo::new(move |_| cited.with(|all| !all.is_empty()));
    (move || {
        let message = message.clone();
        is_there.get().then(|| EXTRAS.view(move |code| (code.sources)(message.clone())))
    })
    .into_any()
}

/// The view below the text.
pub(in crate::agent_chat) fn sources_view(message: MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let (SourcesDisplay { inline: is_inline, expand_icon_position }, is_marked) =
        session.display(|display| (display.sources_display, display.markdown_rendering));
    let arrow_first = expand_icon_position == LinePosition::Start;
    reactive_nodes(move || {
        message.cited_sources.with(|all| match (all.is_empty(), is_inline) {
            (true, _) => Vec::new(),
            (false, false) => vec![list(all, arrow_first)],
            (false, true) => cards(&message.id, all, is_marked),
        })
    })
}

fn list(all: &[CitedSource], arrow_first: bool) -> Node {
    let chevron = element("span").attr("class", "cw-chevron").children(vec![icon(Shape::CHEVRON)]);
    let mut summary = vec![element("span").text(count(all.len())), chevron];
    if arrow_first {
        summary.reverse();
    }
    element("details").attr("class", "cw-sources").children(vec![
        element("summary").children(summary),
        // Receives the focus when the user follows a number.
        element("ol").children(
            all.iter()
                .zip(1..)
                .map(|(cited, number)| element("li").attr("tabindex", "-1").children(source_details(cited, number)))
                .collect(),
        ),
    ])
}

fn count(of: usize) -> String {
    if of == 1 { t(Text::OneSource).to_owned() } else { texts::fill_count(Text::Sources, of) }
}

/// A card for each source, followed by a line of the sources that the text does not cite. The line
/// comes last, so that the cards stay in place.
fn cards(message: &str, all: &[CitedSource], marks_are_shown: bool) -> Vec<Node> {
    let numbered = || all.iter().zip(1..);
    let card = |(cited, number): (&CitedSource, usize)| {
        let label = fill(Text::SourceNumber, &[&number.to_string()]);
        let card = element("div").attr("class", "cw-source-card").attr("id", card_id(message, number));
        let details = source_details(cited, number);
        card.attr("popover", "auto").attr("role", "group").attr("aria-label", label).children(details)
    };
    let unmarked = numbered().filter(|(cited, _)| !(marks_are_shown && cited.is_marked));
    let button = |(cited, number): (&CitedSource, usize)| {
        let number_text = number.to_string();
        let label = fill(
            Text::SourceNamed,
            &[&number_text, &hidden_characters::text_with_code_points(&cited.title, TextKind::Prose)],
        );
        let button = match cited.passage {
            Some(_) => passage_button(number),
            None => element("button").attr("type", "button").attr("popovertarget", card_id(message, number)),
        };
        let title = element("span")
            .attr("dir", "auto")
            .children(hidden_characters::visible_nodes(&cited.title, TextKind::Prose));
        button.attr("aria-label", label).children(vec![element("b").text(number_text), title])
    };
    let buttons: Vec<_> = unmarked.map(button).collect();
    let line =
        element("div").attr("class", "cw-source-line").attr("role", "group").attr("aria-label", count(buttons.len()));
    let line = (!buttons.is_empty()).then(|| line.children(buttons));
    numbered().filter(|(cited, _)| cited.passage.is_none()).map(card).chain(line).collect()
}

/// A button that opens a passage as its number in the text does.
fn passage_button(number: usize) -> Node {
    let button = element("button").attr("type", "button").attr("class", "cw-passage");
    button.attr("data-source", number.to_string()).attr("aria-haspopup", "dialog")
}

/// Title, host, and quoted passage of a source.
fn source_details(cited: &CitedSource, number: usize) -> Vec<Node> {
    let title =
        element("span").attr("dir", "auto").children(hidden_characters::visible_nodes(&cited.title, TextKind::Prose));
    let mut content = vec![match (&cited.passage, cited.url.as_deref().filter(|url| is_web(url))) {
        (Some(_), _) => passage_button(number).children(vec![title]),
        (None, Some(url)) => link(url, title),
        (None, None) => title,
    }];
    content.extend(
        cited
            .quote
            .as_ref()
            .map(|words| element("p").attr("class", "cw-source-words").attr("dir", "auto").text(words.as_str())),
    );
    content
}

fn link(url: &str, title: Node) -> Node {
    let link = element("a").attr("href", url).attr("target", "_blank").attr("rel", "noopener noreferrer nofollow");
    link.children(vec![title, element("span").attr("class", "cw-source-host").text(host(url))])
}
