#![doc = include_str!("../README.md")]

mod gauge;
#[cfg(feature = "ssr")]
mod server;

#[cfg(feature = "ssr")]
pub use server::DEFINITION;

use app::blocks::RustBlockType;

/// The types of blocks that this crate adds, for the server and the browser.
pub const BLOCKS: &[RustBlockType] = &[RustBlockType::of::<gauge::Gauge>()];

/// Called by the page's script once the WASM is there.
#[cfg(feature = "hydrate")]
#[wasm_bindgen::prelude::wasm_bindgen]
pub fn hydrate() {
    use leptos::prelude::*;
    app::hydration::when_loaded(|| {
        hydrate_body(|| view! { <app::App blocks=BLOCKS /> });
        app::hydration::mark_alive();
    });
}
