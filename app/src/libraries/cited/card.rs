//! The card of a citation, while the pointer or the focus is on its number: the source, and the quote.

use super::state::{Citation, CitationState};
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::{Node, element, reactive_nodes};
use leptos::ev::Event;
use leptos::html;
use wire::citations::CitedPassage;

/// The card. As a popover it is above everything else, and Escape closes it. The style sheet puts it at the number.
#[component]
pub(in crate::libraries) fn CitedCard(state: CitationState) -> AnyView {
    let card = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        let (is_shown, Some(card)) = (state.card.with(Option::is_some), card.get()) else { return };
        // Each fails only if the card has this state.
        let _ = if is_shown { card.show_popover() } else { card.hide_popover() };
    });
    // When the size of the window changes, a browser may leave the card where it was, over its number.
    let resized = window_event_listener_untyped("resize", move |_| state.close_card());
    on_cleanup(move || resized.remove());
    let content = reactive_nodes(move || state.card.with(|card| card.as_ref().map(content).unwrap_or_default()));
    let toggled = move |_: Event| {
        let is_open = card.get_untracked().is_some_and(|card| card.matches(":popover-open").unwrap_or_default());
        if !is_open {
            state.close_card();
        }
    };
    view! {
        <div
            id=state.element_id("card")
            node_ref=card
            class="cw-source-card cw-cited-card"
            role="tooltip"
            popover="auto"
            on:toggle=toggled
            on:mouseenter=move |_| state.keep_card()
            on:mouseleave=move |_| state.hide_card()
        >
            {content}
        </div>
    }
    .into_any()
}

fn content(citation: &Citation) -> Vec<Node> {
    let Some(passage) = &citation.source.passage else { return Vec::new() };
    let line = |class: &'static str, text: &str| {
        element("p").attr("class", class).attr("dir", "auto").children(visible_nodes(text, TextKind::Prose))
    };
    let mut content = vec![line("cw-cited-name", &passage.file), line("cw-document-place", &place(passage))];
    content.extend(citation.source.quote.as_deref().map(|quote| line("cw-cited-quote", quote)));
    let relevance = passage.relevance.map(|percent| fill(Text::CitedRelevance, &[&percent.to_string()]));
    let facts = relevance.into_iter().map(|text| element("span").text(text));
    let hint = element("span").text(t(Text::CitedHint));
    content.push(element("p").attr("class", "cw-cited-facts").children(facts.chain([hint]).collect()));
    content
}

/// Returns the place of a passage and the headings above it.
pub(in crate::libraries) fn place(passage: &CitedPassage) -> String {
    let CitedPassage { place, heading, file, .. } = passage;
    // The headings begin with the title of the document, which may be the name of the file.
    let title = file.rsplit_once('.').map_or(file.as_str(), |(name, _)| name);
    let heading = heading.lines().next().unwrap_or_default();
    let heading = match heading.strip_prefix(title) {
        Some("") => "",
        Some(rest) => rest.strip_prefix(" > ").unwrap_or(heading),
        None => heading,
    };
    let parts: Vec<&str> = [place.as_str(), heading].into_iter().filter(|text| !text.is_empty()).collect();
    parts.join(" · ")
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_file_is_no_heading() {
        let check = |heading: &str, expected: &str| {
            let passage = CitedPassage {
                file: "plant.pdf".to_owned(),
                place: "page 2".to_owned(),
                heading: heading.to_owned(),
                ..CitedPassage::default()
            };
            assert_eq!(place(&passage), expected, "{heading}");
        };
        check("", "page 2");
        check("plant", "page 2");
        check("plant > Valves\n\n| a |", "page 2 · Valves");
        check("plants > Valves", "page 2 · plants > Valves");
        check("Rules", "page 2 · Rules");
    }
}
