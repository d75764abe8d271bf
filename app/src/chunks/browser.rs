//! The browser's half: loads chunks.

use super::{Loading, Missing, all};
use crate::actions::{Actions, Status};
use crate::agent_chat::browser::sleep;
use crate::prelude::*;
use crate::texts::{Text, t};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The waits before the next attempts, in milliseconds.
const BACKOFF: [u64; 3] = [300, 1_500, 5_000];

/// What is the same for every chunk.
pub(super) struct Piece {
    name: &'static str,
    load: fn() -> Loading,
    loaded: LazyLock<ArcRwSignal<bool>>,
    requested: AtomicBool,
}

impl Piece {
    pub(super) const fn new(name: &'static str, load: fn() -> Loading) -> Self {
        Self { name, load, loaded: LazyLock::new(|| ArcRwSignal::new(false)), requested: AtomicBool::new(false) }
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
        let actions = use_context::<Actions>();
        leptos::task::spawn_local(async move {
            if self.load().await.is_ok() {
                return;
            }
            // Whatever needs it next asks again.
            self.requested.store(false, Ordering::Relaxed);
            if let Some(actions) = actions {
                let text = t(Text::PartMissingReload);
                actions.notify(text.to_owned(), Status::Error, None);
            }
        });
    }

    pub(super) async fn load(&self) -> Result<(), Missing> {
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

/// Starts the page once the chunks are there that it was rendered with.
pub fn when_loaded(start: fn()) {
    let needed: Vec<_> = all().into_iter().filter(|piece| is_named(piece.name)).collect();
    if needed.is_empty() {
        return start();
    }
    wasm_bindgen_futures::spawn_local(async move {
        for piece in needed {
            if piece.load().await.is_err() {
                // As when the script itself cannot be loaded: the page stays as it was rendered.
                return leptos::logging::error!("A part of this page's code cannot be loaded.");
            }
        }
        start();
    });
}

/// Whether the server has named a chunk in the page's head.
fn is_named(name: &str) -> bool {
    let selector = format!("meta[name=chunk][content={name}]");
    document().query_selector(&selector).is_ok_and(|found| found.is_some())
}
