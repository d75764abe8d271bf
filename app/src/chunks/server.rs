//! The server's half: everything is there, and what a page uses is named in its head.

use super::{Loading, Missing};
use crate::prelude::*;
use futures::FutureExt;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, Once};

/// What is the same for every chunk.
pub(super) struct Piece {
    name: &'static str,
    load: fn() -> Loading,
    loaded: Once,
}

impl Piece {
    pub(super) const fn new(name: &'static str, load: fn() -> Loading) -> Self {
        Self { name, load, loaded: Once::new() }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.fill();
        name_in_head(self.name);
        true
    }

    pub(super) fn request(&self) {
        name_in_head(self.name);
    }

    pub(super) async fn load(&self) -> Result<(), Missing> {
        self.fill();
        Ok(())
    }

    /// On the server this waits for nothing.
    fn fill(&self) {
        self.loaded.call_once(|| {
            let _ = (self.load)().now_or_never();
        });
    }
}

/// The files of each chunk, as the build has named them; chunks may have files in common.
#[derive(Clone, Debug, Default)]
pub struct ChunkFiles(Arc<BTreeMap<String, Vec<String>>>);

impl ChunkFiles {
    /// Out of the site's `pkg/chunks.json`. Without a readable one the files come a little later, when the script asks for them.
    pub fn read(json: &[u8]) -> Self {
        Self(Arc::new(serde_json::from_slice(json).unwrap_or_default()))
    }
}

/// The chunks that a page has used while it was rendered; one for each request, by context.
#[derive(Clone, Default)]
pub struct Needs(Arc<Mutex<Vec<&'static str>>>);

impl Needs {
    /// Whether it was not known yet.
    fn add(&self, name: &'static str) -> bool {
        let Ok(mut known) = self.0.lock() else { return false };
        let is_new = !known.contains(&name);
        if is_new {
            known.push(name);
        }
        is_new
    }
}

/// Names a chunk and its files in the page's head, once.
fn name_in_head(name: &'static str) {
    if !use_context::<Needs>().is_some_and(|needs| needs.add(name)) {
        return;
    }
    // What belongs into the head gets there when it is rendered, and leaves nothing where it stands.
    view! { <leptos_meta::Meta name="chunk" content=name /> }.to_html();
    let files = use_context::<ChunkFiles>().unwrap_or_default();
    for file in files.0.get(name).into_iter().flatten() {
        let href = format!("/pkg/{file}");
        view! { <leptos_meta::Link rel="preload" as_="fetch" crossorigin="anonymous" href /> }.to_html();
    }
}
