//! Something to say that the user only has to click: what it says, with a line about it.

use super::emblem::emblem;
use super::session::Session;
use crate::node::drawn;
use crate::prelude::*;
use crate::visible::{Kind, nodes};
use serde_json::json;
use wire::page::Prompt;

/// A button for each; `then` does something with what the clicked one says.
pub(super) fn prompts(session: Session, all: Vec<Prompt>, class: &'static str, then: fn(Session, String)) -> AnyView {
    let button = move |prompt: Prompt| {
        let Prompt { key, label, description, icon } = prompt;
        let said = label.clone();
        let label = nodes(&label, Kind::Prose);
        let click = move |_| {
            session.tell("onSuggestionClick", json!({ "text": said, "key": key }));
            then(session, said.clone());
        };
        let icon = icon.map(|icon| drawn(move || emblem(&icon, "cw-prompt-icon")));
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
