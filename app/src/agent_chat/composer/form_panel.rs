//! The panel around a form above the composer.

use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, fill, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::KeyboardEvent;

/// Renders a form with its heading above the composer. Escape closes it.
pub(super) fn panel(session: Session, title: &str, content: AnyView) -> AnyView {
    let (label, heading, name) = (title.to_owned(), title.to_owned(), fill(Text::CloseNamed, &[title]));
    let close_by_key = move |event: KeyboardEvent| {
        // Otherwise Escape could also close a surrounding element, such as a drawer.
        if event.key() == "Escape" && !event.is_composing() {
            event.prevent_default();
            event.stop_propagation();
            close(session);
        }
    };
    view! {
        <div class="cw-above">
            <section class="cw-saved-prompt" aria-label=label on:keydown=close_by_key>
                <div class="cw-saved-prompt-head">
                    <strong dir="auto">{heading}</strong>
                    <button type="button" class="cw-icon-button" aria-label=name title=t(Text::Close) on:click=move |_| close(session)>
                        <Icon of=Shape::CLOSE />
                    </button>
                </div>
                {content}
            </section>
        </div>
    }
    .into_any()
}

/// Removes the form. The composer gets the focus.
pub(super) fn close(session: Session) {
    session.open_form.set(None);
    session.focus_requests.update(|count| *count += 1);
}
