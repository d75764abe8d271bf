//! The WASM as the browser loads it: split into the code of every page and the chunks of some, with the JavaScript that
//! they call. This is what the commands `wasm-split` and `wasm-bindgen` do. They are used as libraries, so that cargo keeps
//! their versions equal to those in the WASM and nobody has to install them.

use super::files::forget_copies;
use super::split::{self, LOADER, MANIFEST};
use crate::build::Profile;
use anyhow::{Context, Result, bail};
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// Makes the bindings, unless those that this tool made of this WASM are there already.
pub(super) fn make(compiled: &Path, package: &Path, profile: Profile) -> Result<()> {
    let input = std::fs::read(compiled).with_context(|| format!("{}", compiled.display()))?;
    // Beside the site and not in it: what is in it is served.
    let stamp = package.join("../../site.bound");
    // Another version of this tool makes something else of the same WASM. One that was replaced while it runs cannot be read.
    let tool = std::env::current_exe().and_then(std::fs::read).ok().map(|tool| fingerprint(&tool));
    let mark = format!("{profile:?} {} {:x} {tool:x?}", input.len(), fingerprint(&input));
    let made = ["chatwright.wasm", "chatwright.js", LOADER, MANIFEST].map(|name| package.join(name));
    let is_known = tool.is_some() && std::fs::read_to_string(&stamp).is_ok_and(|known| known == mark);
    if is_known && made.iter().all(|file| file.exists()) {
        return Ok(());
    }
    // Chunks have other names in every build.
    if package.exists() {
        std::fs::remove_dir_all(package)?;
    }
    std::fs::create_dir_all(package)?;
    let main = split::split(&input, package, profile)?;
    bind(main, package, profile)?;
    made.iter().try_for_each(|file| forget_copies(file))?;
    Ok(std::fs::write(stamp, mark)?)
}

fn bind(wasm: Vec<u8>, package: &Path, profile: Profile) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes("chatwright", wasm).web(true)?.typescript(false).omit_default_module_path(true);
    // The chunks share the stack and the table of functions with it.
    bindgen.keep_lld_exports(true);
    if profile == Profile::Release {
        bindgen.remove_name_section(true).remove_producers_section(true);
    }
    if let Err(error) = bindgen.generate(package) {
        bail!("wasm-bindgen: {error}");
    }
    // The page asks for this name, because LEPTOS_OUTPUT_NAME is set when the server is compiled.
    Ok(std::fs::rename(package.join("chatwright_bg.wasm"), package.join("chatwright.wasm"))?)
}

/// Tells two builds apart; nothing hostile is compared.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
