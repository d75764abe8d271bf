//! Splits the WASM into the main module, which every page loads, and chunks.

use super::bundle::{self, Manifest};
use super::scripts;
use crate::build::Profile;
use anyhow::{Context, Result, anyhow, ensure};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use wasm_split_cli_support::{Options, SplitWasm, transform};

/// The script that loads the chunks, called by the main module.
pub(super) const LOADER: &str = "chatwright-chunks.js";
/// The part of the loader that this crate has written.
const CHUNKS: &str = include_str!("chunks.js");
/// Follows what is kept of the generated loader.
const END_OF_SHARED: &str = "function makeLoad(";
/// The manifest: the files of each chunk, for the server.
pub(super) const MANIFEST: &str = "chunks.json";

/// Returns the file of a chunk's style sheet. Its name has no hash: it is not made from the WASM.
pub(super) fn sheet(chunk: &str) -> String {
    format!("{chunk}.css")
}

/// Writes the chunks, their loader and the manifest. Returns the main module. `styled` are the chunks
/// with a style sheet.
pub(super) fn split(input: &[u8], package: &Path, profile: Profile, styled: &BTreeSet<String>) -> Result<Vec<u8>> {
    let (cut, left) = split_wasm(input, package)?;
    let names = write_chunks(&cut, &left, package, profile)?;
    let mut manifest = bundle::write_bundles(manifest(&cut.prefetch_map, &names), package)?;
    for chunk in styled {
        manifest
            .get_mut(chunk)
            .with_context(|| format!("style/chunks has {chunk}.css, and there is no such chunk"))?
            .push(sheet(chunk));
    }
    let loader = package.join(LOADER);
    let script = loader_script(&std::fs::read_to_string(&loader)?, &manifest)?;
    std::fs::write(loader, scripts::minify(&script)?)?;
    std::fs::write(package.join(MANIFEST), serde_json::to_vec(&manifest)?)?;
    Ok(left)
}

/// Returns the script that loads the chunks. It begins as the generated one, which would repeat the same
/// lines for each of several hundred files.
fn loader_script(generated: &str, manifest: &Manifest) -> Result<String> {
    let (start, rest) = generated.split_once(END_OF_SHARED).context("the generated loader has another form")?;
    for function in ["function getSharedImports()", "function wrapAsyncCb("] {
        ensure!(start.contains(function), "the generated loader has no `{function}`");
    }
    let files: Vec<&String> = manifest.values().flatten().collect::<BTreeSet<_>>().into_iter().collect();
    let mut script = format!("{start}{CHUNKS}const FILES = {};\n", serde_json::to_string(&files)?);
    for (chunk, used) in manifest {
        let name = format!("__wasm_split_load_{chunk}");
        ensure!(rest.contains(&format!("export const {name} = ")), "the generated loader does not export {name}");
        let indices = used.iter().filter_map(|file| files.binary_search(&file).ok());
        let indices: Vec<String> = indices.map(|index| index.to_string()).collect();
        writeln!(script, "export const {name} = chunk({});", indices.join(", "))?;
    }
    Ok(script)
}

fn split_wasm(input: &[u8], package: &Path) -> Result<(SplitWasm, Vec<u8>)> {
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

/// Names the chunks after a hash of the whole build, so that an open page never loads code of
/// another build and the browser can cache them forever. Returns the new names by the old ones.
fn write_chunks(cut: &SplitWasm, left: &[u8], package: &Path, profile: Profile) -> Result<BTreeMap<String, String>> {
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

/// Re-encodes a module without names and unused types, and with minimal integers; the linker pads
/// integers that it may still change to five bytes.
fn compact(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut config = walrus::ModuleConfig::new();
    config.generate_name_section(false).generate_producers_section(false);
    let mut module = config.parse(wasm)?;
    walrus::passes::gc::run(&mut module);
    Ok(module.emit_wasm())
}

fn stem(file: &Path) -> Result<&str> {
    file.file_stem().and_then(|stem| stem.to_str()).context("the file name of a chunk is not valid UTF-8")
}

/// Returns the files of each chunk by their new names.
fn manifest(files: &HashMap<String, Vec<String>>, names: &BTreeMap<String, String>) -> Manifest {
    let renamed = |file: &String| names.get(&format!("{file}.wasm")).cloned();
    files.iter().map(|(chunk, files)| (chunk.clone(), files.iter().filter_map(renamed).collect())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_loader_names_each_file_once() {
        let generated = |export: &str| {
            format!(
                "function getSharedImports() {{}}\nfunction wrapAsyncCb(a) {{}}\nfunction makeLoad() {{}}\n{export}"
            )
        };
        let files = |files: &[&str]| files.iter().map(ToString::to_string).collect();
        let manifest = Manifest::from([("math".to_owned(), files(&["shared.bin", "math.wasm"]))]);
        let script = loader_script(&generated("export const __wasm_split_load_math = 1;"), &manifest).unwrap();
        let shown = script.split_once("const FILES").unwrap().1;
        assert_eq!(shown, " = [\"math.wasm\",\"shared.bin\"];\nexport const __wasm_split_load_math = chunk(1, 0);\n");
        for unexpected in [generated(""), generated("").replace("wrapAsyncCb", "wrap"), String::new()] {
            assert!(loader_script(&unexpected, &manifest).is_err(), "{unexpected}");
        }
    }
}
