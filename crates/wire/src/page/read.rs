//! Reading a block: its type says what its properties are. What serde makes of a flattened, tagged enum by itself is several times
//! as much code, and the browser downloads it.

use super::{Block, BlockKind};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

#[derive(Deserialize)]
struct Fields {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    /// Without them, all have their defaults.
    #[serde(default)]
    properties: Map<String, Value>,
    #[serde(default)]
    blocks: Vec<Block>,
}

impl<'de> Deserialize<'de> for Block {
    fn deserialize<D: Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let Fields { id, kind, properties, blocks } = Fields::deserialize(d)?;
        let kind = read_kind(&kind, properties).map_err(D::Error::custom)?;
        Ok(Self { id, kind, blocks })
    }
}

fn read_kind(kind: &str, properties: Map<String, Value>) -> Result<BlockKind, serde_json::Error> {
    fn read<T: DeserializeOwned>(properties: Map<String, Value>) -> Result<T, serde_json::Error> {
        serde_json::from_value(Value::Object(properties))
    }
    Ok(match kind {
        "Box" => BlockKind::Box(read(properties)?),
        "Columns" => BlockKind::Columns(read(properties)?),
        "Card" => BlockKind::Card(read(properties)?),
        "Title" => BlockKind::Title(read(properties)?),
        "Markdown" => BlockKind::Markdown(read(properties)?),
        "TextInput" => BlockKind::TextInput(read(properties)?),
        "TextArea" => BlockKind::TextArea(read(properties)?),
        "NumberInput" => BlockKind::NumberInput(read(properties)?),
        "Select" => BlockKind::Select(read(properties)?),
        "Switch" => BlockKind::Switch(read(properties)?),
        "DatePicker" => BlockKind::DatePicker(read(properties)?),
        "AgentChat" => BlockKind::AgentChat(read(properties)?),
        "AgentConversations" => BlockKind::AgentConversations(read(properties)?),
        other => return Err(serde_json::Error::custom(format_args!("unknown block type `{other}`"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each type of block survives being written and read.
    #[test]
    fn blocks_are_read_as_they_are_written() {
        for (kind, properties) in [
            ("Box", json!({})),
            ("Columns", json!({"widths": [1.0, 2.0]})),
            ("Card", json!({"title": "Intake"})),
            ("Title", json!({"title": "Intake"})),
            ("Markdown", json!({"content": "# Hi"})),
            ("TextInput", json!({"label": "Name", "placeholder": "Ada", "initial": "Ada"})),
            ("TextArea", json!({})),
            ("NumberInput", json!({"initial": 3})),
            ("Select", json!({"options": [{"value": "a", "label": "A"}]})),
            ("Switch", json!({"initial": true})),
            ("DatePicker", json!({"initial": "2026-11-20"})),
            ("AgentChat", json!({"agentId": "demo", "sharedState": {"name": {"_state": "name"}}})),
            ("AgentConversations", json!({"newLabel": "New"})),
        ] {
            let inner = json!({"id": "inner", "type": "Title", "properties": {"title": "Inner"}});
            let written = json!({"id": "b", "type": kind, "properties": properties, "blocks": [inner]});
            let block: Block = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(serde_json::to_value(&block).unwrap(), written);
        }
    }

    #[test]
    fn wrong_blocks_are_refused_with_the_reason() {
        for (block, expected) in [
            (json!({"id": "b", "type": "Slider"}), "unknown block type `Slider`"),
            (json!({"type": "Box"}), "missing field `id`"),
            (json!({"id": "b"}), "missing field `type`"),
            (
                json!({"id": "b", "type": "Card", "properties": {"title": 1}}),
                "invalid type: integer `1`, expected a string",
            ),
        ] {
            let error = serde_json::from_value::<Block>(block).unwrap_err().to_string();
            assert_eq!(error, expected);
        }
    }

    #[test]
    fn properties_may_be_absent() {
        let block: Block = serde_json::from_value(json!({"id": "b", "type": "TextArea"})).unwrap();
        assert_eq!(block.kind, BlockKind::TextArea(super::super::Input::default()));
    }
}
