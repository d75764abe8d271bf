//! The entry point in the browser: hydrates the rendered page.

use app::App;
use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script once the WASM is loaded.
#[wasm_bindgen]
pub fn hydrate() {
    // Release builds have no panic messages, see `xtask/src/build.rs`.
    #[cfg(debug_assertions)]
    console_error_panic_hook::set_once();
    app::hydration::when_loaded(|| {
        hydrate_body(|| view! { <App /> });
        app::hydration::mark_alive();
    });
}
