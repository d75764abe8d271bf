//! The choice of the model in the composer, and the switch for its thinking. The server records the used model with
//! each answer; the choice for the next message is kept in the browser.

use super::composer::drafts;
use super::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::switch_button::switch_button;
use leptos::ev::Event;
use serde::Deserialize;

/// A model among which the user chooses.
#[derive(Clone, Deserialize)]
struct Choice {
    id: String,
    title: String,
    /// Whether its thinking can be switched on.
    #[serde(default)]
    thinking: bool,
    /// Whether it answers until the user chooses.
    #[serde(default)]
    default: bool,
}

/// The origin of an answer: its id, the model, and whether it thought.
type Answered = (String, String, bool);

/// The picker, if there are several models, and the switch, if the chosen one can think.
pub(in crate::agent_chat) fn picker(session: Session) -> AnyView {
    let models = session.sender(|sender| sender.models.clone()).unwrap_or_default();
    let models: Vec<Choice> = serde_json::from_value(models).unwrap_or_default();
    let Some(default) = models.iter().find(|model| model.default).or(models.first()).cloned() else {
        return ().into_any();
    };
    // The model that the conversation began with, or that is chosen already.
    let first = session.model.get_untracked().filter(|id| models.iter().any(|model| model.id == *id));
    // An answer that is being written changes often, but not its model.
    let answered = Memo::new(move |_| newest_answer(session));
    follow(session, models.clone(), first.unwrap_or(default.id), answered);
    let thinking = models.iter().filter(|model| model.thinking).map(|model| model.id.clone()).collect::<Vec<_>>();
    let can_think =
        Memo::new(move |_| session.model.with(|model| thinking.iter().any(|id| Some(id) == model.as_ref())));
    let switch = move || can_think.get().then(|| thinking_switch(session, answered));
    let list = (models.len() > 1).then(|| list(session, models, answered, can_think));
    view! {
        {list}
        {switch}
    }
    .into_any()
}

fn newest_answer(session: Session) -> Option<Answered> {
    session.messages.with(|all| {
        all.iter().rev().find_map(|message| {
            message
                .metadata
                .with(|about| Some((message.id.clone(), about.model_id.clone()?, about.thinking == Some(true))))
        })
    })
}

fn list(session: Session, models: Vec<Choice>, answered: Memo<Option<Answered>>, can_think: Memo<bool>) -> AnyView {
    let options: Vec<_> = models
        .into_iter()
        .map(|Choice { id, title, .. }| {
            let is_chosen = untrack(|| session.model.with(|model| model.as_ref() == Some(&id)));
            view! {
                <option value=id selected=is_chosen>
                    {title}
                </option>
            }
            .into_any()
        })
        .collect();
    let change = move |event: Event| {
        session.model.set(Some(event_target_value(&event)));
        if !untrack(|| can_think.get()) {
            session.thinks.set(false);
        }
        keep(session, answered);
    };
    view! {
        <div class="cw-select">
            <select
                class="cw-quiet-select"
                aria-label=t(Text::Model)
                prop:value=move || session.model.get()
                on:change=change
            >
                {options}
            </select>
        </div>
    }
    .into_any()
}

fn thinking_switch(session: Session, answered: Memo<Option<Answered>>) -> AnyView {
    let toggle = move || {
        session.thinks.update(|on| *on = !*on);
        keep(session, answered);
    };
    switch_button(t(Text::Think).into_any(), move || session.thinks.get(), toggle)
}

/// Shows the choice of the newest answer, also of one that was asked for in another tab, or what the user
/// has chosen since.
fn follow(session: Session, models: Vec<Choice>, default: String, answered: Memo<Option<Answered>>) {
    let show = move |(model, thinks): (String, bool)| {
        let known = models.iter().find(|known| known.id == model);
        session.thinks.set(thinks && known.is_some_and(|known| known.thinking));
        session.model.set(Some(known.map_or_else(|| default.clone(), |known| known.id.clone())));
    };
    // The server renders this, so it is without what the browser keeps.
    let of = |answered: Option<Answered>| answered.map(|(_, model, thinks)| (model, thinks)).unwrap_or_default();
    show(of(untrack(|| answered.get())));
    Effect::new(move |_| {
        let newest = answered.get();
        let since = kept(session, newest.as_ref());
        show(since.unwrap_or_else(|| of(newest)));
    });
}

/// The storage key of the user's choice.
fn key(session: Session) -> String {
    format!("{}/{}/model", session.storage_key(), untrack(|| session.id.get()).unwrap_or_default())
}

/// Keeps the choice until the next answer, which records it.
fn keep(session: Session, answered: Memo<Option<Answered>>) {
    let since = untrack(|| answered.get()).map(|(id, ..)| id).unwrap_or_default();
    let (model, thinks) = untrack(|| (session.model.get().unwrap_or_default(), session.thinks.get()));
    drafts::keep(&key(session), &format!("{since} {thinks} {model}"));
}

/// Returns the user's choice since an answer.
fn kept(session: Session, newest: Option<&Answered>) -> Option<(String, bool)> {
    let text = drafts::read(&key(session))?;
    let mut parts = text.splitn(3, ' ');
    let (since, thinks, model) = (parts.next()?, parts.next()?, parts.next()?);
    let newest = newest.map_or("", |(id, ..)| id);
    (since == newest).then(|| (model.to_owned(), thinks == "true"))
}
