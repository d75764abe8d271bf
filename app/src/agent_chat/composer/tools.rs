//! The buttons of the composer other than the send button: attachments, switches, choices, dictation.

use super::speech;
use super::types::OpenForm;
use crate::agent_chat::chunk_tables::{CHOICES, MODELS, PLAN};
use crate::agent_chat::session::{Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::browser;
use crate::ui::icons::{Icon, Shape};
use crate::ui::switch_button::switch_button;
use leptos::ev::Event;
use leptos::html;
use wire::page::{PlanMode, SenderSwitch};

/// The buttons that the config enables; none if it enables none.
pub(in crate::agent_chat) fn composer_tools(session: Session) -> Option<AnyView> {
    let (accept, switches, allow_speech) = session.sender(|sender| {
        let accept = sender.attachments.as_ref().map(|attachments| attachments.accept.join(","));
        (accept, sender.switches.clone(), sender.allow_speech)
    });
    let (may_plan, may_choose, has_models) = session.sender(|sender| {
        let may_choose = sender.documents.is_some() || sender.web.is_some() || sender.delegate.is_some();
        (sender.plan_mode == Some(PlanMode::Optional), may_choose, sender.models.is_some())
    });
    let has_none = accept.is_none() && switches.is_empty() && !allow_speech;
    if has_none && !may_plan && !may_choose && !has_models {
        return None;
    }
    let picker = accept.map(|accept| file_picker(session, accept));
    let switches = switches
        .into_iter()
        .enumerate()
        .map(|(index, switch)| configured_switch(session, index, switch))
        .collect_view()
        .into_any();
    let plan = may_plan.then(|| PLAN.view(move |code| (code.switch)(session)));
    let choices = may_choose.then(|| CHOICES.view(move |code| (code.choices)(session)));
    let models = has_models.then(|| MODELS.view(move |code| (code.picker)(session)));
    let microphone = allow_speech.then(|| microphone(session));
    Some(
        view! {
            <div class="cw-composer-tools">
                {picker}
                {switches}
                {choices}
                {plan}
                {models}
                {microphone}
            </div>
        }
        .into_any(),
    )
}

fn file_picker(session: Session, accept: String) -> AnyView {
    let field = NodeRef::<html::Input>::new();
    let change = move |_: Event| {
        if let Some(field) = field.get_untracked() {
            session.dispatch(SessionAction::Attach(browser::files(field.files()), false));
            // Allows the user to select the same file again.
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
            <Icon of=Shape::CLIP />
        </button>
    }
    .into_any()
}

fn configured_switch(session: Session, index: usize, switch: SenderSwitch) -> AnyView {
    let is_on = move || session.switch_states.with(|switched| switched.get(index) == Some(&true));
    let label = view! {
        {switch.icon.map(|icon| view! { <span aria-hidden="true">{icon}</span> })}
        {switch.label}
    };
    switch_button(label.into_any(), is_on, move || session.toggle_switch(index))
}

/// Shown only if the server writes down what is said, or the browser supports speech recognition, which the server
/// cannot know.
fn microphone(session: Session) -> AnyView {
    let can_hear = RwSignal::new(false);
    Effect::new(move |_| can_hear.set(session.dictation_seconds().is_some() || speech::can_recognize()));
    (move || {
        can_hear.get().then(|| {
            let pressed = move || {
                let is_open = session.open_form.with(|form| *form == Some(OpenForm::Dictation));
                Some((is_open || session.is_dictating.get()).to_string())
            };
            view! {
                <button
                    type="button"
                    class="cw-icon-button cw-microphone"
                    aria-label=t(Text::Speak)
                    title=t(Text::Speak)
                    aria-pressed=pressed
                    on:click=move |_| session.dispatch(SessionAction::Dictate)
                >
                    <Icon of=Shape::MICROPHONE />
                </button>
            }
            .into_any()
        })
    })
    .into_any()
}
