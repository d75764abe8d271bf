//! The dialog that asks before something is deleted.

use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::html;
use std::sync::Arc;

/// A question to the user, and the action that follows consent.
#[derive(Clone)]
pub(super) struct Question {
    pub(super) title: String,
    pub(super) note: &'static str,
    pub(super) agreed: Arc<dyn Fn() + Send + Sync>,
}

/// A native modal dialog: it keeps the focus, Escape cancels, and the focus returns to the button.
#[component]
pub(super) fn Confirm(
    /// The question; none while the dialog is closed.
    asked: RwSignal<Option<Question>>,
    /// The id of its heading, unique on the page.
    id: String,
) -> AnyView {
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let is_asked = asked.with(Option::is_some);
        if let (true, Some(dialog)) = (is_asked, dialog.get()) {
            // Fails only if the dialog is open.
            let _ = dialog.show_modal();
        }
    });
    let title = move || asked.with(|asked| asked.as_ref().map(|asked| asked.title.clone()).unwrap_or_default());
    let note = move || asked.with(|asked| asked.as_ref().map_or("", |asked| asked.note));
    let agree = move |_| {
        if let Some(question) = asked.get_untracked() {
            (question.agreed)();
        }
    };
    let closed = move |_| asked.set(None);
    let labelled = id.clone();
    view! {
        <dialog class="cw-dialog" aria-labelledby=labelled node_ref=dialog on:close=closed>
            <form method="dialog">
                <h2 id=id dir="auto">{title}</h2>
                <p>{note}</p>
                <div class="cw-dialog-buttons">
                    <button type="submit" class="cw-button">{t(Text::Cancel)}</button>
                    <button type="submit" class="cw-button cw-danger" on:click=agree>{t(Text::Delete)}</button>
                </div>
            </form>
        </dialog>
    }
    .into_any()
}
