//! The way to the user's standing approvals, once there are any: they can be revoked without a call that one of them let run.

use super::standing::Standing;
use crate::api::list_grants;
use crate::icons::{Icon, Shape};
use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::task::spawn_local;

/// A button beside the one that sends.
pub(super) fn standing_button(standing: Standing) -> AnyView {
    Effect::new(move |_| {
        // The chat's last conversation may have asked.
        if untrack(|| standing.are_any()) {
            return;
        }
        spawn_local(async move {
            // Whoever cannot know shows nothing; the line below a call leads to the list all the same. One that was given meanwhile counts.
            if list_grants().await.is_ok_and(|list| !list.items.is_empty()) {
                standing.found(true);
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
                    <Icon of=Shape::Shield />
                </button>
            }
            .into_any()
        })
    })
    .into_any()
}
