//! Prompts that the user can click, each with an optional description.

use crate::agent_chat::session::Session;
use crate::prelude::*;
use crate::ui::emblem::emblem;
use crate::ui::hidden_characters::{TextKind, visible_nodes};
use crate::ui::node::reactive_nodes;
use serde_json::json;
use wire::page::Prompt;

/// A button for each prompt; `then` receives the text of the clicked one.
pub(in crate::agent_chat) fn prompts(
    session: Session,
    all: Vec<Prompt>,
    class: &'static str,
    then: fn(Session, String),
) -> AnyView {
    let button = move |prompt: Prompt| {
        let Prompt { key, label, description, icon } = prompt;
        let said = label.clone();
        let label = visible_nodes(&label, TextKind::Prose);
        let click = move |_| {
            session.emit("onSuggestionClick", json!({ "text": said, "key": key }));
            then(session, said.clone());
        };
        let icon = icon.map(|icon| reactive_nodes(move || emblem(&icon, "cw-prompt-icon")));
        let about = description.map(|text| view! { <span class="cw-prompt-about" dir="auto">{text}</span> }.into_any());
        view! {
            <li>
                <button type="button" class=class on:click=click>
                    {icon}
                    <span class="cw-prompt-words">
                        <span dir="auto">{label}</span>
                        {about}
                    </span>
                </button>
            </li>
        }
        .into_any()
    };
    all.into_iter().map(button).collect_view().into_any()
}
