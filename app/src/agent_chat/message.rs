//! A message of the log.

use super::edit_form::EditForm;
use super::message_actions::Actions;
use super::message_state::{MessageState, PartState};
use super::part::part_view;
use super::session::Session;
use crate::erase::{Erase, Erased, Item, dynamic, each};
use leptos::prelude::*;
use wire::Role;

/// One message with its parts and what can be done with it.
#[component]
pub(super) fn Message(
    /// The message.
    message: MessageState,
) -> impl IntoView {
    let (class, who) = match message.role {
        Role::User => ("cw-message cw-message-user", "You"),
        Role::Assistant | Role::System => ("cw-message cw-message-assistant", "Agent"),
    };
    let id = message.id.clone();
    let content = if message.role == Role::User { editable(message.clone()) } else { body(&message) };
    view! {
        <article class=class aria-label=who data-message=id>
            {content}
            <Actions message />
        </article>
    }
    .erase()
}

fn body(message: &MessageState) -> Erased {
    let (parts, role) = (message.parts.clone(), message.role);
    let item = move |part: PartState| Item { key: part.key(), view: Box::new(move || part_view(part, role)) };
    let parts = each(move || parts.get().into_iter().map(item).collect());
    // What an answer says is announced in sentences, see `announcer.rs`; the text itself must not be, token by token.
    let live = (role != Role::User).then_some("off");
    view! {
        <div class="cw-message-body" aria-live=live>
            {parts}
        </div>
    }
    .erase()
}

/// The message, or the field in which it is edited.
fn editable(message: MessageState) -> Erased {
    let session = expect_context::<Session>();
    let id = message.id.clone();
    let is_edited = Memo::new(move |_| session.is_edited(&id));
    dynamic(move || if is_edited.get() { view! { <EditForm /> }.erase() } else { body(&message) })
}
