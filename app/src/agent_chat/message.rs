//! A message of the log.

use super::browser;
use super::message_state::{MessageState, PartState};
use super::part::part_view;
use super::session::Session;
use crate::erase::{Erase, Item, attribute, dynamic, each, flag, handler, optional};
use crate::icons::{Icon, Shape};
use leptos::prelude::*;
use std::time::Duration;
use wire::Role;
use wire::api::Outcome;

/// How long the button says that it has copied.
const COPIED_FOR: Duration = Duration::from_millis(1600);

/// One message with its parts.
#[component]
pub(super) fn Message(
    /// The message.
    message: MessageState,
) -> impl IntoView {
    let role = message.role;
    let parts = message.parts.clone();
    let item = move |part: PartState| Item { key: part.key(), view: Box::new(move || part_view(part, role)) };
    let parts = each(move || parts.get().into_iter().map(item).collect());
    let (class, who) = match role {
        Role::User => ("cw-message cw-message-user", "You"),
        Role::Assistant | Role::System => ("cw-message cw-message-assistant", "Agent"),
    };
    // What an answer says is announced in sentences, see `announcer.rs`; the text itself must not be, token by token.
    let live = (role != Role::User).then_some("off");
    let id = message.id.clone();
    view! {
        <article class=class aria-label=who data-message=id>
            <div class="cw-message-body" aria-live=live>
                {parts}
            </div>
            {(role == Role::Assistant).then(|| view! { <Actions message /> })}
        </article>
    }
    .erase()
}

/// What can be done with an answer. The row has its place from the start, so that nothing moves when the answer is complete.
#[component]
fn Actions(message: MessageState) -> impl IntoView {
    let session = expect_context::<Session>();
    let copied = RwSignal::new(false);
    let metadata = message.metadata.clone();
    let id = message.id.clone();
    let is_newest = Memo::new(move |_| session.messages.with(|all| all.last().is_some_and(|last| last.id == id)));
    let can_regenerate =
        Memo::new(move |_| is_newest.get() && metadata.with(|metadata| metadata.outcome != Some(Outcome::Waiting)));
    let is_shown = {
        let message = message.clone();
        move || !(message.is_blank() || is_newest.get() && session.is_busy())
    };
    let copy = move |_| {
        if browser::copy(&message.text()) {
            copied.set(true);
            let reset = move || {
                // The message may be gone by then.
                let _ = copied.try_set(false);
            };
            set_timeout(reset, COPIED_FOR);
        }
    };
    let label = move || Some(if copied.get() { "Copied" } else { "Copy answer" }.to_owned());
    let regenerate = optional(move || {
        can_regenerate.get().then(|| {
            view! {
                <button
                    type="button"
                    class="cw-icon-button"
                    aria-label="Answer again"
                    title="Answer again"
                    on:click=handler(move |_| session.regenerate())
                >
                    <Icon of=Shape::Retry />
                </button>
            }
            .erase()
        })
    });
    let icon = dynamic(move || view! { <Icon of=if copied.get() { Shape::Check } else { Shape::Copy } /> }.erase());
    view! {
        <div class="cw-message-actions" class:cw-hidden=flag(move || !is_shown())>
            <button type="button" class="cw-icon-button" aria-label=attribute(label) title=attribute(label) on:click=handler(copy)>
                {icon}
            </button>
            {regenerate}
        </div>
    }
    .erase()
}
