//! What was done in the composer before the page came to life: text that was typed stays, and what was sent is sent now. Until
//! then `public/assets/early.js` keeps it.

use super::session::{Act, Session};
use crate::prelude::*;
use leptos::html;

/// The words of the line that says that something waits to be sent. It stands in the document from the start.
const LINE: &str = ".cw-composer-early";
/// Says that the app runs the composer.
const ALIVE: &str = "data-alive";
/// Says that what stands in the composer is to be sent.
const WAITS: &str = "data-waits";

/// Takes over what was typed and sent before.
pub(super) fn take_over(session: Session, form: NodeRef<html::Form>, field: NodeRef<html::Textarea>) {
    let waits = RwSignal::new(false);
    Effect::new(move |_| {
        let typed = field.get().map(|field| field.value()).unwrap_or_default();
        if !typed.is_empty() && session.draft.with_untracked(String::is_empty) {
            session.draft.set(typed);
        }
        let Some(form) = form.get() else { return };
        // Attributes and the text of elements that exist.
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
            session.act(Act::SendDraft);
        }
    });
}
