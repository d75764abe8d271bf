//! The agents of other pages in the list for `@`, and the choice above the composer after one of them was chosen: a new
//! conversation with it, or the open conversation handed over.

use crate::actions::Actions;
use crate::address::Address;
use crate::agent_chat::composer::form_panel::{close, panel};
use crate::agent_chat::composer::types::{CommandOption, OpenForm};
use crate::agent_chat::session::Session;
use crate::api::page_links;
use crate::chat_context::{ChatContext, use_chat_context};
use crate::pages::CurrentPage;
use crate::palette::{PaletteState, go_to, hand_over};
use crate::prelude::*;
use crate::texts::{Text, error_text, fill, t};
use leptos::html;
use leptos::task::spawn_local;
use wire::page::PageLink;

/// Loads the agents of other pages. A chat without the palette, such as one in a frame on another site, leads to no other
/// page.
pub(super) fn offer(session: Session) {
    let (Some(_), Some(CurrentPage(page))) = (use_context::<PaletteState>(), use_context::<CurrentPage>()) else {
        return;
    };
    let here = page.with_value(|page| page.id.clone());
    spawn_local(async move {
        // Without them, the sub-agents are there.
        if let Ok(pages) = page_links().await
            && !session.is_disposed()
        {
            let others = pages.into_iter().filter(|page| page.is_chat && page.id != here);
            super::replace(session, '@', others.map(option));
        }
    });
}

fn option(page: PageLink) -> CommandOption {
    CommandOption {
        name: ["@", &page.title].concat(),
        description: page.description.unwrap_or_default(),
        text: String::new(),
        form: Some(OpenForm::Agent(page.id)),
    }
}

/// Goes to the page of an agent. If the conversation has messages, it asks before whether to hand it over.
pub(in crate::agent_chat::composer) fn choose(session: Session, page_id: &str) -> AnyView {
    let (loaded, problem) = (RwSignal::new(None::<PageLink>), RwSignal::new(None::<String>));
    let switch = Switch { session, chat: use_chat_context(), address: expect_context(), actions: expect_context() };
    let id = page_id.to_owned();
    spawn_local(async move {
        let answer = page_links().await;
        if problem.is_disposed() {
            return;
        }
        match answer {
            Ok(pages) => match pages.into_iter().find(|page| page.id == id) {
                Some(page) if switch.has_begun() => loaded.set(Some(page)),
                // If the user may not use the agent any more, its page says so.
                _ => switch.begin(&id),
            },
            Err(error) => problem.set(Some(error_text(&error.0))),
        }
    });
    let ways = move || loaded.get().map(|page| switch.ways(page));
    let refused = move || {
        let text = view! { <p class="cw-problem" role="alert" dir="auto">{problem.get()?}</p> };
        Some(panel(session, t(Text::TalkToAnother), text.into_any()))
    };
    view! {
        {ways}
        {refused}
    }
    .into_any()
}

/// The way to another agent; cheap to copy.
#[derive(Clone, Copy)]
struct Switch {
    session: Session,
    chat: ChatContext,
    address: Address,
    actions: Actions,
}

impl Switch {
    fn has_begun(self) -> bool {
        self.session.messages.with_untracked(|all| !all.is_empty())
    }

    /// Begins a conversation on the page of the agent.
    fn begin(self, page_id: &str) {
        go_to(self.address, &["/", page_id].concat());
        self.session.open_form.try_set(None);
    }

    /// Returns the id of the conversation if it can be handed over. A page whose state selects the conversation keeps it.
    fn conversation(self) -> Option<String> {
        let own = self.session.id.get_untracked();
        self.chat
            .conversation
            .get_untracked()
            .filter(|shown| !self.chat.is_bound_to_state() && own.as_ref() == Some(shown))
    }

    /// Renders the choice between a new conversation and the open one.
    fn ways(self, page: PageLink) -> AnyView {
        let first = NodeRef::<html::Button>::new();
        request_animation_frame(move || {
            if let Some(button) = first.get_untracked() {
                // The button is in the document, so it can be focused.
                let _ = button.focus();
            }
        });
        let PageLink { id, title, agent_id, .. } = page;
        let new_label = fill(Text::PaletteNewWith, &[&title]);
        let hand = self.conversation().zip(agent_id).map(|(conversation, agent_id)| {
            let page_id = id.clone();
            let hand = move |_| {
                hand_over(conversation.clone(), agent_id.clone(), page_id.clone(), self.actions);
                close(self.session);
            };
            view! {
                <button type="button" class="cw-button" on:click=hand>
                    {fill(Text::PaletteHandOver, &[&title])}
                </button>
            }
            .into_any()
        });
        let content = view! {
            <div class="cw-saved-prompt-form">
                <button node_ref=first type="button" class="cw-button cw-primary" on:click=move |_| self.begin(&id)>
                    {new_label}
                </button>
                {hand}
            </div>
        };
        panel(self.session, &title, content.into_any())
    }
}
