//! The browser's entry: takes the rendered page over, nothing else.

use app::App;
use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script once the WASM is there.
#[wasm_bindgen]
pub fn hydrate() {
    // In a release a panic says nothing, see `xtask/src/build.rs`.
    #[cfg(debug_assertions)]
    console_error_panic_hook::set_once();
    app::chunks::when_loaded(|| hydrate_body(|| view! { <App /> }));
}
