//! Blocks whose code comes with the pages that have them.

use super::tabs::tabs_of;
use super::{Alert, Checkbox, DatePicker, MultiSelect, NumberInput, Select, Switch, Table, Tabs, TextArea, TextInput};
use crate::actions::BlockEvents;
use crate::chunks::{Chunk, Loading, Missing};
use crate::prelude::*;
use crate::properties::Properties;
use serde_json::{Map, Value};
use wasm_split_helpers::wasm_split;
use wire::page::{Block, BlockType, TabsProperties};

/// The inputs that most forms have.
pub(crate) static INPUTS: Chunk<Inputs> = Chunk::new("inputs", load_inputs);

/// What the chunk can do.
pub(crate) struct Inputs {
    /// Shows an input.
    pub(super) input: fn(BlockType, String, Properties, BlockEvents) -> AnyView,
}

fn load_inputs() -> Loading {
    Box::pin(async { INPUTS.fill(inputs().await?) })
}

#[wasm_split(inputs, fallible)]
fn inputs() -> Result<Inputs, Missing> {
    Ok(Inputs { input })
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

/// Blocks that few pages have.
pub(crate) static BLOCKS: Chunk<Blocks> = Chunk::new("blocks", load_blocks);

/// What the chunk can do.
pub(crate) struct Blocks {
    /// Shows a block of one piece.
    pub(super) block: fn(BlockType, String, Properties, BlockEvents) -> AnyView,
    /// Shows panels, given their blocks.
    pub(super) tabs: fn(String, &Map<String, Value>, Vec<Block>, BlockEvents) -> AnyView,
}

fn load_blocks() -> Loading {
    Box::pin(async { BLOCKS.fill(blocks().await?) })
}

#[wasm_split(blocks, fallible)]
fn blocks() -> Result<Blocks, Missing> {
    Ok(Blocks { block, tabs })
}

fn block(kind: BlockType, id: String, properties: Properties, events: BlockEvents) -> AnyView {
    match kind {
        BlockType::MultiSelect => view! { <MultiSelect id properties events /> }.into_any(),
        BlockType::Alert => view! { <Alert properties /> }.into_any(),
        _ => view! { <Table id properties /> }.into_any(),
    }
}

fn tabs(id: String, properties: &Map<String, Value>, blocks: Vec<Block>, events: BlockEvents) -> AnyView {
    let tabs = tabs_of(TabsProperties::read(properties), blocks);
    view! { <Tabs id tabs events /> }.into_any()
}
