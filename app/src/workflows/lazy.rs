//! Fills the function table of the chunk.

use super::chunk_table::{WORKFLOWS, WorkflowFunctions};
use super::command::start_in_chat;
use super::conversation::{conversation_result, conversation_run};
use super::runs::WorkflowRunsBlock;
use super::tasks::WorkflowTasksBlock;
use crate::chunks::{ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use crate::properties::Properties;
use wasm_split_helpers::wasm_split;
use wire::page::BlockType;

impl ChunkTable for WorkflowFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { WORKFLOWS.set_functions(workflows().await?) })
    }
}

#[wasm_split(workflows, fallible)]
fn workflows() -> Result<WorkflowFunctions, ChunkError> {
    Ok(WorkflowFunctions { block, conversation_run, conversation_result, start_in_chat })
}

fn block(kind: BlockType, id: String, properties: Properties) -> AnyView {
    match kind {
        BlockType::WorkflowTasks => view! { <WorkflowTasksBlock id properties /> }.into_any(),
        _ => view! { <WorkflowRunsBlock id properties /> }.into_any(),
    }
}
