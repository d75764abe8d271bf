//! The user's choices, and the options that the config offers.

use crate::agent_chat::composer::kept_choice::keep_choice;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use serde::Deserialize;
use wire::api::RunOptions;

/// The most libraries that are searched at once.
pub(super) const MAX_LIBRARIES: usize = 20;

/// The options that the config offers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Offer {
    /// Whether documents are on at first, if the user switches them.
    pub(super) documents: Option<bool>,
    /// The libraries that are searched at first, if the user chooses them; empty for all.
    pub(super) libraries: Option<Vec<String>>,
    /// Whether the web is on at first, if the user switches it.
    pub(super) web: Option<bool>,
    /// Whether the user may let the agent hand tasks on.
    pub(super) delegate: bool,
}

/// The part of the composer's properties about documents.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DocumentOffer {
    #[serde(default)]
    is_on: Option<bool>,
    #[serde(default)]
    libraries: Option<Vec<String>>,
}

impl Offer {
    /// Reads the composer's properties.
    pub(super) fn of(session: Session) -> Self {
        let (documents, web, delegate) =
            session.sender(|sender| (sender.documents.clone(), sender.web, sender.delegate.is_some()));
        let documents = documents.and_then(|own| serde_json::from_value(own).ok()).unwrap_or_default();
        let DocumentOffer { is_on, libraries } = documents;
        Self { documents: is_on, libraries, web, delegate }
    }

    /// Returns the choices without those that the config does not offer any more.
    fn allowed(&self, chosen: RunOptions) -> RunOptions {
        RunOptions {
            documents: chosen.documents.filter(|_| self.documents.is_some()),
            libraries: chosen.libraries.filter(|_| self.libraries.is_some()),
            web: chosen.web.filter(|_| self.web.is_some()),
            delegate: chosen.delegate.filter(|_| self.delegate),
            ..RunOptions::default()
        }
    }

    /// Returns which of these libraries are searched.
    pub(super) fn searched(&self, chosen: Option<&[String]>, known: &[String]) -> Vec<String> {
        let named = self.libraries.as_deref().unwrap_or_default();
        let is_searched = |id: &&String| match chosen {
            Some(chosen) => chosen.contains(id),
            None => named.is_empty() || named.contains(id),
        };
        known.iter().filter(is_searched).take(MAX_LIBRARIES).cloned().collect()
    }

    /// Returns the choice after a library is added or removed; `None` if it is the default.
    pub(super) fn with_library(
        &self,
        chosen: Option<&[String]>,
        known: &[String],
        (id, is_on): (&str, bool),
    ) -> Option<Vec<String>> {
        let before = self.searched(chosen, known);
        let is_searched = |own: &&String| if *own == id { is_on } else { before.contains(own) };
        let after: Vec<_> = known.iter().filter(is_searched).take(MAX_LIBRARIES).cloned().collect();
        (after != self.searched(None, known)).then_some(after)
    }
}

/// Restores the choices of the conversation, and stores their changes.
pub(super) fn keep(session: Session, offer: &Offer, chosen: RwSignal<RunOptions>) {
    Effect::new(move |_| session.set_choices(chosen.get()));
    let text = move || {
        let now = chosen.get();
        if now == RunOptions::default() { String::new() } else { serde_json::to_string(&now).unwrap_or_default() }
    };
    let offer = offer.clone();
    keep_choice(session, "choices", text, move |kept| {
        let kept = serde_json::from_str(kept).map(|kept| offer.allowed(kept)).unwrap_or_default();
        if kept != RunOptions::default() {
            chosen.set(kept);
        }
    });
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;

    fn ids(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn libraries_are_added_and_removed() {
        let check = |named: &str, chosen: Option<&str>, change: (&str, bool), expected: Option<&str>| {
            let offer = Offer { libraries: Some(ids(named)), ..Offer::default() };
            let chosen = chosen.map(ids);
            let after = offer.with_library(chosen.as_deref(), &ids("a b c"), change);
            assert_eq!(after, expected.map(ids), "{named} {chosen:?} {change:?}");
        };
        check("a", None, ("b", true), Some("a b"));
        check("a", Some("a b"), ("b", false), None);
        check("a", Some("a b"), ("a", false), Some("b"));
        check("a", None, ("a", false), Some(""));
        check("a", Some(""), ("a", true), None);
        check("", None, ("b", false), Some("a c"));
        check("", Some("a c"), ("b", true), None);
        // A library that is gone is not chosen any more.
        check("a", Some("a gone"), ("b", true), Some("a b"));
    }

    #[test]
    fn choices_outside_the_offer_are_dropped() {
        let all = RunOptions {
            documents: Some(true),
            libraries: Some(ids("a")),
            web: Some(false),
            delegate: Some(true),
            ..RunOptions::default()
        };
        let check = |offer: Offer, expected: RunOptions| assert_eq!(offer.allowed(all.clone()), expected, "{offer:?}");
        check(Offer::default(), RunOptions::default());
        check(Offer { web: Some(true), ..Offer::default() }, RunOptions { web: Some(false), ..RunOptions::default() });
        let offer = Offer { documents: Some(false), libraries: Some(Vec::new()), web: Some(true), delegate: true };
        check(offer, all.clone());
    }
}
