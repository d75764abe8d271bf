//! Chunks on the server: all code is available; the chunks that a page uses are listed in its head.

use super::error::{ChunkError, ChunkFuture};
use crate::prelude::*;
use futures::FutureExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Once};

/// The loading state of a chunk, independent of its functions' type.
pub(super) struct ChunkState {
    name: &'static str,
    load: fn() -> ChunkFuture,
    loaded: Once,
}

impl ChunkState {
    pub(super) const fn new(name: &'static str, load: fn() -> ChunkFuture) -> Self {
        Self { name, load, loaded: Once::new() }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.load_now();
        add_to_head(self.name);
        true
    }

    pub(super) fn request(&self) {
        add_to_head(self.name);
    }

    pub(super) async fn load(&self) -> Result<(), ChunkError> {
        self.load_now();
        Ok(())
    }

    /// Sets the functions. On the server loading completes at once.
    fn load_now(&self) {
        self.loaded.call_once(|| {
            let _ = (self.load)().now_or_never();
        });
    }
}

/// The files of each chunk, named by the build; chunks may share files.
#[derive(Clone, Debug, Default)]
pub struct ChunkFiles(Arc<BTreeMap<String, Vec<String>>>);

impl ChunkFiles {
    /// Parses the site's `pkg/chunks.json`. If it cannot be read, nothing is preloaded and the
    /// browser fetches the files when the script requests them.
    pub fn read(json: &[u8]) -> Self {
        Self(Arc::new(serde_json::from_slice(json).unwrap_or_default()))
    }
}

/// The chunks that a page used while it was rendered; provided as a context, one for each request.
#[derive(Clone, Default)]
pub struct UsedChunks(Arc<Mutex<Vec<&'static str>>>);

impl UsedChunks {
    /// Adds a chunk. Returns whether it is new.
    fn add(&self, name: &'static str) -> bool {
        let Ok(mut known) = self.0.lock() else { return false };
        let is_new = !known.contains(&name);
        if is_new {
            known.push(name);
        }
        is_new
    }
}

/// Adds a chunk and its files to the page's head, once.
fn add_to_head(name: &'static str) {
    if !use_context::<UsedChunks>().is_some_and(|needs| needs.add(name)) {
        return;
    }
    // Rendering a head element adds it to the head and produces no output of its own.
    view! { <leptos_meta::Meta name="chunk" content=name /> }.to_html();
    let files = use_context::<ChunkFiles>().unwrap_or_default();
    for file in files.0.get(name).into_iter().flatten() {
        let href = format!("/pkg/{file}");
        if file.ends_with(".css") {
            view! { <leptos_meta::Link rel="stylesheet" href /> }.to_html();
            continue;
        }
        view! { <leptos_meta::Link rel="preload" as_="fetch" crossorigin="anonymous" href /> }.to_html();
    }
}
