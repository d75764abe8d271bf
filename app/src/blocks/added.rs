//! Types of blocks that a program adds to those of the product.

use crate::actions::BlockEvents;
use crate::pages::RustParts;
use crate::prelude::*;
use crate::properties::Properties;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
#[cfg(feature = "ssr")]
use wire::page::AddedBlock;

/// A type of block that a program adds: the properties that a config writes, and their view.
///
/// The JSON Schema of the type describes the properties: their keys, defaults and bounds, and, as
/// the description, what the block shows. `#[serde(default)]` at the type makes all keys optional.
/// Each property may be an operator.
pub trait RustBlock: JsonSchema + DeserializeOwned + Default + Send + Sync + 'static {
    /// The name of the type, as in `type: Gauge`.
    const TYPE: &'static str;
    /// The events that the view emits and that a config can handle.
    const EVENTS: &'static [&'static str] = &[];
    /// Whether a config can write other blocks into it.
    const HOLDS_BLOCKS: bool = false;

    /// Returns the problems of the properties that a schema cannot express: pairs of a key and a message. It is called
    /// when the config is read, for blocks without operators in their properties.
    fn check(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Renders a block. The properties change when the operators in them do; one that has a wrong
    /// type then counts as absent.
    fn view(properties: Signal<Self>, block: BlockParts) -> impl IntoView + 'static;
}

/// The parts of a block besides its properties.
pub struct BlockParts {
    /// Its id on the page.
    pub id: String,
    /// The handlers of its events.
    pub events: BlockEvents,
    /// The blocks in it.
    pub children: AnyView,
}

/// A type of block that a program adds. A program lists the same ones for the server and for the
/// browser.
#[derive(Clone, Copy)]
pub struct RustBlockType {
    name: &'static str,
    view: fn(Properties, BlockParts) -> AnyView,
    #[cfg(feature = "ssr")]
    definition: AddedBlock,
}

impl RustBlockType {
    /// Returns the type of the block `B`.
    pub const fn of<B: RustBlock>() -> Self {
        Self {
            name: B::TYPE,
            view: |properties, block| {
                B::view(Signal::derive(move || properties.deserialize()), block).into_view().into_any()
            },
            #[cfg(feature = "ssr")]
            definition: AddedBlock {
                name: B::TYPE,
                events: B::EVENTS,
                holds_blocks: B::HOLDS_BLOCKS,
                schema: |generator| generator.subschema_for::<B>(),
                check: |properties| match B::deserialize(properties) {
                    Ok(block) => block.check(),
                    Err(error) => vec![("", format!("these properties cannot be read: {error}"))],
                },
            },
        }
    }

    /// Returns the definition of the type in configs.
    #[cfg(feature = "ssr")]
    pub fn definition(&self) -> AddedBlock {
        self.definition
    }
}

/// Renders a block whose type the program adds. Without this type, as after an update of the program
/// with a page still open, it shows nothing.
pub(super) fn view(name: &str, properties: Properties, block: BlockParts) -> AnyView {
    let blocks = use_context::<RustParts>().map_or(&[][..], |parts| parts.blocks);
    match blocks.iter().find(|known| known.name == name) {
        Some(known) => (known.view)(properties, block),
        None => ().into_any(),
    }
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::*;
    use crate::page_state::PageState;
    use serde::Deserialize;
    use serde_json::{Value, json};
    use wire::page::Page;

    /// A level.
    #[derive(Default, Deserialize, JsonSchema)]
    #[serde(default)]
    struct Level {
        value: u32,
        unit: String,
    }

    impl RustBlock for Level {
        const TYPE: &'static str = "Level";

        fn view(properties: Signal<Self>, block: BlockParts) -> impl IntoView + 'static {
            let text = move || properties.with(|level| format!("{}{}", level.value, level.unit));
            view! { <p id=block.id>{text}{block.children}</p> }
        }
    }

    fn check(block: Value, expected: &str) {
        let page = json!({ "id": "demo", "blocks": [{ "id": "n", "type": "NumberInput", "properties": { "initial": 7 } }, block] });
        let page = serde_json::from_value::<Page>(page).unwrap();
        let html = Owner::new().with(|| {
            provide_context(RustParts { pages: &[], blocks: const { &[RustBlockType::of::<Level>()] } });
            provide_context(PageState::new(&page, Value::clone));
            super::super::block(page.blocks[1].clone()).to_html().replace("<!>", "")
        });
        assert_eq!(html, expected);
    }

    #[test]
    fn an_added_block_renders_its_properties_and_blocks() {
        let block =
            |properties: Value| json!({ "id": "l", "type": "Added", "added": "Level", "properties": properties });
        check(block(json!({ "value": 3, "unit": " %" })), r#"<p id="l">3 %</p>"#);
        check(block(json!({ "value": { "_state": "n" }, "unit": "h" })), r#"<p id="l">7h</p>"#);
        // A value of a wrong type counts as absent; the others are kept.
        check(block(json!({ "value": { "_state": "none" }, "unit": "h" })), r#"<p id="l">0h</p>"#);
        let title = json!({ "id": "t", "type": "Title", "properties": { "title": "Full" } });
        check(
            json!({ "id": "l", "type": "Added", "added": "Level", "blocks": [title] }),
            r#"<p id="l">0<h2 dir="auto" class="cw-title">Full</h2></p>"#,
        );
        check(json!({ "id": "l", "type": "Added", "added": "Other" }), "<!--<() />-->");
    }
}
