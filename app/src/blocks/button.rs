//! The block `Button`.

use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::task::spawn_local;
use serde_json::Value;
use wire::page::{ButtonProperties, ButtonVariant};

/// A button. Clicks are ignored while the handlers of an earlier click are still running.
#[component]
pub fn Button(
    /// The block's id.
    #[prop(into)]
    id: String,
    /// `title`, `variant` and `disabled`.
    #[prop(into)]
    properties: Properties,
    /// `onClick`.
    #[prop(optional)]
    events: BlockEvents,
) -> AnyView {
    let busy = RwSignal::new(false);
    let own = move || properties.get::<ButtonProperties>();
    let class = move || {
        Some(match own().variant {
            ButtonVariant::Primary => "cw-button cw-primary".to_owned(),
            ButtonVariant::Danger => "cw-button cw-danger".to_owned(),
            ButtonVariant::Default => "cw-button".to_owned(),
        })
    };
    let click = move |_| {
        if busy.get_untracked() {
            return;
        }
        busy.set(true);
        let events = events.clone();
        spawn_local(async move {
            events.emit_and_wait("onClick", Value::Null).await;
            // The page may be gone by now, since a click may navigate.
            busy.try_set(false);
        });
    };
    view! {
        <div class="cw-button-row">
            // `aria-busy` instead of `disabled` while it is busy: a disabled button would lose the
            // focus.
            <button
                type="button"
                id=id
                class=class
                disabled=move || own().disabled
                aria-busy=move || busy.get().then(|| "true".to_owned())
                on:click=click
            >
                {move || own().title}
            </button>
        </div>
    }
    .into_any()
}
