//! A message of the log.

use super::actions::Actions;
use super::notice::ending_notice;
use super::part::part_view;
use super::reasoning::{all_reasoning, group_starts, reasoning_from};
use super::sources::{marks, sources};
use super::state::{MessageState, PartKind, PartState};
use crate::agent_chat::chunk_tables::EXTRAS;
use crate::agent_chat::log::days::heading;
use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::emblem::emblem;
use crate::ui::node::reactive_nodes;
use wire::Role;
use wire::page::{MessageShape, MessageVariant, ReasoningDisplay, Speaker};

/// One message with its parts and its actions.
#[component]
pub(in crate::agent_chat) fn Message(
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
    let (variant, shape) = (speaker.variant.map(MessageVariant::name), speaker.shape.map(MessageShape::name));
    let who = speaker.name.unwrap_or_else(|| who.to_owned());
    let id = message.id.clone();
    let content = if message.role == Role::User { editable(message.clone()) } else { body(&message) };
    let day = heading(session, &message);
    let ending = if message.role == Role::Assistant { ending_notice(session, &message) } else { ().into_any() };
    view! {
        {day}
        <article class=class aria-label=who data-message=id data-variant=variant data-shape=shape>
            {head}
            {content}
            {ending}
            <Actions message />
        </article>
    }
    .into_any()
}

/// The name and the picture of the speaker, if the config gives them.
fn head(speaker: &Speaker) -> Option<AnyView> {
    let avatar = speaker.avatar.clone().map(|avatar| reactive_nodes(move || emblem(&avatar, "cw-avatar")));
    let name = speaker.name.clone().map(|name| view! { <span dir="auto">{name}</span> }.into_any());
    let head = avatar.into_iter().chain(name).collect_view().into_any();
    let is_there = speaker.avatar.is_some() || speaker.name.is_some();
    is_there.then(|| view! { <div class="cw-message-head">{head}</div> }.into_any())
}

fn body(message: &MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let (parts, role, marks) = (message.parts.clone(), message.role, marks(session, message));
    let (shows_reasoning, is_grouped) =
        session.display(|display| (display.show_reasoning, display.reasoning_display == ReasoningDisplay::Grouped));
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
    // Answers are announced in whole sentences, see `log/announcer.rs`; the text must not be announced
    // token by token.
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

/// The message, or the form in which it is edited.
fn editable(message: MessageState) -> AnyView {
    let session = expect_context::<Session>();
    let id = message.id.clone();
    let is_edited = Memo::new(move |_| session.is_edited(&id));
    // Until the code of the form is loaded, the message stays visible.
    let has_field = move || is_edited.get() && EXTRAS.get().is_some();
    (move || if has_field() { EXTRAS.view(|code| (code.edit)()) } else { body(&message) }).into_any()
}
