//! The chunk of the block for libraries and of cited documents, with the table of its functions. The table is filled in
//! `lazy.rs`.

use super::cited::state::CitationState;
use crate::chunks::Chunk;
use crate::prelude::*;
use crate::properties::Properties;

/// The chunk with this code.
pub(crate) static LIBRARIES: Chunk<LibraryFunctions> = Chunk::new("libraries");

/// The functions of the chunk.
pub(crate) struct LibraryFunctions {
    /// Renders the block, given its id.
    pub(crate) block: fn(String, Properties) -> AnyView,
    /// Renders the card and the panel of the documents that a chat cites.
    pub(crate) citations: fn(CitationState) -> AnyView,
}
