//! The notice that a message was deleted, with a button that restores it.

use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::html;
use leptos::web_sys::HtmlButtonElement;
use std::time::Duration;

/// How long the notice is shown; longer while its button has the focus.
const UNDO_TIME: Duration = Duration::from_secs(10);

/// The notice.
#[component]
pub(in crate::agent_chat) fn Undo() -> AnyView {
    let session = expect_context::<Session>();
    let button = NodeRef::<html::Button>::new();
    Effect::new(move |_| {
        if let Some(button) = button.get() {
            // The menu that had the focus is closed. The button is in the document, so it can be
            // focused.
            let _ = button.focus();
            hide_later(session, button, session.deleted.get_untracked());
        }
    });
    (move || {
        session.deleted.get()?;
        let notice = view! {
            <div class="cw-undo" role="status">
                <Icon of=Shape::BIN />
                <p>{t(Text::DeletedWithRest)}</p>
                <button type="button" class="cw-button" node_ref=button on:click=move |_| session.undo_delete()>
                    {t(Text::Undo)}
                </button>
            </div>
        };
        Some(notice.into_any())
    })
    .into_any()
}

fn hide_later(session: Session, button: HtmlButtonElement, deleted: Option<String>) {
    set_timeout(
        move || {
            let is_same = session.deleted.try_with_untracked(|now| *now == deleted) == Some(true);
            let has_focus = document().active_element().is_some_and(|focused| focused == **button);
            match (is_same, has_focus) {
                (true, true) => hide_later(session, button, deleted),
                (true, false) => session.deleted.set(None),
                _ => {}
            }
        },
        UNDO_TIME,
    );
}
