//! Processes the compiled WASM for the browser: splits it into a main module and chunks, and
//! generates the JavaScript bindings. This is what the commands `wasm-split` and `wasm-bindgen` do.
//! They are used as libraries, so that cargo keeps their versions equal to those in the WASM and
//! nobody has to install them.

use super::files::remove_compressed_copies;
use super::split::{self, LOADER, MANIFEST};
use super::{optimize, scripts};
use crate::build::Profile;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use wasm_bindgen_cli_support::{Bindgen, EncodeInto};

/// Writes the bindings, unless this version of xtask has already made them from the same WASM.
/// `styled` are the chunks with a style sheet.
pub(super) fn make(
    root: &Path,
    compiled: &Path,
    package: &Path,
    profile: Profile,
    styled: &BTreeSet<String>,
) -> Result<()> {
    let input = std::fs::read(compiled).with_context(|| format!("{}", compiled.display()))?;
    // Outside the site, since everything in it is served.
    let stamp = package.join("../../site.bound");
    // Another version of xtask may produce other bindings from the same WASM. An executable that
    // was replaced while it runs cannot be read; then the bindings are always made.
    let tool = std::env::current_exe().and_then(std::fs::read).ok().map(|tool| fingerprint(&tool));
    let mark = format!("{profile:?} {} {:x} {tool:x?} {styled:?}", input.len(), fingerprint(&input));
    let made = ["chatwright.wasm", "chatwright.js", LOADER, MANIFEST].map(|name| package.join(name));
    let is_known = tool.is_some() && std::fs::read_to_string(&stamp).is_ok_and(|known| known == mark);
    if is_known && made.iter().all(|file| file.exists()) {
        return Ok(());
    }
    // The names of the chunks change with every build.
    if package.exists() {
        std::fs::remove_dir_all(package)?;
    }
    std::fs::create_dir_all(package)?;
    let main = split::split(&input, package, profile, styled)?;
    run_bindgen(main, package, profile)?;
    if profile == Profile::Release {
        optimize::optimize(root, package)?;
    }
    made.iter().try_for_each(|file| remove_compressed_copies(file))?;
    Ok(std::fs::write(stamp, mark)?)
}

fn run_bindgen(wasm: Vec<u8>, package: &Path, profile: Profile) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes("chatwright", wasm).web(true)?.typescript(false).omit_default_module_path(true);
    // The chunks use the stack and the function table of the main module.
    bindgen.keep_lld_exports(true);
    // Every browser that can run the app has it; the code for others is left out.
    bindgen.encode_into(EncodeInto::Always);
    if profile == Profile::Release {
        bindgen.remove_name_section(true).remove_producers_section(true);
    }
    if let Err(error) = bindgen.generate(package) {
        bail!("wasm-bindgen: {error}");
    }
    if profile == Profile::Release {
        let script = package.join("chatwright.js");
        std::fs::write(&script, scripts::minify(&std::fs::read_to_string(&script)?)?)?;
    }
    // The page requests this name, because LEPTOS_OUTPUT_NAME is set when the server is compiled.
    Ok(std::fs::rename(package.join("chatwright_bg.wasm"), package.join("chatwright.wasm"))?)
}

/// Returns a hash that distinguishes builds; it is not cryptographic.
pub(super) fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
