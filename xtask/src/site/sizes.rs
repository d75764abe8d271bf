//! Prints the download sizes after a release build, and checks them.

use super::split::MANIFEST;
use anyhow::{Context, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The chunks that the page of `examples/demo` is rendered with; a journey asserts them.
const DEMO_CHUNKS: &[&str] = &["inputs"];

/// The maximum sizes of the first load of the demo page, without and with a conversation, in
/// compressed bytes. Most of them is compiled code that every page needs, so what few pages need
/// belongs in a chunk.
const DEMO_LIMIT: usize = 300_000;
const CONVERSATION_LIMIT: usize = 480_000;

/// Files that are not part of every page: scripts that are loaded on demand, scripts for sites that
/// embed a chat, and the scripts and the style sheet of documents outside the app, such as the account and the console.
const NOT_ON_EVERY_PAGE: &[&str] =
    &["assets/lazy/", "assets/embed", "assets/live.js", "assets/notifications", "pkg/documents.css"];

/// Prints the download size of every page, of each chunk, and the totals. `sizes` has the
/// compressed sizes by file name in the site.
pub(super) fn print(site: &Path, sizes: &BTreeMap<String, usize>) -> Result<()> {
    let manifest = std::fs::read(site.join("pkg").join(MANIFEST)).context("reading the chunk manifest of the site")?;
    let chunks: BTreeMap<String, Vec<String>> = serde_json::from_slice(&manifest)?;
    let in_chunks: BTreeSet<_> = chunks.values().flatten().map(|file| format!("pkg/{file}")).collect();
    let is_elsewhere = |file: &String| NOT_ON_EVERY_PAGE.iter().any(|start| file.starts_with(start));
    let is_loaded = |file: &&String| !is_elsewhere(file) && !in_chunks.contains(*file);
    let every: usize = sizes.keys().filter(is_loaded).map(|file| sizes[file]).sum();
    let of = |names: &[&str]| -> usize {
        let files: BTreeSet<_> = names.iter().filter_map(|name| chunks.get(*name)).flatten().collect();
        files.iter().filter_map(|file| sizes.get(&format!("pkg/{file}"))).sum()
    };
    let say = |what: &str, size: usize| -> Result<()> {
        eprintln!("  {:>9.1} KB as brotli  {what}", f64::from(u32::try_from(size)?) / 1000.0);
        Ok(())
    };
    say("every page", every)?;
    for (name, files) in &chunks {
        say(&format!("+ {name}, in {} files", files.len()), of(&[name.as_str()]))?;
    }
    let demo = every + of(DEMO_CHUNKS);
    let conversation = every + of(&[DEMO_CHUNKS, &["conversation"]].concat());
    say("the demo page, initial load", demo)?;
    say("the demo page with a conversation", conversation)?;
    say("all files", sizes.values().sum())?;
    ensure!(demo <= DEMO_LIMIT, "the demo page is over its limit of {DEMO_LIMIT} bytes");
    ensure!(conversation <= CONVERSATION_LIMIT, "a conversation is over its limit of {CONVERSATION_LIMIT} bytes");
    Ok(())
}
