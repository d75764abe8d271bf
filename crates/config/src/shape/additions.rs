//! The additions of programs to the schema: operators and types of blocks.

use super::query::description;
use crate::section::TurnOperator;
use operators::Operators;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Value, json};
use wire::page::{AddedBlock, Block};

/// Adds operators to those that the schema lists for agents.
pub(crate) fn add_operators(schema: &mut Value, operators: &Operators) {
    for definition in operators.custom() {
        let about = json!({ "description": definition.docs.summary });
        schema["$defs"][&*TurnOperator::schema_name()]["properties"][definition.name] = about;
    }
}

/// Adds types of blocks. Their descriptions are those of their properties.
pub(crate) fn add_blocks(schema: &mut Value, blocks: &[AddedBlock]) {
    for block in blocks {
        let mut generator = SchemaSettings::draft2020_12().into_generator();
        let mut properties = (block.schema)(&mut generator).to_value();
        let mut definitions = generator.take_definitions(true);
        let name = properties["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/")).map(str::to_owned);
        let described = name.and_then(|name| definitions.get_mut(&name)).unwrap_or(&mut properties);
        allow_operators(described);
        let about = description(described);
        for (name, definition) in definitions {
            // One of the same name is the same type.
            if schema["$defs"].get(&name).is_none() {
                schema["$defs"][name] = definition;
            }
        }
        let alternative = json!({
            "type": "object",
            "description": about.unwrap_or_default(),
            "properties": { "type": { "type": "string", "const": block.name }, "properties": properties },
            "required": ["type", "properties"],
        });
        let types = schema["$defs"][&*Block::schema_name()]["oneOf"].as_array_mut();
        types.into_iter().for_each(|types| types.push(alternative.clone()));
    }
}

/// Allows an operator in place of each property, and of each item of a list.
fn allow_operators(schema: &mut Value) {
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    properties.into_iter().flatten().for_each(|(_, property)| settings::allow_operator(property, "Operator"));
}
