//! The user's feedback on an answer: two buttons, and a field for the reason.

use super::state::MessageState;
use crate::agent_chat::session::{Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::ev::{KeyboardEvent, SubmitEvent};
use leptos::html;
use wire::change::{Feedback, Rating};

/// A button that rates an answer as good or bad; pressed again, it removes the rating.
pub(in crate::agent_chat) fn rating_button(
    session: Session,
    message: &MessageState,
    rating: Rating,
    asks_why: RwSignal<bool>,
) -> AnyView {
    let (of, label) = match rating {
        Rating::Up => (Shape::THUMB_UP, t(Text::GoodAnswer)),
        Rating::Down => (Shape::THUMB_DOWN, t(Text::BadAnswer)),
    };
    let (message, shown) = (message.clone(), message.clone());
    let pressed = move || Some((session.rating(&shown) == Some(rating)).to_string());
    let click = move |_| {
        let given = untrack(|| session.rating(&message)) == Some(rating);
        let feedback = (!given).then_some(Feedback { rating, reason: None });
        session.dispatch(SessionAction::Rate(message.clone(), feedback));
        asks_why.set(!given);
    };
    view! {
        <button type="button" class="cw-icon-button" aria-label=label title=label aria-pressed=pressed on:click=click>
            <Icon of />
        </button>
    }
    .into_any()
}

/// The form that asks for the reason, which is optional.
#[component]
pub(in crate::agent_chat) fn FeedbackForm(
    /// The rated answer.
    message: MessageState,
    /// Whether the form is shown.
    asks_why: RwSignal<bool>,
) -> AnyView {
    let session = expect_context::<Session>();
    let field = NodeRef::<html::Input>::new();
    Effect::new(move |_| {
        if let Some(field) = field.get() {
            // The field is in the document, so it can be focused.
            let _ = field.focus();
        }
    });
    let feedback = message.feedback.clone();
    let question = move || {
        let rating = feedback.with(|feedback| feedback.as_ref().map(|feedback| feedback.rating));
        Some(if rating == Some(Rating::Up) { t(Text::WhatWasGood) } else { t(Text::WhatWasWrong) }.to_owned())
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let reason =
            field.get_untracked().map(|field| field.value().trim().to_owned()).filter(|reason| !reason.is_empty());
        let rated = message.feedback.get_untracked();
        if let (Some(reason), Some(rated)) = (reason, rated) {
            let feedback = Feedback { reason: Some(reason), ..rated };
            session.dispatch(SessionAction::Rate(message.clone(), Some(feedback)));
            session.announcement.set(t(Text::FeedbackThanks).to_owned());
        }
        asks_why.set(false);
    };
    let keydown = move |event: KeyboardEvent| {
        if event.key() == "Escape" {
            event.stop_propagation();
            asks_why.set(false);
        }
    };
    view! {
        <form class="cw-feedback" on:submit=submit on:keydown=keydown>
            <input node_ref=field type="text" dir="auto" maxlength="2000" aria-label=t(Text::Why) placeholder=question />
            <button type="submit" class="cw-button">{t(Text::Send)}</button>
            <button type="button" class="cw-icon-button" aria-label=t(Text::Close) on:click=move |_| asks_why.set(false)>
                <Icon of=Shape::CLOSE />
            </button>
        </form>
    }
    .into_any()
}
