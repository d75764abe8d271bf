//! What an empty chat says.

use super::session::{Act, Session};
use crate::erase::{Erase, handler};
use crate::texts::{Text, t};
use leptos::prelude::*;
use wire::page::Welcome as WelcomeText;

/// A heading, a sentence, and prompts to click.
#[component]
pub(super) fn Welcome(
    /// What it says, from the config.
    text: WelcomeText,
) -> impl IntoView {
    let session = expect_context::<Session>();
    let title = if text.title.is_empty() { t(Text::HowCanIHelp).to_owned() } else { text.title };
    let prompt = move |prompt: String| {
        let sent = prompt.clone();
        let click = move |_| {
            session.tell("onSuggestionClick", serde_json::json!({ "text": sent }));
            session.act(Act::SendText(sent.clone()));
        };
        view! {
            <li>
                <button type="button" class="cw-prompt" dir="auto" on:click=handler(click)>
                    {prompt}
                </button>
            </li>
        }
    };
    view! {
        <div class="cw-welcome">
            <h2 dir="auto">{title}</h2>
            {(!text.description.is_empty()).then(|| view! { <p dir="auto">{text.description}</p> })}
            {(!text.prompts.is_empty())
                .then(|| {
                    view! { <ul class="cw-prompts">{text.prompts.into_iter().map(prompt).collect_view()}</ul> }
                })}
        </div>
    }
    .erase()
}
