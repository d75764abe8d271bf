//! The shape of a config: the JSON Schema of the entry types, made from the types themselves, with which the tree is
//! checked and which editors use.

mod decode;
mod mapping;
pub(crate) mod pattern;
mod publish;
mod schema;
pub(crate) mod suggest;

pub(crate) use decode::{check_value, decode, list_items, read, root_section};
pub(crate) use publish::published;
pub(crate) use schema::Shape;
