//! The `chatwright` binary.

use rust_embed::RustEmbed;
use std::process::ExitCode;

/// The built site: WASM, JavaScript, styles, the public folder. In a release it is inside the binary, precompressed.
#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/../target/site"]
#[allow_missing = true]
struct Files;

fn main() -> ExitCode {
    server::run(server::Site { files: Files::get, pages: &[] })
}
