//! The actions of a message, in the row below it. The row is in the layout from the start, so that
//! nothing moves when an answer is complete. Less common actions are in the menu, see
//! `menu.rs`.

use super::feedback::rating_button;
use super::info::message_info;
use super::menu::{MENU, has_menu};
use super::notice::text_with_outcome;
use super::state::MessageState;
use super::versions::Versions;
use crate::agent_chat::chunk_tables::EXTRAS;
use crate::agent_chat::session::{Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser;
use crate::ui::icons::{Icon, Shape};
use std::time::Duration;
use wire::Role;
use wire::api::Outcome;
use wire::change::Rating;

/// How long the copy button shows that the text was copied.
const COPIED_FOR: Duration = Duration::from_millis(1600);

/// The row of actions, and below it the form for feedback.
#[component]
pub(in crate::agent_chat) fn Actions(
    /// The message.
    message: MessageState,
) -> AnyView {
    let session = expect_context::<Session>();
    let actions = session.actions();
    let is_answer = message.role == Role::Assistant;
    let id = message.id.clone();
    let is_newest = Memo::new(move |_| session.is_newest(&id));
    let (blank, edited) = (message.clone(), message.id.clone());
    let is_hidden = Memo::new(move |_| {
        blank.is_blank() || is_answer && is_newest.get() && session.is_busy() || session.is_edited(&edited)
    });
    let asks_why = RwSignal::new(false);
    // They appear with the second version, at the end of the row without other buttons, so that no
    // button moves under the pointer.
    let versions = view! { <Versions message=message.clone() /> }.into_any();
    let (first, last) = if is_answer { (None, Some(versions)) } else { (Some(versions), None) };
    let mut row: Vec<_> = first.into_iter().collect();
    if actions.copy {
        row.push(copy_button(message.clone()));
    }
    if is_answer && actions.feedback {
        row.extend([Rating::Up, Rating::Down].map(|rating| rating_button(session, &message, rating, asks_why)));
    }
    if actions.regenerate {
        row.push(again_button(session, &message, is_newest));
    }
    if !is_answer && actions.edit {
        let message = message.clone();
        row.push(button(t(Text::Edit), Shape::PENCIL, session, move || session.begin_edit(&message)));
    }
    if has_menu(actions, is_answer) {
        row.push(menu_button(session, message.clone()));
    }
    row.extend(last);
    row.push(message_info(session, &message));
    let why = move || {
        let message = message.clone();
        asks_why.get().then(|| EXTRAS.view(move |code| (code.feedback)(message.clone(), asks_why)))
    };
    view! {
        <div
            class="cw-message-actions"
            role="group"
            aria-label=t(Text::MessageActions)
            class:cw-hidden=move || is_hidden.get()
            // A user who points at the row may use more than the copy button, so the code is
            // requested early.
            on:pointerover=|_| EXTRAS.request()
            on:focusin=|_| EXTRAS.request()
        >
            {row.collect_view()}
        </div>
        {why}
    }
    .into_any()
}

/// A button that changes the conversation. It is disabled while an answer is being written.
fn button(label: &'static str, of: Shape, session: Session, click: impl Fn() + Send + 'static) -> AnyView {
    view! {
        <button
            type="button"
            class="cw-icon-button"
            aria-label=label
            title=label
            disabled=move || session.is_busy()
            on:click=move |_| click()
        >
            <Icon of />
        </button>
    }
    .into_any()
}

fn copy_button(message: MessageState) -> AnyView {
    let copied = RwSignal::new(false);
    let what = if message.role == Role::User { t(Text::CopyMessage) } else { t(Text::CopyAnswer) };
    let copy = move |_| {
        if browser::copy(&text_with_outcome(message.text_with_footnotes(), &message)) {
            copied.set(true);
            let reset = move || {
                // The message may have been removed by then.
                let _ = copied.try_set(false);
            };
            set_timeout(reset, COPIED_FOR);
        }
    };
    let label = move || Some(if copied.get() { t(Text::Copied) } else { what }.to_owned());
    let icon = move || view! { <Icon of=if copied.get() { Shape::CHECK } else { Shape::COPY } /> }.into_any();
    view! {
        <button type="button" class="cw-icon-button" aria-label=label title=label on:click=copy>
            {icon}
        </button>
    }
    .into_any()
}

/// Regenerates an answer, unless it waits for the user; for a user's message that is the newest,
/// requests an answer.
fn again_button(session: Session, message: &MessageState, is_newest: Memo<bool>) -> AnyView {
    let (id, metadata, is_answer) = (message.id.clone(), message.metadata.clone(), message.role == Role::Assistant);
    let can = Memo::new(move |_| {
        let waits = metadata.with(|metadata| metadata.outcome == Some(Outcome::Waiting));
        if is_answer { !(is_newest.get() && waits) } else { is_newest.get() && !session.is_busy() }
    });
    (move || {
        let id = id.clone();
        let label = if is_answer { t(Text::AnswerAgain) } else { t(Text::AnswerThis) };
        can.get().then(|| {
            button(label, Shape::RETRY, session, move || session.dispatch(SessionAction::Regenerate(Some(id.clone()))))
        })
    })
    .into_any()
}

fn menu_button(session: Session, message: MessageState) -> AnyView {
    view! {
        <button
            type="button"
            class="cw-icon-button"
            popovertarget=MENU
            aria-haspopup="menu"
            aria-label=t(Text::More)
            title=t(Text::More)
            // Runs before the menu opens, which is the default action of the click.
            on:click=move |_| session.menu_message.set(Some(message.clone()))
        >
            <Icon of=Shape::MORE />
        </button>
    }
    .into_any()
}
