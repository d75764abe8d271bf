//! The WASM as the browser loads it, with the JavaScript that it calls. The work of `wasm-bindgen`, as a library: cargo keeps
//! its version equal to that in the WASM, and nobody has to install it.

use super::files::forget_copies;
use crate::build::Profile;
use anyhow::{Context, Result, bail};
use std::hash::{DefaultHasher, Hasher};
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// Makes the bindings, unless those of this WASM are there already.
pub(super) fn make(wasm: &Path, package: &Path, profile: Profile) -> Result<()> {
    let input = std::fs::read(wasm).with_context(|| format!("{}", wasm.display()))?;
    // Beside the site and not in it: what is in it is served.
    let stamp = package.join("../../site.bound");
    let mark = format!("{profile:?} {} {:x}", input.len(), fingerprint(&input));
    let made = ["chatwright.wasm", "chatwright.js"].map(|name| package.join(name));
    if made.iter().all(|file| file.exists()) && std::fs::read_to_string(&stamp).is_ok_and(|known| known == mark) {
        return Ok(());
    }
    std::fs::create_dir_all(package)?;
    bind(input, package, profile)?;
    made.iter().try_for_each(|file| forget_copies(file))?;
    Ok(std::fs::write(stamp, mark)?)
}

fn bind(wasm: Vec<u8>, package: &Path, profile: Profile) -> Result<()> {
    let mut bindgen = Bindgen::new();
    bindgen.input_bytes("chatwright", wasm).web(true)?.typescript(false).omit_default_module_path(true);
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
fn fingerprint(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}
