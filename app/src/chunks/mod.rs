//! Parts of the app that the browser loads when something needs them.
//!
//! A chunk is a table of functions, and the code that can be reached through them only. The one function that makes the table is marked
//! with `#[wasm_split(NAME, fallible)]`; there the build cuts the WASM. While the server renders, each chunk that the page uses is named
//! in the head with its files, so that they come beside the rest and not after it; the page comes to life once all of them are there
//! ([`when_loaded`]), so that what is taken over is what was rendered. Later [`Chunk::get`] asks for what is missing, and whatever has
//! asked is drawn again when it is there.
//!
//! On the server nothing is cut, and everything is always there.

#[cfg(not(feature = "ssr"))]
mod browser;
#[cfg(feature = "ssr")]
mod server;

#[cfg(not(feature = "ssr"))]
pub use browser::when_loaded;
#[cfg(feature = "ssr")]
pub use server::{ChunkFiles, Needs};

#[cfg(not(feature = "ssr"))]
use browser as half;
#[cfg(feature = "ssr")]
use server as half;

use crate::prelude::*;
use crate::texts::{Text, t};
use leptos::prelude::untrack;
use std::pin::Pin;
use std::sync::OnceLock;
use wasm_split_helpers::SplitLoaderError;
use wire::error::{ErrorCode, UserError};

/// What makes a chunk's functions known.
pub(crate) type Loading = Pin<Box<dyn Future<Output = Result<(), Missing>> + Send>>;

/// The code of a part of the page cannot be loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Missing;

impl Missing {
    /// What the user is told where the part would stand.
    pub(crate) fn told() -> UserError {
        UserError::new(ErrorCode::Internal, t(Text::PartMissing))
    }
}

impl From<SplitLoaderError> for Missing {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}

/// A part of the app with the functions of type `F`. Each is a static, and stands in [`all`].
pub(crate) struct Chunk<F: Send + Sync + 'static> {
    piece: half::Piece,
    functions: OnceLock<F>,
}

impl<F: Send + Sync> Chunk<F> {
    /// The chunk that is called `name` in the build. `load` [fills](Self::fill) it.
    pub(crate) const fn new(name: &'static str, load: fn() -> Loading) -> Self {
        Self { piece: half::Piece::new(name, load), functions: OnceLock::new() }
    }

    /// Makes its functions known: the end of what `load` does.
    #[expect(clippy::unnecessary_wraps, reason = "so that it can stand at the end of a load")]
    pub(crate) fn fill(&self, functions: F) -> Result<(), Missing> {
        // It may have been loaded twice; the functions are the same.
        let _ = self.functions.set(functions);
        Ok(())
    }

    /// Its functions, if its code is there; if not, it is asked for. Tracked.
    pub(crate) fn get(&'static self) -> Option<&'static F> {
        if self.piece.is_ready() { self.functions.get() } else { None }
    }

    /// Asks for its code, because it will be needed soon. Called while a page is rendered, it comes beside the rest.
    pub(crate) fn request(&'static self) {
        self.piece.request();
    }

    /// Waits for its code.
    ///
    /// # Errors
    /// It cannot be loaded now.
    pub(crate) async fn load(&'static self) -> Result<&'static F, Missing> {
        self.piece.load().await?;
        self.functions.get().ok_or(Missing)
    }

    /// A view that the chunk makes, once its code is there.
    pub(crate) fn view(&'static self, view: impl Fn(&F) -> AnyView + Send + 'static) -> AnyView {
        // Only the chunk is waited for: what the view reads while it is made must not make it anew.
        (move || self.get().map(|functions| untrack(|| view(functions)))).into_any()
    }
}

/// Every chunk.
#[cfg(not(feature = "ssr"))]
fn all() -> [&'static half::Piece; 11] {
    [
        &crate::agent_chat::CONVERSATION.piece,
        &crate::agent_chat::EXTRAS.piece,
        &crate::agent_chat::FRAMES.piece,
        &crate::agent_chat::TOOLS.piece,
        &crate::agent_conversations::ORGANIZING.piece,
        &crate::markdown::MARKDOWN.piece,
        &crate::markdown::MATH.piece,
        &crate::blocks::INPUTS.piece,
        &crate::blocks::BLOCKS.piece,
        &crate::actions::ACTIONS.piece,
        &crate::scope::EXPRESSIONS.piece,
    ]
}
