//! The `chatwright` binary.

use rust_embed::RustEmbed;
use std::process::ExitCode;

/// The built site: WASM, JavaScript, styles and the public folder. A release embeds the files in
/// the binary, precompressed.
#[derive(RustEmbed)]
#[folder = "$CHATWRIGHT_SITE"]
#[allow_missing = true]
struct SiteFiles;

fn main() -> ExitCode {
    server::run(server::Site { files: SiteFiles::get, pages: &[], blocks: &[], capabilities: &[] })
}
