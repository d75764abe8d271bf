//! The chunk of the blocks for workflows, with the table of its functions. The table is filled in
//! `lazy.rs`.

use super::command::ChatStart;
use crate::chunks::Chunk;
use crate::prelude::*;
use crate::properties::Properties;
use serde_json::Value;
use wire::message::DataPart;
use wire::page::BlockType;

/// The chunk with this code.
pub(crate) static WORKFLOWS: Chunk<WorkflowFunctions> = Chunk::new("workflows");

/// The functions of the chunk.
pub(crate) struct WorkflowFunctions {
    /// Renders one of the blocks, given its id.
    pub(crate) block: fn(BlockType, String, Properties) -> AnyView,
    /// Renders a run that belongs to the conversation, or a question of a running tool, given its data part. The
    /// callback shows the message with the result, given its id; it returns false if it cannot do so now.
    pub(crate) conversation_run: fn(&DataPart, Callback<(String,), bool>) -> AnyView,
    /// Renders the end of such a run, given its data part.
    pub(crate) conversation_result: fn(&Value) -> AnyView,
    /// Renders the form with which a command of the composer starts a workflow.
    pub(crate) start_in_chat: fn(ChatStart) -> AnyView,
}
