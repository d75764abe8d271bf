//! Cuts the WASM into what every page needs and the chunks that some need.

use super::bundle::{self, Manifest};
use super::scripts;
use crate::build::Profile;
use anyhow::{Context, Result, anyhow};
use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use wasm_split_cli_support::{Options, SplitWasm, transform};

/// What loads the chunks. Where the WASM is cut, it calls this file.
pub(super) const LOADER: &str = "chatwright-chunks.js";
/// The files of each chunk, for the server.
pub(super) const MANIFEST: &str = "chunks.json";

/// Writes the chunks and their loader, and answers with what is left.
pub(super) fn split(input: &[u8], package: &Path, profile: Profile) -> Result<Vec<u8>> {
    let (cut, left) = cut(input, package)?;
    let names = rename(&cut, &left, package, profile)?;
    let loader = package.join(LOADER);
    let script = std::fs::read_to_string(&loader)?;
    // A name ends at its quote, so that none is taken for another that begins with it.
    let rename =
        |script: String, (old, new): (&String, &String)| script.replace(&format!("/{old}\""), &format!("/{new}\""));
    let script = names.iter().fold(script, rename);
    let (script, manifest) = bundle::bundle(script, manifest(&cut.prefetch_map, &names), package)?;
    std::fs::write(loader, scripts::lighten(&script)?)?;
    std::fs::write(package.join(MANIFEST), serde_json::to_vec(&manifest)?)?;
    Ok(left)
}

fn cut(input: &[u8], package: &Path) -> Result<(SplitWasm, Vec<u8>)> {
    let main = package.join("main.wasm");
    let link = format!("./{LOADER}");
    let mut options = Options::new(input);
    options.output_dir = package;
    options.main_out_path = &main;
    options.main_module = "./chatwright.js";
    options.link_name = &link;
    let cut = transform(options).map_err(|error| anyhow!("wasm-split: {error:#}"))?;
    let left = std::fs::read(&main)?;
    std::fs::remove_file(main)?;
    Ok((cut, left))
}

/// Gives the chunks a mark of all that was cut: code of another build must never be loaded into a page that is open. What has such a
/// name never changes, so that the server lets the browser keep it. Answers with the old and new names.
fn rename(cut: &SplitWasm, left: &[u8], package: &Path, profile: Profile) -> Result<BTreeMap<String, String>> {
    let mut mark = DefaultHasher::new();
    left.hash(&mut mark);
    let mut chunks = Vec::new();
    for chunk in &cut.split_modules {
        let content = std::fs::read(chunk)?;
        let content = if profile == Profile::Release { compact(&content)? } else { content };
        content.hash(&mut mark);
        std::fs::remove_file(chunk)?;
        chunks.push((stem(chunk)?, content));
    }
    let mark = mark.finish();
    let mut names = BTreeMap::new();
    for (stem, content) in chunks {
        let new = format!("{}-{mark:016x}.wasm", stem.strip_prefix("split_").unwrap_or(stem));
        std::fs::write(package.join(&new), content)?;
        names.insert(format!("{stem}.wasm"), new);
    }
    Ok(names)
}

/// The same module in fewer bytes, without names: numbers that the linker could still change are padded to five bytes.
fn compact(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut config = walrus::ModuleConfig::new();
    config.generate_name_section(false).generate_producers_section(false);
    Ok(config.parse(wasm)?.emit_wasm())
}

fn stem(file: &Path) -> Result<&str> {
    file.file_stem().and_then(|stem| stem.to_str()).context("the name of a chunk")
}

/// The files of each chunk by the names that they have now.
fn manifest(files: &HashMap<String, Vec<String>>, names: &BTreeMap<String, String>) -> Manifest {
    let renamed = |file: &String| names.get(&format!("{file}.wasm")).cloned();
    files.iter().map(|(chunk, files)| (chunk.clone(), files.iter().filter_map(renamed).collect())).collect()
}
