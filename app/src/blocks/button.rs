//! The block `Button`.

use crate::actions::BlockEvents;
use crate::prelude::*;
use crate::properties::Properties;
use leptos::task::spawn_local;
use serde_json::Value;

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
    let class = move || {
        Some(match properties.text("variant").as_deref() {
            Some("primary") => "cw-button cw-primary".to_owned(),
            Some("danger") => "cw-button cw-danger".to_owned(),
            _ => "cw-button".to_owned(),
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
                disabled=move || properties.flag("disabled")
                aria-busy=move || busy.get().then(|| "true".to_owned())
                on:click=click
            >
                {move || properties.text("title").unwrap_or_default()}
            </button>
        </div>
    }
    .into_any()
}
