//! Combines small WASM files that are loaded together into bundles: they compress better and need
//! one request.
//!
//! The splitter writes a file for every combination of chunks that share a function, most of them
//! smaller than 1 KB.

use super::bindings::fingerprint;
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of each chunk.
pub(super) type Manifest = BTreeMap<String, Vec<String>>;

/// The chunk of a conversation. Its files are nearly half of the code.
const CONVERSATION: &str = "conversation";
/// The Markdown chunk. Pages without a conversation use it too, so what both need is a separate
/// bundle.
const MARKDOWN: &str = "markdown";
/// Chunks that are only loaded together with a conversation, so that they need no bundle of their
/// own.
const CONVERSATION_ONLY: [&str; 2] = ["extras", "tools"];

/// The bundle of small files that other combinations of chunks share. It is loaded with each of
/// these chunks.
const SHARED: &str = "shared";
/// Files of at least this size, in bytes, get a request of their own.
const SMALL_FILE: u64 = 9_000;

/// JavaScript that is added to the loader: returns a part of a bundle as the response that the
/// loader expects for a file. The bundle is dropped after its last part.
const PART_LOADER: &str = r#"
const bundles = new Map();
function part(file, parts, from, to) {
    if (!bundles.has(file)) {
        const bytes = fetch(new URL(`./${file}`, import.meta.url)).then((answer) => {
            if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
            return answer.arrayBuffer();
        });
        bytes.catch(() => bundles.delete(file));
        bundles.set(file, { bytes, left: parts });
    }
    const bundle = bundles.get(file);
    bundle.left -= 1;
    if (bundle.left === 0) bundles.delete(file);
    const wasm = { headers: { "content-type": "application/wasm" } };
    return bundle.bytes.then((bytes) => new Response(new Uint8Array(bytes, from, to - from), wasm));
}
"#;

/// Writes the bundles, named after a hash of their content, and deletes their parts. Returns the
/// loader script and the manifest that refer to them.
pub(super) fn write_bundles(script: String, mut manifest: Manifest, package: &Path) -> Result<(String, Manifest)> {
    let mut script = script + PART_LOADER;
    let is_small = |file: &str| std::fs::metadata(package.join(file)).is_ok_and(|found| found.len() < SMALL_FILE);
    for (name, parts) in plan_bundles(&manifest, is_small) {
        let (mut content, mut places) = (Vec::new(), Vec::new());
        for part in &parts {
            let (path, from) = (package.join(part), content.len());
            content.extend(std::fs::read(&path)?);
            std::fs::remove_file(path)?;
            places.push((part, from, content.len()));
        }
        let bundle = format!("{name}-{:016x}.bin", fingerprint(&content));
        for (part, from, to) in places {
            let alone = format!("fetch(new URL(\"./{part}\", import.meta.url))");
            ensure!(script.contains(&alone), "the loader does not reference {part}");
            script = script.replace(&alone, &format!("part(\"{bundle}\", {}, {from}, {to})", parts.len()));
        }
        std::fs::write(package.join(&bundle), content)?;
        for files in manifest.values_mut().filter(|files| files.iter().any(|file| parts.contains(file))) {
            files.retain(|file| !parts.contains(file));
            files.insert(0, bundle.clone());
        }
    }
    Ok((script, manifest))
}

/// Returns the parts of each bundle, by the bundle's name.
fn plan_bundles(manifest: &Manifest, is_small: impl Fn(&str) -> bool) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut bundles = BTreeMap::<_, BTreeSet<_>>::new();
    for file in manifest.values().flatten() {
        let users: BTreeSet<_> =
            manifest.iter().filter(|(_, files)| files.contains(file)).map(|(chunk, _)| chunk.as_str()).collect();
        let is_known = |user: &&str| [CONVERSATION, MARKDOWN].contains(user) || CONVERSATION_ONLY.contains(user);
        let name = if users.contains(CONVERSATION) && users.iter().all(is_known) {
            if users.contains(MARKDOWN) { MARKDOWN } else { CONVERSATION }
        } else if users.len() > 1 && is_small(file) {
            SHARED
        } else {
            continue;
        };
        bundles.entry(name).or_default().insert(file.clone());
    }
    bundles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bundles_have_only_files_that_are_loaded_together() {
        let manifest = [
            ("conversation", vec!["shared", "text", "list", "own"]),
            ("extras", vec!["shared", "text"]),
            ("markdown", vec!["text", "block"]),
            ("organizing", vec!["list", "tiny"]),
            ("tools", vec!["shared", "tiny"]),
        ];
        let owned =
            |(chunk, files): (&str, Vec<&str>)| (chunk.to_owned(), files.into_iter().map(str::to_owned).collect());
        let manifest = manifest.into_iter().map(owned).collect();
        let expected = [("conversation", vec!["own", "shared"]), ("markdown", vec!["text"]), ("shared", vec!["tiny"])];
        let shown: Vec<_> = plan_bundles(&manifest, |file| file == "tiny")
            .into_iter()
            .map(|(name, parts)| (name, Vec::from_iter(parts)))
            .collect();
        assert_eq!(shown, expected.map(|(name, parts)| (name, parts.into_iter().map(str::to_owned).collect())));
    }
}
