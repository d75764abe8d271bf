//! The switches in the composer, and the menu's button between them.

use super::menu;
use super::state::{Offer, keep};
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::switch_button::switch_button;
use wire::api::RunOptions;

/// The controls of the options that the agent's config offers.
pub(in crate::agent_chat) fn choices(session: Session) -> AnyView {
    let offer = Offer::of(session);
    let chosen = RwSignal::new(RunOptions::default());
    keep(session, &offer, chosen);
    let documents = offer.documents.map(|is_on| {
        let is_on = move |chosen: &RunOptions| chosen.documents.unwrap_or(is_on);
        let toggle = move || chosen.update(|chosen| chosen.documents = Some(!is_on(chosen)));
        switch_button(t(Text::LibraryDocuments).into_any(), move || chosen.with(is_on), toggle)
    });
    let web = offer.web.map(|is_on| {
        let is_on = move |chosen: &RunOptions| chosen.web.unwrap_or(is_on);
        let toggle = move || chosen.update(|chosen| chosen.web = Some(!is_on(chosen)));
        switch_button(t(Text::Web).into_any(), move || chosen.with(is_on), toggle)
    });
    let delegate = offer.delegate.then(|| {
        let is_on = |chosen: &RunOptions| chosen.delegate == Some(true);
        let toggle = move || chosen.update(|chosen| chosen.delegate = (!is_on(chosen)).then_some(true));
        switch_button(t(Text::Delegate).into_any(), move || chosen.with(is_on), toggle)
    });
    let libraries = offer.libraries.is_some().then(|| menu::libraries(session, offer, chosen));
    view! {
        {documents}
        {libraries}
        {web}
        {delegate}
    }
    .into_any()
}
