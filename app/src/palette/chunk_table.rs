//! The chunk of the palette, with the table of its functions. The table is filled in `view.rs`.

use super::PaletteState;
use crate::chunks::Chunk;
use crate::prelude::*;

/// The chunk with this code.
pub(crate) static PALETTE: Chunk<PaletteFunctions> = Chunk::new("palette");

/// The functions of the chunk.
pub(crate) struct PaletteFunctions {
    /// The dialogs.
    pub(super) dialogs: fn(PaletteState) -> AnyView,
}
