//! The internal schema, which is generated from the entry types.
//!
//! Internal keywords: `x-not-yet` and `x-keys-not-yet` list choices and keys of the config language
//! that this version does not support. `x-names` is the noun for a choice in messages ("connection
//! type"). `x-operator` marks the shape of operators, which are recognized by their single key.
//! `x-checked-apart` marks a value that is decoded separately, so that an error in it does not hide
//! others. `x-may-be-absent` lists required keys that another key replaces before the value is checked.

use super::query::description;
use crate::connection_type::ConnectionType;
use crate::section::{AgentEntry, ConnectionEntry, RootEntry, define_page_parts};
use crate::section_type::{SectionPlace, SectionType};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// Returns the schema of a config with internal keywords. `sections` and `connections`
/// are those that capabilities bring.
pub(crate) fn schema_with(sections: &[SectionType], connections: &[ConnectionType]) -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    define_page_parts(&mut generator);
    // The types of this crate are added first, so that they keep the names by which they are found. A type of a capability
    // with the same name is renamed.
    RootEntry::json_schema(&mut generator);
    let added: Vec<_> = sections.iter().map(|section| (section, section.schema(&mut generator))).collect();
    let connections: Vec<_> = connections.iter().map(|added| added.schema(&mut generator)).collect();
    let mut schema = generator.into_root_schema_for::<RootEntry>().to_value();
    add_connection_types(&mut schema, connections);
    for (SectionType { key, place, .. }, mut section) in added {
        let definition = section["$ref"].as_str().and_then(|path| schema.pointer(path.strip_prefix('#')?));
        if let Some(about) = definition.and_then(description) {
            section["description"] = about.into();
        }
        match place {
            SectionPlace::Root => schema["properties"][key] = section,
            SectionPlace::Agent => {
                section["x-checked-apart"] = true.into();
                schema["$defs"][&*AgentEntry::schema_name()]["properties"][key] = section;
            }
        }
    }
    schema
}

/// Adds alternatives to the types of connections. Their descriptions are those of their properties.
fn add_connection_types(schema: &mut Value, added: Vec<Value>) {
    for mut alternative in added {
        let path = alternative["properties"]["properties"]["$ref"].as_str().and_then(|path| path.strip_prefix('#'));
        if let Some(about) = path.and_then(|path| schema.pointer(path)).and_then(description) {
            alternative["description"] = about.into();
        }
        let types = schema["$defs"][&*ConnectionEntry::schema_name()]["oneOf"].as_array_mut();
        types.into_iter().for_each(|types| types.push(alternative.clone()));
    }
}
