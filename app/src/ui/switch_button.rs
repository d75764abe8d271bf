//! The button that switches something on and off.

use crate::prelude::*;

/// A button in the composer that is pressed while something is on. `is_on` is tracked.
pub(crate) fn switch_button(
    label: AnyView,
    is_on: impl Fn() -> bool + Send + Sync + 'static,
    toggle: impl Fn() + 'static,
) -> AnyView {
    view! {
        <button
            type="button"
            class="cw-switch-button"
            aria-pressed=move || Some(is_on().to_string())
            on:click=move |_| toggle()
        >
            {label}
        </button>
    }
    .into_any()
}
