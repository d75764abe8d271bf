//! The switches in the composer, and the menu's button between them.

use super::menu;
use super::state::{Offer, keep};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::api::RunOptions;

/// What the agent's config lets the user choose.
pub(in crate::agent_chat) fn choices(session: Session) -> AnyView {
    let offer = Offer::of(session);
    let chosen = RwSignal::new(RunOptions::default());
    keep(session, &offer, chosen);
    let documents = offer.documents.map(|is_on| {
        let is_on = move || chosen.with(|chosen| chosen.documents.unwrap_or(is_on));
        let set = move |is_on| chosen.update(|chosen| chosen.documents = Some(is_on));
        switch(t(Text::LibraryDocuments), is_on, set)
    });
    let web = offer.web.map(|is_on| {
        let is_on = move || chosen.with(|chosen| chosen.web.unwrap_or(is_on));
        switch(t(Text::Web), is_on, move |is_on| chosen.update(|chosen| chosen.web = Some(is_on)))
    });
    let libraries = offer.libraries.is_some().then(|| menu::libraries(session, offer, chosen));
    view! {
        {documents}
        {libraries}
        {web}
    }
    .into_any()
}

fn switch(
    label: &'static str,
    is_on: impl Fn() -> bool + Copy + Send + Sync + 'static,
    set: impl Fn(bool) + 'static,
) -> AnyView {
    view! {
        <button
            type="button"
            class="cw-switch-button"
            aria-pressed=move || Some(is_on().to_string())
            on:click=move |_| set(!untrack(is_on))
        >
            {label}
        </button>
    }
    .into_any()
}
