//! The buttons of the composer beside the one that sends.

use super::session::{Act, Session};
use super::{browser, speech};
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::ev::Event;
use leptos::html;
use wire::page::SenderSwitch;

/// What the config gives the composer; none when it gives nothing.
pub(super) fn tools(session: Session) -> Option<AnyView> {
    let (accept, switches, allow_speech) = session.sender(|sender| {
        let accept = sender.attachments.as_ref().map(|attachments| attachments.accept.join(","));
        (accept, sender.switches.clone(), sender.allow_speech)
    });
    if accept.is_none() && switches.is_empty() && !allow_speech {
        return None;
    }
    let picker = accept.map(|accept| picker(session, accept));
    let switches =
        switches.into_iter().enumerate().map(|(index, switch)| turn(session, index, switch)).collect_view().into_any();
    let microphone = allow_speech.then(|| microphone(session));
    Some(
        view! {
            <div class="cw-composer-tools">
                {picker}
                {switches}
                {microphone}
            </div>
        }
        .into_any(),
    )
}

fn picker(session: Session, accept: String) -> AnyView {
    let field = NodeRef::<html::Input>::new();
    let change = move |_: Event| {
        if let Some(field) = field.get_untracked() {
            session.act(Act::Attach(browser::files(field.files()), false));
            // The same file may be chosen again.
            field.set_value("");
        }
    };
    let open = move |_| {
        if let Some(field) = field.get_untracked() {
            field.click();
        }
    };
    view! {
        <input
            node_ref=field
            type="file"
            multiple
            hidden
            accept=(!accept.is_empty()).then_some(accept)
            on:change=change
        />
        <button
            type="button"
            class="cw-icon-button"
            aria-label=t(Text::AttachFiles)
            title=t(Text::AttachFiles)
            on:click=open
        >
            <Icon of=Shape::Clip />
        </button>
    }
    .into_any()
}

fn turn(session: Session, index: usize, switch: SenderSwitch) -> AnyView {
    let pressed = move || Some(session.switched.with(|switched| switched.get(index) == Some(&true)).to_string());
    view! {
        <button
            type="button"
            class="cw-switch-button"
            aria-pressed=pressed
            on:click=move |_| session.turn_switch(index)
        >
            {switch.icon.map(|icon| view! { <span aria-hidden="true">{icon}</span> })}
            {switch.label}
        </button>
    }
    .into_any()
}

/// Only where the browser understands words, which the server cannot know.
fn microphone(session: Session) -> AnyView {
    let can_hear = RwSignal::new(false);
    Effect::new(move |_| can_hear.set(speech::can_hear()));
    (move || {
        can_hear.get().then(|| {
            let pressed = move || Some(session.hearing.get().to_string());
            view! {
                <button
                    type="button"
                    class="cw-icon-button cw-microphone"
                    aria-label=t(Text::Speak)
                    title=t(Text::Speak)
                    aria-pressed=pressed
                    on:click=move |_| session.act(Act::Dictate)
                >
                    <Icon of=Shape::Microphone />
                </button>
            }
            .into_any()
        })
    })
    .into_any()
}
