//! The chunks with the code of blocks that not every page has. The tables are filled in `lazy.rs`.

use crate::actions::BlockEvents;
use crate::chunks::Chunk;
use crate::prelude::*;
use crate::properties::Properties;
use serde_json::{Map, Value};
use wire::page::{Block, BlockType};

/// The chunk of the inputs that most forms have.
pub(crate) static INPUTS: Chunk<InputFunctions> = Chunk::new("inputs");

/// The functions of the chunk `inputs`.
pub(crate) struct InputFunctions {
    /// Renders an input.
    pub(super) input: fn(BlockType, String, Properties, BlockEvents) -> AnyView,
}

/// The chunk of the blocks that few pages have.
pub(crate) static BLOCKS: Chunk<BlockFunctions> = Chunk::new("blocks");

/// The functions of the chunk `blocks`.
pub(crate) struct BlockFunctions {
    /// Renders a block without child blocks.
    pub(super) block: fn(BlockType, String, Properties, BlockEvents) -> AnyView,
    /// Renders a `Tabs` block with its child blocks.
    pub(super) tabs: fn(String, &Map<String, Value>, Vec<Block>, BlockEvents) -> AnyView,
}
