//! Cuts the WASM into what every page needs and the chunks that some need.

use super::bundle::{self, Manifest};
use super::graph::Graph;
use super::{order, remains, scripts, types, wasm};
use crate::build::Profile;
use anyhow::{Context, Result, anyhow};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use wasm_split_cli_support::{Options, SplitWasm, transform};

/// What loads the chunks. Where the WASM is cut, it calls this file.
pub(super) const LOADER: &str = "chatwright-chunks.js";
/// The files of each chunk, for the server.
pub(super) const MANIFEST: &str = "chunks.json";
/// Code that several chunks share is a file of its own from this size, in bytes. What is smaller costs less with what every page loads
/// than as one more request.
const WORTH_A_FILE: usize = 9_000;
/// How the functions are exported that stay with what every page loads.
const KEPT: &str = "kept:";

/// Writes the chunks and their loader, and answers with what is left.
pub(super) fn split(input: &[u8], package: &Path, profile: Profile) -> Result<Vec<u8>> {
    let (cut, left) = cut(input, package)?;
    let kept = too_small(&cut, &left, input)?;
    for file in &cut.split_modules {
        std::fs::remove_file(file)?;
    }
    // What is exported belongs to what every page loads.
    let (mut cut, left) = self::cut(&wasm::with_exports(input, &kept, KEPT)?, package)?;
    let left = remains::take_back(&mut cut, left, &package.join(LOADER))?;
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

/// Takes away the exports that only said what stays. After `wasm-bindgen`, which would remove what nothing exports.
pub(super) fn finish(main: &Path) -> Result<()> {
    Ok(std::fs::write(main, wasm::without_exports(&std::fs::read(main)?, |name| name.starts_with(KEPT))?)?)
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

/// The functions that are in shared files which are not worth a file. Only those that lead nowhere but to each other and to what every
/// page loads: to keep another would be to keep what it leads to.
fn too_small(cut: &SplitWasm, left: &[u8], input: &[u8]) -> Result<BTreeSet<u32>> {
    let mut names = BTreeSet::new();
    for file in &cut.split_modules {
        let chunk = std::fs::read(file)?;
        if stem(file)?.starts_with("chunk_") && wasm::stripped(&chunk)?.len() < WORTH_A_FILE {
            names.extend(wasm::functions(&chunk)?.into_iter().map(|(_, name)| name));
        }
    }
    let of_every_page: BTreeSet<_> = wasm::functions(left)?.into_iter().map(|(_, name)| name).collect();
    let functions: BTreeMap<_, _> = wasm::functions(input)?.into_iter().collect();
    let small = functions.iter().filter(|(_, name)| names.contains(*name)).map(|(index, _)| *index).collect();
    // What has no name here is imported, and so is with every page.
    let is_known = |index| functions.get(&index).is_none_or(|name| of_every_page.contains(name));
    Ok(Graph::of(input)?.closed(&small, is_known))
}

/// Gives the chunks a mark of all that was cut: code of another build must never be loaded into a page that is open. What has such a
/// name never changes, so that the server lets the browser keep it. Answers with the old and new names.
fn rename(cut: &SplitWasm, left: &[u8], package: &Path, profile: Profile) -> Result<BTreeMap<String, String>> {
    let mut mark = DefaultHasher::new();
    left.hash(&mut mark);
    let mut chunks = Vec::new();
    for chunk in &cut.split_modules {
        let content = std::fs::read(chunk)?;
        let content = if profile == Profile::Release {
            types::pruned(&order::sorted(&wasm::compact(&content)?)?)?
        } else {
            content
        };
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

fn stem(file: &Path) -> Result<&str> {
    file.file_stem().and_then(|stem| stem.to_str()).context("the name of a chunk")
}

/// The files of each chunk by the names that they have now.
fn manifest(files: &HashMap<String, Vec<String>>, names: &BTreeMap<String, String>) -> Manifest {
    let renamed = |file: &String| names.get(&format!("{file}.wasm")).cloned();
    files.iter().map(|(chunk, files)| (chunk.clone(), files.iter().filter_map(renamed).collect())).collect()
}
