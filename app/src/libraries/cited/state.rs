//! Which of the citations in a chat the user looks at.

use crate::prelude::*;
use leptos::web_sys::Element;
use std::time::Duration;
use wire::citations::CitedSource;

/// How long the pointer rests on a number before its card is shown.
const SHOWN_AFTER: Duration = Duration::from_millis(150);
/// How long the card stays, so that the pointer can move onto it.
const HIDDEN_AFTER: Duration = Duration::from_millis(250);

/// A passage that an answer cites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Citation {
    /// The source, which has a passage.
    pub(crate) source: CitedSource,
    /// The conversation with the answer.
    pub(crate) conversation_id: Option<String>,
}

/// The citation whose card is shown, and the one whose document is open; a cheap handle. The mark of each is
/// the element with the attribute `data-carded` or `aria-expanded`, since signals cannot hold elements on the server.
#[derive(Clone, Copy)]
pub(crate) struct CitationState {
    pub(in crate::libraries) card: RwSignal<Option<Citation>>,
    pub(in crate::libraries) panel: RwSignal<Option<Citation>>,
    /// The id of the chat's block.
    block_id: StoredValue<String>,
    /// Counts what the pointer did, so that a later move ends what waits.
    moves: RwSignal<u32>,
}

impl CitationState {
    /// The state for one chat.
    pub(crate) fn new(block_id: String) -> Self {
        let (card, panel, block_id) = (RwSignal::new(None), RwSignal::new(None), StoredValue::new(block_id));
        Self { card, panel, block_id, moves: RwSignal::new(0) }
    }

    /// Returns the id of an element.
    pub(crate) fn element_id(self, name: &str) -> String {
        ["cw-cited-", name, "-", &self.block_id.get_value()].concat()
    }

    /// Whether the user has looked at any citation, so that the code is needed. Tracked.
    pub(crate) fn is_used(self) -> Memo<bool> {
        Memo::new(move |before| {
            before.copied().unwrap_or_default() || self.card.with(Option::is_some) || self.panel.with(Option::is_some)
        })
    }

    /// Shows the card of a citation at its mark: at once, or when the pointer has rested there.
    pub(crate) fn show_card(self, mark: Element, citation: Citation, at_once: bool) {
        let show = move || {
            forget_mark("data-carded");
            // Cannot fail: the name is valid.
            let _ = mark.set_attribute("data-carded", "");
            let _ = mark.set_attribute("aria-describedby", &self.element_id("card"));
            self.card.set(Some(citation));
        };
        self.after(if at_once { Duration::ZERO } else { SHOWN_AFTER }, show);
    }

    /// Hides the card unless the pointer comes back soon.
    pub(crate) fn hide_card(self) {
        self.after(HIDDEN_AFTER, move || self.close_card());
    }

    /// Keeps the card.
    pub(in crate::libraries) fn keep_card(self) {
        self.moves.update_untracked(|moves| *moves += 1);
    }

    /// Hides the card.
    pub(in crate::libraries) fn close_card(self) {
        self.keep_card();
        if let Some(mark) = forget_mark("data-carded") {
            let _ = mark.remove_attribute("aria-describedby");
        }
        if self.card.with_untracked(Option::is_some) {
            self.card.set(None);
        }
    }

    /// Opens the document of a citation.
    pub(crate) fn open(self, mark: &Element, citation: Citation) {
        self.close_card();
        forget_mark("aria-expanded");
        // Cannot fail: the name is valid.
        let _ = mark.set_attribute("aria-expanded", "true");
        self.panel.set(Some(citation));
    }

    /// Whether a document is open. Tracked.
    pub(crate) fn is_open(self) -> bool {
        self.panel.with(Option::is_some)
    }

    /// Closes the document; returns the mark that opened it.
    pub(crate) fn close_panel(self) -> Option<Element> {
        self.panel.set(None);
        forget_mark("aria-expanded")
    }

    /// Does something after a while, unless the pointer or the focus moves before.
    fn after(self, wait: Duration, act: impl FnOnce() + 'static) {
        self.keep_card();
        let moves = self.moves.get_untracked();
        let act = move || {
            if self.moves.try_get_untracked() == Some(moves) {
                act();
            }
        };
        if wait.is_zero() { act() } else { set_timeout(act, wait) }
    }
}

/// Removes an attribute from the mark that has it.
fn forget_mark(attribute: &str) -> Option<Element> {
    let mark = document().query_selector(&[".cw-passage[", attribute, "]"].concat()).ok().flatten()?;
    let _ = mark.remove_attribute(attribute);
    Some(mark)
}
