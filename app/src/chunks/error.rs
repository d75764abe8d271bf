//! The error of loading a chunk.

use crate::texts::{Text, t};
use std::pin::Pin;
use wasm_split_helpers::SplitLoaderError;
use wire::error::{ErrorCode, UserError};

/// Loads the functions of a chunk.
pub(crate) type ChunkFuture = Pin<Box<dyn Future<Output = Result<(), ChunkError>> + Send>>;

/// The error that the code of a chunk cannot be loaded.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChunkError;

impl ChunkError {
    /// Returns the error that the user sees instead of the missing part.
    pub(crate) fn user_error() -> UserError {
        UserError::new(ErrorCode::Internal, t(Text::PartMissing))
    }
}

impl From<SplitLoaderError> for ChunkError {
    fn from(_: SplitLoaderError) -> Self {
        Self
    }
}
