//! The shape of a config: the JSON Schema that is generated from the entry types. The same schema
//! checks the tree and serves editors.

mod additions;
mod decode;
mod mapping;
pub(crate) mod pattern;
mod publish;
mod query;
mod schema;
mod secrets;

pub(crate) use additions::{add_blocks, add_operators};
pub(crate) use decode::{check_root, check_value, decode, deserialize, list_items};
pub(crate) use publish::published;
pub(crate) use query::Shape;
pub(crate) use schema::schema_with;
pub(crate) use secrets::written_secrets;
