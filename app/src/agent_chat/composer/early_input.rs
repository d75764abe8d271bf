//! Takes over input from before the page was hydrated: typed text is kept, and a message that was
//! sent is sent now. Until then `public/assets/early.js` stores it.

use crate::agent_chat::session::{Session, SessionAction};
use crate::prelude::*;
use leptos::html;

/// The line that says that a message will be sent when the page is ready. It is in the document
/// from the start.
const LINE: &str = ".cw-composer-early";
/// The attribute that tells `early.js` that the app handles the composer.
const ALIVE: &str = "data-alive";
/// The attribute that marks the composer's text as to be sent.
const WAITS: &str = "data-waits";

/// Takes over the text typed, and sends it if the user had sent it.
pub(in crate::agent_chat) fn take_over_early_input(
    session: Session,
    form: NodeRef<html::Form>,
    field: NodeRef<html::Textarea>,
) {
    let waits = RwSignal::new(false);
    Effect::new(move |_| {
        let typed = field.get().map(|field| field.value()).unwrap_or_default();
        if !typed.is_empty() && session.draft.with_untracked(String::is_empty) {
            session.draft.set(typed);
        }
        let Some(form) = form.get() else { return };
        // Setting attributes and text of existing elements does not fail.
        let _ = form.set_attribute(ALIVE, "");
        if form.has_attribute(WAITS) {
            let _ = form.remove_attribute(WAITS);
            if let Some(line) = form.query_selector(LINE).ok().flatten() {
                line.set_text_content(None);
            }
            waits.set(true);
        }
    });
    Effect::new(move |_| {
        if waits.get() {
            session.dispatch(SessionAction::SendDraft);
        }
    });
}
