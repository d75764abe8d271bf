//! Fills the function tables of the chunks of blocks.

use super::chunk_tables::{BLOCKS, BlockFunctions, INPUTS, InputFunctions};
use super::tabs::tabs_from_config;
use super::{Alert, Checkbox, DatePicker, MultiSelect, NumberInput, Select, Switch, Table, Tabs, TextArea, TextInput};
use crate::actions::BlockEvents;
use crate::chunks::{ChunkError, ChunkFuture, ChunkTable};
use crate::prelude::*;
use crate::properties::Properties;
use serde_json::{Map, Value};
use wasm_split_helpers::wasm_split;
use wire::page::{Block, BlockType, TabsProperties};

impl ChunkTable for InputFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { INPUTS.set_functions(inputs().await?) })
    }
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

impl ChunkTable for BlockFunctions {
    fn load() -> ChunkFuture {
        Box::pin(async { BLOCKS.set_functions(blocks().await?) })
    }
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
    let tabs = tabs_from_config(TabsProperties::read(properties), blocks, super::block);
    view! { <Tabs id tabs events /> }.into_any()
}
