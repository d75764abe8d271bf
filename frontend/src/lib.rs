//! The browser's entry: takes the rendered page over, nothing else.

use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page's script once the WASM is there.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(app::App);
}
