//! The list of messages that wait for the current answer.

use super::outgoing::{QueuedMessage, ServerCopy};
use crate::agent_chat::session::{Phase, Session};
use crate::prelude::*;
use crate::texts;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent};
use leptos::web_sys::HtmlElement;
use wasm_bindgen::JsCast;

/// The waiting messages in order. If the queue is on hold, a button sends the next one, unless it is edited here.
#[component]
pub(in crate::agent_chat) fn Queue() -> AnyView {
    let session = expect_context::<Session>();
    let item = move |queued: QueuedMessage| view! { <li class="cw-queued">{item_view(session, queued)}</li> };
    let held = move || {
        let has_next = session.next_queued().is_some_and(|next| !next.is_edited.get());
        (has_next && session.phase.get() == Phase::Idle).then(|| {
            view! {
                <button type="button" class="cw-button" on:click=move |_| session.send_next()>
                    {t(Text::QueueSendNext)}
                </button>
            }
            .into_any()
        })
    };
    let heading = move || {
        let count = session.queue.with(Vec::len);
        match (session.phase.get() == Phase::Idle, count) {
            (true, 1) => t(Text::QueueOneHeld).to_owned(),
            (true, _) => texts::fill_count(Text::QueueHeld, count),
            (false, 1) => t(Text::QueueOneWaiting).to_owned(),
            (false, _) => texts::fill_count(Text::QueueWaiting, count),
        }
    };
    view! {
        <section class="cw-queue" aria-label=t(Text::QueueLabel)>
            <div class="cw-queue-head">
                <p role="status">{heading}</p>
                {held}
            </div>
            <ol><For each=move || session.queue.get() key=|queued| queued.key.clone() children=item /></ol>
        </section>
    }
    .into_any()
}

fn item_view(session: Session, queued: QueuedMessage) -> AnyView {
    (move || if queued.is_edited.get() { item_editor(session, &queued) } else { item_content(session, &queued) })
        .into_any()
}

fn item_content(session: Session, queued: &QueuedMessage) -> AnyView {
    let words = queued.text.get();
    let files = match queued.files.len() {
        0 => None,
        1 => Some(t(Text::OneFile).to_owned()),
        count => Some(texts::fill_count(Text::Files, count)),
    };
    let (edit, key) = (queued.clone(), queued.key.clone());
    let (copy, removed) = (queued.copy.clone(), queued.clone());
    let note = move || {
        let note = copy.with(reason_to_wait);
        note.map(|note| view! { <span class="cw-queued-note" dir="auto">{note}</span> }.into_any())
    };
    let is_removed = Memo::new(move |_| removed.is_removed());
    let buttons = move || {
        let (edit, key) = (edit.clone(), key.clone());
        (!is_removed.get()).then(|| {
            view! {
                <button
                    type="button"
                    class="cw-icon-button"
                    aria-label=t(Text::QueueEdit)
                    title=t(Text::Edit)
                    on:click=move |_| start_edit(&edit)
                >
                    <Icon of=Shape::PENCIL />
                </button>
                <button
                    type="button"
                    class="cw-icon-button"
                    aria-label=t(Text::QueueRemove)
                    title=t(Text::Remove)
                    on:click=move |_| {
                        session.remove_queued(&key);
                        session.focus_requests.update(|count| *count += 1);
                    }
                >
                    <Icon of=Shape::CLOSE />
                </button>
            }
            .into_any()
        })
    };
    view! {
        <p dir="auto">{words}</p>
        {note}
        {files.map(|files| view! { <span class="cw-queued-files">{files}</span> })}
        {buttons}
    }
    .into_any()
}

/// Why a message waits longer than for the answer.
fn reason_to_wait(copy: &ServerCopy) -> Option<String> {
    match copy {
        ServerCopy { is_removed: true, .. } => Some(t(Text::QueueRemovedLater).to_owned()),
        ServerCopy { is_held: true, .. } => Some(t(Text::QueueHeldElsewhere).to_owned()),
        ServerCopy { refusal, .. } => refusal.clone(),
    }
}

/// Starts editing a message. The focus moves from the button, which is removed, to the text field.
fn start_edit(queued: &QueuedMessage) {
    Session::edit_queued(queued);
    let id = field_id(queued);
    request_animation_frame(move || {
        let field = document().get_element_by_id(&id);
        if let Some(field) = field.as_ref().and_then(|field| field.dyn_ref::<HtmlElement>()) {
            // The field is in the document, so it can be focused.
            let _ = field.focus();
        }
    });
}

fn field_id(queued: &QueuedMessage) -> String {
    format!("cw-queued-{}", queued.key)
}

/// The field for editing a waiting message. Enter saves the change, Escape cancels it.
fn item_editor(session: Session, queued: &QueuedMessage) -> AnyView {
    let id = field_id(queued);
    let value = queued.typed.get_untracked();
    let (typed, kept, queued) = (queued.typed.clone(), queued.clone(), queued.clone());
    let keep = move || session.end_edit_queued(&kept, Some(kept.typed.get_untracked()));
    let by_key = keep.clone();
    let keydown = move |event: KeyboardEvent| match event.key().as_str() {
        "Enter" if !event.is_composing() && event.key_code() != 229 => {
            event.prevent_default();
            by_key();
        }
        "Escape" if !event.is_composing() => {
            event.stop_propagation();
            session.end_edit_queued(&queued, None);
        }
        _ => {}
    };
    view! {
        <input
            id=id
            type="text"
            dir="auto"
            aria-label=t(Text::QueueMessage)
            value=value
            on:input=move |event: Event| typed.set(event_target_value(&event))
            on:keydown=keydown
        />
        <button type="button" class="cw-button" on:click=move |_| keep()>
            {t(Text::Keep)}
        </button>
    }
    .into_any()
}
