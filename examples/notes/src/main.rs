//! The whole of Chatwright, with notes.

use rust_embed::RustEmbed;
use std::process::ExitCode;

/// The site of the product, as `cargo xtask` builds it.
#[derive(RustEmbed)]
#[folder = "$CHATWRIGHT_SITE"]
#[allow_missing = true]
struct SiteFiles;

fn main() -> ExitCode {
    server::run(server::Site { files: SiteFiles::get, pages: &[], blocks: &[], capabilities: &[notes::DEFINITION] })
}
