//! The server side: the whole of Chatwright, with what this crate adds.

use rust_embed::RustEmbed;
use std::process::ExitCode;

/// The site with this crate's WASM, as `cargo xtask` builds it.
#[derive(RustEmbed)]
#[folder = "$CHATWRIGHT_EXTENDED_SITE"]
#[allow_missing = true]
struct SiteFiles;

fn main() -> ExitCode {
    let capabilities = &[extended::DEFINITION];
    server::run(server::Site { files: SiteFiles::get, pages: &[], blocks: extended::BLOCKS, capabilities })
}
