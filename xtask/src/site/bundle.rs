//! Combines small WASM files that are loaded together into bundles: they compress better and need
//! one request.
//!
//! The splitter writes a file for every combination of chunks that share a function, most of them
//! smaller than 1 KB.

use super::bindings::fingerprint;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The files of each chunk.
pub(super) type Manifest = BTreeMap<String, Vec<String>>;

/// The chunk that shows a conversation.
const CONVERSATION: &str = "conversation";
/// The chunk with the actions on a conversation, which is loaded after it.
const SESSION: &str = "session";
/// The Markdown chunk. Pages without a conversation use it too, so what both need is a separate
/// bundle.
const MARKDOWN: &str = "markdown";
/// Chunks that are only loaded together with a conversation and its actions, so that they need no
/// bundle of their own.
const CONVERSATION_ONLY: [&str; 4] = ["below", "extras", "presented", "tools"];

/// The bundles of small files that other combinations of chunks share, each with the chunk that
/// needs it; it is loaded with all chunks that use one of its files. A file is in the first bundle
/// that fits. The split keeps what the rare chunks share away from first pages and conversations.
const SHARED: [(&str, Option<&str>); 3] =
    [("shared-inputs", Some("inputs")), ("shared-conversation", Some(CONVERSATION)), ("shared", None)];
/// Files of at least this size, in bytes, get a request of their own.
const SMALL_FILE: u64 = 9_000;

/// Writes the bundles, named after a hash of their content, and deletes their parts. Returns the
/// manifest that refers to them. A bundle begins with the number of its parts and their lengths.
pub(super) fn write_bundles(mut manifest: Manifest, package: &Path) -> Result<Manifest> {
    let is_small = |file: &str| std::fs::metadata(package.join(file)).is_ok_and(|found| found.len() < SMALL_FILE);
    for (name, parts) in plan_bundles(&manifest, is_small) {
        let mut content = u32::try_from(parts.len())?.to_le_bytes().to_vec();
        let mut modules = Vec::new();
        for part in &parts {
            let path = package.join(part);
            let module = std::fs::read(&path)?;
            std::fs::remove_file(path)?;
            content.extend(u32::try_from(module.len())?.to_le_bytes());
            modules.extend(module);
        }
        content.extend(modules);
        let bundle = format!("{name}-{:016x}.bin", fingerprint(&content));
        std::fs::write(package.join(&bundle), content)?;
        for files in manifest.values_mut().filter(|files| files.iter().any(|file| parts.contains(file))) {
            files.retain(|file| !parts.contains(file));
            files.insert(0, bundle.clone());
        }
    }
    Ok(manifest)
}

/// Returns the parts of each bundle, by the bundle's name.
fn plan_bundles(manifest: &Manifest, is_small: impl Fn(&str) -> bool) -> BTreeMap<&'static str, BTreeSet<String>> {
    let mut bundles = BTreeMap::<_, BTreeSet<_>>::new();
    for file in manifest.values().flatten() {
        let users: BTreeSet<_> =
            manifest.iter().filter(|(_, files)| files.contains(file)).map(|(chunk, _)| chunk.as_str()).collect();
        let has = |chunk: &str| users.contains(chunk);
        let is_known = |user: &&str| [CONVERSATION, SESSION].contains(user) || CONVERSATION_ONLY.contains(user);
        let name = if has(CONVERSATION) && users.iter().all(|user| is_known(user) || *user == MARKDOWN) {
            if has(MARKDOWN) { MARKDOWN } else { CONVERSATION }
        } else if has(SESSION) && users.iter().all(is_known) {
            SESSION
        } else if users.len() > 1 && is_small(file) {
            SHARED.into_iter().find(|(_, chunk)| chunk.is_none_or(has)).map_or("shared", |(name, _)| name)
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
            ("conversation", vec!["shown", "text", "list", "own"]),
            ("extras", vec!["shown", "text", "sent"]),
            ("inputs", vec!["field"]),
            ("markdown", vec!["text", "block"]),
            ("organizing", vec!["list", "tiny", "field", "large"]),
            ("session", vec!["shown", "sent"]),
            ("tools", vec!["shown", "tiny", "field", "large"]),
        ];
        let owned =
            |(chunk, files): (&str, Vec<&str>)| (chunk.to_owned(), files.into_iter().map(str::to_owned).collect());
        let manifest = manifest.into_iter().map(owned).collect();
        let expected = [
            ("conversation", vec!["own", "shown"]),
            ("markdown", vec!["text"]),
            ("session", vec!["sent"]),
            ("shared", vec!["tiny"]),
            ("shared-conversation", vec!["list"]),
            ("shared-inputs", vec!["field"]),
        ];
        let shown: Vec<_> = plan_bundles(&manifest, |file| file != "large")
            .into_iter()
            .map(|(name, parts)| (name, Vec::from_iter(parts)))
            .collect();
        assert_eq!(shown, expected.map(|(name, parts)| (name, parts.into_iter().map(str::to_owned).collect())));
    }
}
