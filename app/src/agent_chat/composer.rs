//! Where the user writes.

use super::session::{Act, Phase, Session};
use crate::erase::{Erase, attribute, dynamic, effect, flag, handler};
use crate::icons::{Icon, Shape};
use leptos::ev::{Event, KeyboardEvent, SubmitEvent};
use leptos::html;
use leptos::prelude::*;

/// The composer: Enter sends, Shift+Enter breaks the line, Escape stops the answer.
#[component]
pub(super) fn Composer(
    /// Shown while it is empty.
    placeholder: String,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let field = NodeRef::<html::Textarea>::new();
    let draft = session.draft;
    focus_when_asked(session, field);
    keep_early_text(session, field);
    let keydown = move |event: KeyboardEvent| match event.key().as_str() {
        // While an input method composes a word, Enter belongs to it. Safari ends the composition first, and says 229.
        "Enter" if !event.shift_key() && !event.is_composing() && event.key_code() != 229 => {
            event.prevent_default();
            session.act(Act::SendDraft);
        }
        "Escape" if !event.is_composing() => session.act(Act::Stop),
        _ => {}
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        session.act(Act::SendDraft);
    };
    view! {
        <form class="cw-composer" on:submit=handler(submit)>
            <div class="cw-composer-box">
            // The mirror has the text's height, and the field fills it.
            <div class="cw-composer-field" data-text=attribute(move || Some(draft.get()))>
                <textarea
                    node_ref=field
                    rows="1"
                    dir="auto"
                    aria-label="Message"
                    placeholder=placeholder
                    enterkeyhint="send"
                    prop:value=draft
                    on:input=handler(move |event: Event| draft.set(event_target_value(&event)))
                    on:keydown=handler(keydown)
                ></textarea>
            </div>
            <SendOrStop />
            </div>
        </form>
    }
    .erase()
}

#[component]
fn SendOrStop() -> impl IntoView {
    let session = expect_context::<Session>();
    let is_empty = Memo::new(move |_| session.draft.with(|draft| draft.trim().is_empty()));
    let is_busy = Memo::new(move |_| session.is_busy());
    dynamic(move || {
        if is_busy.get() {
            let stopping = flag(move || session.phase.get() == Phase::Stopping);
            view! {
                <button
                    type="button"
                    class="cw-send cw-send-stop"
                    aria-label="Stop"
                    title="Stop (Escape)"
                    disabled=stopping
                    on:click=handler(move |_| session.act(Act::Stop))
                >
                    <Icon of=Shape::Stop />
                </button>
            }
            .erase()
        } else {
            view! {
                <button type="submit" class="cw-send" aria-label="Send" title="Send (Enter)" disabled=flag(move || is_empty.get())>
                    <Icon of=Shape::Send />
                </button>
            }
            .erase()
        }
    })
}

/// Moves the focus here when the session asks for it: a button that had it is gone.
fn focus_when_asked(session: Session, field: NodeRef<html::Textarea>) {
    let mut before = None;
    effect(move || {
        let count = session.focus.get();
        if before.replace(count).is_some_and(|before| before != count)
            && let Some(field) = field.get_untracked()
        {
            // It is in the document, so it can be focused.
            let _ = field.focus();
        }
    });
}

/// What was typed before the page came to life stays.
fn keep_early_text(session: Session, field: NodeRef<html::Textarea>) {
    effect(move || {
        let typed = field.get().map(|field| field.value()).unwrap_or_default();
        if !typed.is_empty() && session.draft.with_untracked(String::is_empty) {
            session.draft.set(typed);
        }
    });
}
