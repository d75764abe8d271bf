//! Loads chunks in the browser.

use super::error::{ChunkError, ChunkFuture};
use crate::prelude::*;
use crate::ui::browser::sleep;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

/// The delays before the retries, in milliseconds.
const BACKOFF: [u64; 3] = [300, 1_500, 5_000];

/// Tells the user that code could not be loaded; a context of the page.
#[derive(Clone)]
pub(crate) struct LoadFailure(pub(crate) Arc<dyn Fn() + Send + Sync>);

/// The loading state of a chunk, independent of its functions' type.
pub(crate) struct ChunkState {
    name: &'static str,
    load: fn() -> ChunkFuture,
    loaded: LazyLock<ArcRwSignal<bool>>,
    requested: AtomicBool,
}

impl ChunkState {
    pub(super) const fn new(name: &'static str, load: fn() -> ChunkFuture) -> Self {
        Self { name, load, loaded: LazyLock::new(|| ArcRwSignal::new(false)), requested: AtomicBool::new(false) }
    }

    pub(super) fn is_loaded(&self) -> bool {
        self.loaded.get()
    }

    pub(super) fn is_ready(&'static self) -> bool {
        let is_loaded = self.loaded.get();
        if !is_loaded {
            self.request();
        }
        is_loaded
    }

    pub(super) fn request(&'static self) {
        if self.requested.swap(true, Ordering::Relaxed) {
            return;
        }
        let failure = use_context::<LoadFailure>();
        leptos::task::spawn_local(async move {
            if self.load().await.is_ok() {
                return;
            }
            // The next use requests it again.
            self.requested.store(false, Ordering::Relaxed);
            if let Some(LoadFailure(report)) = failure {
                report();
            }
        });
    }

    pub(super) async fn load(&self) -> Result<(), ChunkError> {
        if self.loaded.get_untracked() {
            return Ok(());
        }
        let mut waits = BACKOFF.iter();
        while let Err(missing) = (self.load)().await {
            let wait = waits.next().ok_or(missing)?;
            sleep(Duration::from_millis(*wait)).await;
        }
        if !self.loaded.get_untracked() {
            self.loaded.set(true);
        }
        Ok(())
    }
}

/// Calls `start` once those of the chunks that the page was rendered with are loaded.
pub(crate) fn load_all(chunks: impl IntoIterator<Item = &'static ChunkState>, start: fn()) {
    let needed: Vec<_> = chunks.into_iter().filter(|chunk| is_named(chunk.name)).collect();
    if needed.is_empty() {
        return start();
    }
    wasm_bindgen_futures::spawn_local(async move {
        for chunk in needed {
            if chunk.load().await.is_err() {
                // As if the script itself could not be loaded, the page stays as it was rendered.
                return leptos::logging::error!("Part of this page's code could not be loaded.");
            }
        }
        start();
    });
}

/// Returns whether the server listed the chunk in the page's head.
fn is_named(name: &str) -> bool {
    let selector = format!("meta[name=chunk][content={name}]");
    document().query_selector(&selector).is_ok_and(|found| found.is_some())
}
