//! The welcome text of an empty chat.

use super::prompt::prompts;
use crate::agent_chat::session::{Session, SessionAction};
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::emblem::emblem;
use crate::ui::icons::{Icon, Shape};
use crate::ui::node::reactive_nodes;
use wire::page::{PromptGroup, Welcome as WelcomeText, WelcomeVariant};

/// A title, a description, and prompts to click.
#[component]
pub(in crate::agent_chat) fn Welcome(
    /// The text, from the config.
    text: WelcomeText,
) -> AnyView {
    let session = expect_context::<Session>();
    let title = if text.title.is_empty() { t(Text::HowCanIHelp).to_owned() } else { text.title };
    let class = if text.variant == WelcomeVariant::Filled { "cw-welcome cw-welcome-filled" } else { "cw-welcome" };
    let icon = text.icon.map(|icon| reactive_nodes(move || emblem(&icon, "cw-welcome-icon")));
    let sent = (!text.prompts.is_empty()).then(|| {
        let said = prompts(session, text.prompts, "cw-prompt", |session, words| {
            session.dispatch(SessionAction::SendText(words))
        });
        view! { <ul class="cw-prompts">{said}</ul> }.into_any()
    });
    view! {
        <div class=class>
            {icon}
            <h2 dir="auto">{title}</h2>
            {(!text.description.is_empty()).then(|| view! { <p dir="auto">{text.description}</p> })}
            {sent}
            {text.tracks.into_iter().map(|group| track(session, group)).collect_view()}
        </div>
    }
    .into_any()
}

/// A group of prompts that are put into the composer when clicked. Groups open without script, one
/// at a time.
fn track(session: Session, track: PromptGroup) -> AnyView {
    let put = prompts(session, track.prompts, "cw-prompt", Session::fill_in);
    view! {
        <details class="cw-track" name="cw-track">
            <summary>
                <span dir="auto">{track.label}</span>
                <span class="cw-chevron">
                    <Icon of=Shape::CHEVRON />
                </span>
            </summary>
            <ul class="cw-prompts">{put}</ul>
        </details>
    }
    .into_any()
}
