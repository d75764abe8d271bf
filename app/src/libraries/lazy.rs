//! Fills the function table of the chunk.

use super::block::LibrariesBlock;
use super::chunk_table::{LIBRARIES, LibraryFunctions};
use super::cited::card::CitedCard;
use super::cited::panel::CitedPanel;
use super::cited::state::CitationState;
use crate::chunks::{ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use crate::properties::Properties;
use wasm_split_helpers::wasm_split;

impl ChunkTable for LibraryFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { LIBRARIES.set_functions(libraries().await?) })
    }
}

#[wasm_split(libraries, fallible)]
fn libraries() -> Result<LibraryFunctions, ChunkError> {
    Ok(LibraryFunctions { block, citations })
}

fn block(id: String, properties: Properties) -> AnyView {
    view! { <LibrariesBlock id properties /> }.into_any()
}

fn citations(state: CitationState) -> AnyView {
    view! {
        <CitedCard state />
        <CitedPanel state />
    }
    .into_any()
}
