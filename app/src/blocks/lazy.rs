//! The chunks with the code of blocks that not every page has.

use super::tabs::tabs_from_config;
use super::{Alert, Checkbox, DatePicker, MultiSelect, NumberInput, Select, Switch, Table, Tabs, TextArea, TextInput};
use crate::actions::BlockEvents;
use crate::chunks::{Chunk, ChunkError, ChunkFuture};
use crate::prelude::*;
use crate::properties::Properties;
use serde_json::{Map, Value};
use wasm_split_helpers::wasm_split;
use wire::page::{Block, BlockType, TabsProperties};

/// The chunk of the inputs that most forms have.
pub(crate) static INPUTS: Chunk<InputFunctions> = Chunk::new("inputs", load_inputs);

/// The functions of the chunk `inputs`.
pub(crate) struct InputFunctions {
    /// Renders an input.
    pub(super) input: fn(BlockType, String, Properties, BlockEvents) -> AnyView,
}

fn load_inputs() -> ChunkFuture {
    Box::pin(async { INPUTS.set_functions(inputs().await?) })
}

#[wasm_split(inputs, fallible)]
fn inputs() -> Result<InputFunctions, ChunkError> {
    Ok(InputFunctions { input })
}

fn input(kind: BlockType, id: String, properties: Properties, events: BlockEvents) -> AnyView {
    match kind {
        BlockType::TextArea => view! { <TextArea id properties events /> }.into_any(),
        BlockType::NumberInput => view! { <NumberInput id properties events /> }.into_any(),
        BlockType::Select => view! { <Select id properties events /> }.into_any(),
        BlockType::Switch => view! { <Switch id properties events /> }.into_any(),
        BlockType::Checkbox => view! { <Checkbox id properties events /> }.into_any(),
        BlockType::DatePicker => view! { <DatePicker id properties events /> }.into_any(),
        _ => view! { <TextInput id properties events /> }.into_any(),
    }
}

/// The chunk of the blocks that few pages have.
pub(crate) static BLOCKS: Chunk<BlockFunctions> = Chunk::new("blocks", load_blocks);

/// The functions of the chunk `blocks`.
pub(crate) struct BlockFunctions {
    /// Renders a block without child blocks.
    pub(super) block: fn(BlockType, String, Properties, BlockEvents) -> AnyView,
    /// Renders a `Tabs` block with its child blocks.
    pub(super) tabs: fn(String, &Map<String, Value>, Vec<Block>, BlockEvents) -> AnyView,
}

fn load_blocks() -> ChunkFuture {
    Box::pin(async { BLOCKS.set_functions(blocks().await?) })
}

#[wasm_split(blocks, fallible)]
fn blocks() -> Result<BlockFunctions, ChunkError> {
    Ok(BlockFunctions { block, tabs })
}

fn block(kind: BlockType, id: String, properties: Properties, events: BlockEvents) -> AnyView {
    match kind {
        BlockType::MultiSelect => view! { <MultiSelect id properties events /> }.into_any(),
        BlockType::Alert => view! { <Alert properties /> }.into_any(),
        _ => view! { <Table id properties /> }.into_any(),
    }
}

fn tabs(id: String, properties: &Map<String, Value>, blocks: Vec<Block>, events: BlockEvents) -> AnyView {
    let tabs = tabs_from_config(TabsProperties::read(properties), blocks);
    view! { <Tabs id tabs events /> }.into_any()
}
