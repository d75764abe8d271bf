//! The chunk of the blocks for workflows, with the table of its functions. The table is filled in
//! `lazy.rs`.

use crate::chunks::Chunk;
use crate::prelude::*;
use crate::properties::Properties;
use wire::page::BlockType;

/// The chunk with this code.
pub(crate) static WORKFLOWS: Chunk<WorkflowFunctions> = Chunk::new("workflows");

/// The functions of the chunk.
pub(crate) struct WorkflowFunctions {
    /// Renders one of the blocks, given its id.
    pub(crate) block: fn(BlockType, String, Properties) -> AnyView,
}
