//! The form in which the user edits a message.

use crate::agent_chat::session::{Phase, Session};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::bidi::direction;
use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use leptos::html;

/// The form. Enter sends, Shift+Enter inserts a line break, Escape cancels.
#[component]
pub(in crate::agent_chat) fn EditForm() -> AnyView {
    let session = expect_context::<Session>();
    let field = NodeRef::<html::Textarea>::new();
    let text =
        Memo::new(move |_| session.editing.with(|editing| editing.clone().map(|(_, text)| text).unwrap_or_default()));
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            // The field is in the document, so it can be focused; the caret moves to the end.
            let _ = field.focus();
            let end = field.value().encode_utf16().count() as u32;
            let _ = field.set_selection_range(end, end);
        }
    });
    let input = move |event: Event| {
        session.editing.update(|editing| {
            if let Some((_, text)) = editing {
                *text = event_target_value(&event);
            }
        });
    };
    let leave = move || {
        session.end_edit();
        session.focus_requests.update(|count| *count += 1);
    };
    let keydown = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" if !event.shift_key() && !event.is_composing() && event.key_code() != 229 => {
            event.prevent_default();
            session.send_edit();
        }
        "Escape" if !event.is_composing() => {
            event.stop_propagation();
            leave();
        }
        _ => {}
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        session.send_edit();
    };
    let is_refused = move || text.with(|text| text.trim().is_empty()) || session.phase.get() != Phase::Idle;
    view! {
        <form class="cw-edit" on:submit=submit>
            // A hidden copy of the text sets the height, and the field fills it.
            <div class="cw-composer-field" data-text=move || Some(text.get())>
                <textarea
                    node_ref=field
                    rows="1"
                    dir=move || text.with(|text| direction(text))
                    aria-label=t(Text::EditYourMessage)
                    prop:value=move || text.get()
                    on:input=input
                    on:keydown=keydown
                ></textarea>
            </div>
            <div class="cw-edit-buttons">
                <button type="button" class="cw-button" on:click=move |_| leave()>
                    {t(Text::Cancel)}
                </button>
                <button type="submit" class="cw-button cw-primary" disabled=is_refused>
                    {t(Text::Send)}
                </button>
            </div>
        </form>
    }
    .into_any()
}
