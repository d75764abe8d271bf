//! Chunks: parts of the app that the browser loads on demand.
//!
//! A chunk is a table of functions, with the code that is reachable through them only. The function
//! that creates the table is marked with `#[wasm_split(NAME, fallible)]`, where the build splits
//! the WASM. While the server renders, it lists each chunk that the page uses, with its files, in
//! the page's head, so that the browser fetches them in parallel. Hydration starts when all of them
//! are loaded (`when_loaded`), so that it finds what was rendered. Later, [`Chunk::get`] requests
//! missing chunks, and reactive views that called it are rendered again when the chunk is loaded.
//!
//! On the server nothing is split, and every chunk is always available.

#[cfg(not(feature = "ssr"))]
mod browser;
mod error;
#[cfg(feature = "ssr")]
mod server;

#[cfg(not(feature = "ssr"))]
pub(crate) use browser::{ChunkState, LoadFailure, load_all};
pub(crate) use error::{ChunkError, ChunkFuture};
#[cfg(feature = "ssr")]
pub use server::{ChunkFiles, UsedChunks};

#[cfg(feature = "ssr")]
use server::ChunkState;

use crate::prelude::*;
use leptos::prelude::untrack;
use std::sync::OnceLock;

/// Loads the functions of a chunk. It is implemented beside the code of the chunk, so that the chunk
/// can be declared, and used, without importing that code.
pub(crate) trait ChunkTable: Send + Sync + 'static {
    /// Loads the code and passes the table to [`Chunk::set_functions`].
    fn load() -> ChunkFuture;
}

/// A chunk with a function table of type `F`. Each is a static that is listed in
/// [`crate::hydration`].
pub(crate) struct Chunk<F: ChunkTable> {
    state: ChunkState,
    functions: OnceLock<F>,
}

impl<F: ChunkTable> Chunk<F> {
    /// Creates the chunk with this name in the build.
    pub(crate) const fn new(name: &'static str) -> Self {
        Self { state: ChunkState::new(name, F::load), functions: OnceLock::new() }
    }

    /// Returns the loading state, for the list of all chunks.
    #[cfg(not(feature = "ssr"))]
    pub(crate) fn state(&'static self) -> &'static ChunkState {
        &self.state
    }

    /// Sets the function table, at the end of `load`.
    #[expect(clippy::unnecessary_wraps, reason = "so that it can stand at the end of a load")]
    pub(crate) fn set_functions(&self, functions: F) -> Result<(), ChunkError> {
        // It may have been loaded twice; the functions are the same.
        let _ = self.functions.set(functions);
        Ok(())
    }

    /// Returns the functions if the code is loaded, and otherwise requests it. Tracked.
    pub(crate) fn get(&'static self) -> Option<&'static F> {
        if self.state.is_ready() { self.functions.get() } else { None }
    }

    /// Returns the functions if the code is loaded, without requesting it. Tracked.
    #[cfg(not(feature = "ssr"))]
    pub(crate) fn get_loaded(&'static self) -> Option<&'static F> {
        if self.state.is_loaded() { self.functions.get() } else { None }
    }

    /// Returns the functions if the code was used before. Effects, which are the only callers, do
    /// not run on the server.
    #[cfg(feature = "ssr")]
    pub(crate) fn get_loaded(&'static self) -> Option<&'static F> {
        self.functions.get()
    }

    /// Requests the code ahead of its use. During rendering on the server, it is added to the files
    /// that are fetched in parallel.
    pub(crate) fn request(&'static self) {
        self.state.request();
    }

    /// Waits until the code is loaded and returns the functions.
    ///
    /// # Errors
    /// The code cannot be loaded.
    pub(crate) async fn load(&'static self) -> Result<&'static F, ChunkError> {
        self.state.load().await?;
        self.functions.get().ok_or(ChunkError)
    }

    /// Returns a view that is created by the chunk once its code is loaded.
    pub(crate) fn view(&'static self, view: impl Fn(&F) -> AnyView + Send + 'static) -> AnyView {
        // Tracks the chunk only: signals that the view reads while it is created must not recreate
        // it.
        (move || self.get().map(|functions| untrack(|| view(functions)))).into_any()
    }
}
