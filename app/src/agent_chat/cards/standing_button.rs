//! The button that opens the list of standing approvals, shown once the user has any, so that they
//! can be revoked at any time.

use super::standing_state::StandingApprovalState;
use crate::api::list_grants;
use crate::prelude::*;
use crate::texts::{Text, t};
use crate::ui::icons::{Icon, Shape};
use leptos::task::spawn_local;

/// The button, next to the send button.
pub(in crate::agent_chat) fn standing_button(standing: StandingApprovalState) -> AnyView {
    Effect::new(move |_| {
        // Another conversation of the chat may have loaded them already.
        if untrack(|| standing.are_any()) {
            return;
        }
        spawn_local(async move {
            // If the list cannot be loaded, the button stays hidden; the note below a call opens
            // the list as well. An approval granted meanwhile stays known.
            if list_grants().await.is_ok_and(|list| !list.items.is_empty()) {
                standing.set_any(true);
            }
        });
    });
    (move || {
        standing.are_any().then(|| {
            view! {
                <button
                    type="button"
                    class="cw-icon-button cw-standing-open"
                    aria-haspopup="dialog"
                    aria-label=t(Text::StandingTitle)
                    title=t(Text::StandingTitle)
                    on:click=move |_| standing.open()
                >
                    <Icon of=Shape::SHIELD />
                </button>
            }
            .into_any()
        })
    })
    .into_any()
}
