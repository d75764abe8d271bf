//! Files that are loaded together, in one: they compress better, and are one request.
//!
//! The splitter makes a file of every combination of chunks that share a function, most of them smaller than 1 KB.

use super::bindings::fingerprint;
use anyhow::{Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of each chunk.
pub(super) type Manifest = BTreeMap<String, Vec<String>>;

/// What a conversation needs is nearly half of all that is loaded.
const CONVERSATION: &str = "conversation";
/// Text stands on pages without a conversation, too: what both need is a bundle of its own.
const MARKDOWN: &str = "markdown";
/// These come with a conversation only, so that nobody loads a bundle for them alone.
const WITHIN: [&str; 2] = ["extras", "tools"];

/// Small files that other combinations of chunks share are one bundle, which is loaded with each of these chunks.
const SHARED: &str = "shared";
/// A file from this size on, in bytes, is worth a request of its own.
const SMALL: u64 = 9_000;

/// A part of a bundle as what the browser takes for a file; added to the loader. The bundle is forgotten with its last part.
const PART: &str = r#"
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

/// Writes the bundles in place of their parts, each under a mark of what is in it; answers with the loader and the manifest that know them.
pub(super) fn bundle(script: String, mut manifest: Manifest, package: &Path) -> Result<(String, Manifest)> {
    let mut script = script + PART;
    let is_small = |file: &str| std::fs::metadata(package.join(file)).is_ok_and(|found| found.len() < SMALL);
    for (name, parts) in bundles(&manifest, is_small) {
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
            ensure!(script.contains(&alone), "the loader does not know {part}");
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

/// The parts of each bundle, by its name.
fn bundles(manifest: &Manifest, is_small: impl Fn(&str) -> bool) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut bundles = BTreeMap::<_, BTreeSet<_>>::new();
    for file in manifest.values().flatten() {
        let users: BTreeSet<_> =
            manifest.iter().filter(|(_, files)| files.contains(file)).map(|(chunk, _)| chunk.as_str()).collect();
        let is_known = |user: &&str| [CONVERSATION, MARKDOWN].contains(user) || WITHIN.contains(user);
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
    fn what_others_need_without_a_conversation_stays_a_file() {
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
        let shown: Vec<_> = bundles(&manifest, |file| file == "tiny")
            .into_iter()
            .map(|(name, parts)| (name, Vec::from_iter(parts)))
            .collect();
        assert_eq!(shown, expected.map(|(name, parts)| (name, parts.into_iter().map(str::to_owned).collect())));
    }
}
