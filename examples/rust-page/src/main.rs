//! The server side: the whole of Chatwright, with the pages of this crate.

use rust_embed::RustEmbed;
use std::process::ExitCode;

/// The site with this crate's WASM, as `cargo xtask` builds it.
#[derive(RustEmbed)]
#[folder = "$CHATWRIGHT_RUST_PAGE_SITE"]
#[allow_missing = true]
struct Files;

fn main() -> ExitCode {
    server::run(server::Site { files: Files::get, pages: rust_page::PAGES, blocks: &[], capabilities: &[] })
}
