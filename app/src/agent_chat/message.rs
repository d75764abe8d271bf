//! A message of the log.

use super::EXTRAS;
use super::days::heading;
use super::emblem::emblem;
use super::message_actions::Actions;
use super::message_state::{MessageState, PartKind, PartState};
use super::notice::ending;
use super::part::part_view;
use super::reasoning::{all_reasoning, group_starts, reasoning_from};
use super::session::Session;
use super::sources::{marks, sources};
use crate::node::drawn;
use crate::prelude::*;
use crate::texts::{Text, t};
use wire::Role;
use wire::page::Speaker;

/// One message with its parts and what can be done with it.
#[component]
pub(super) fn Message(
    /// The message.
    message: MessageState,
) -> AnyView {
    let session = expect_context::<Session>();
    let (class, who) = match message.role {
        Role::User => ("cw-message cw-message-user", t(Text::You)),
        Role::Assistant | Role::System => ("cw-message cw-message-assistant", t(Text::Agent)),
    };
    let speaker = session.speaker(message.role);
    let head = head(&speaker);
    let who = speaker.name.unwrap_or_else(|| who.to_owned());
    let id = message.id.clone();
    let content = if message.role == Role::User { editable(message.clone()) } else { body(&message) };
    let day = heading(session, &message);
    let ending = if message.role == Role::Assistant { ending(session, &message) } else { ().into_any() };
    view! {
        {day}
        <article class=class aria-label=who data-message=id data-variant=speaker.variant data-shape=speaker.shape>
            {head}
            {content}
            {ending}
            <Actions message />
        </article>
    }
    .into_any()
}

/// Who speaks, where the config gives them a name or a picture.
fn head(speaker: &Speaker) -> Option<AnyView> {
    let avatar = speaker.avatar.clone().map(|avatar| drawn(move || emblem(&avatar, "cw-avatar")));
    let name = speaker.name.clone().map(|name| view! { <span dir="auto">{name}</span> }.into_any());
    let head = avatar.into_iter().chain(name).collect_view().into_any();
    let is_there = speaker.avatar.is_some() || speaker.name.is_some();
    is_there.then(|| view! { <div class="cw-message-head">{head}</div> }.into_any())
}

fn body(message: &MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let (parts, role, marks) = (message.parts.clone(), message.role, marks(session, message));
    let (shows_reasoning, is_grouped) = session.display(|display| (display.show_reasoning, display.reasoning_grouped));
    let is_grouped = is_grouped && shows_reasoning;
    let of = message.clone();
    let part = move |part: PartState| match part.kind {
        PartKind::Reasoning { .. } => reasoning_from(&of, part.number),
        _ => part_view(part, role, marks.clone()),
    };
    let parts = move || {
        let parts = parts.get();
        let starts = if shows_reasoning && !is_grouped { group_starts(&parts) } else { Vec::new() };
        let stands_here = |part: &PartState| {
            !matches!(part.kind, PartKind::Reasoning { .. }) || starts.binary_search(&part.number).is_ok()
        };
        parts.into_iter().filter(stands_here).collect::<Vec<_>>()
    };
    let thoughts = if is_grouped { all_reasoning(message) } else { ().into_any() };
    let sources = if session.display(|display| display.show_sources) { sources(message) } else { ().into_any() };
    // What an answer says is announced in sentences, see `announcer.rs`; the text itself must not be, token by token.
    let live = (role != Role::User).then_some("off");
    view! {
        <div class="cw-message-body" aria-live=live>
            {thoughts}
            <For each=parts key=PartState::key children=part />
            {sources}
        </div>
    }
    .into_any()
}

/// The message, or the field in which it is edited.
fn editable(message: MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let id = message.id.clone();
    let is_edited = Memo::new(move |_| session.is_edited(&id));
    // Until the field's code is there, what it replaces stands where it stood.
    let has_field = move || is_edited.get() && EXTRAS.get().is_some();
    (move || if has_field() { EXTRAS.view(|code| (code.edit)()) } else { body(&message) }).into_any()
}
